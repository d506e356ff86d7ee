package main

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"heapdrift/internal/symbols"
	"heapdrift/internal/symbols/symsrv"
)

// symbolLibrary is the symbol path of the command line, else that of the environment; nil where neither has one.
// Servers that the command line names are asked; those of the environment only if HEAPDRIFT_SYMBOL_SERVERS allows them.
func symbolLibrary(paths []string) (symbols.Library, error) {
	c, err := loadConfig()
	if err != nil {
		return nil, err
	}
	opt, err := c.symbolOptions()
	if err != nil {
		return nil, err
	}
	var path *symsrv.SymbolPath
	if len(paths) > 0 {
		text := strings.Join(paths, ";")
		opt.Below = true // builds write their PDBs into folders by platform, and the one above them is what people name
		opt.Allow = append(opt.Allow, hosts(text)...)
		path, err = symsrv.Parse(text, opt)
	} else if os.Getenv("_NT_SYMBOL_PATH") != "" || os.Getenv("_NT_ALT_SYMBOL_PATH") != "" {
		path, err = symsrv.FromEnvironment(os.Getenv, opt)
	}
	if err != nil {
		return nil, &usageError{err.Error()}
	}
	if path == nil {
		return nil, nil
	}
	return symbols.PathLibrary{Path: path}, nil
}

// symbolOptions are what the environment says about symbol paths.
func (c config) symbolOptions() (symsrv.Options, error) {
	opt := symsrv.Options{Cache: c.SymbolCache, Check: symbols.CheckFile, Allow: split(c.SymbolServers, ","),
		Limits: symsrv.Limits{Wait: c.SymbolWait}}
	if opt.Cache == "" {
		if dir, err := os.UserCacheDir(); err == nil {
			opt.Cache = filepath.Join(dir, "heapdrift", "symbols")
		}
	}
	for _, text := range split(c.SymbolMap, ";") {
		m, err := symsrv.ParseMapping(text)
		if err != nil {
			return opt, errors.Join(&usageError{"HEAPDRIFT_SYMBOL_MAP: " + err.Error()}, err)
		}
		opt.Map = append(opt.Map, m)
	}
	return opt, nil
}

// split cuts a list and leaves out empty entries.
func split(list, separator string) []string {
	var entries []string
	for entry := range strings.SplitSeq(list, separator) {
		if entry = strings.TrimSpace(entry); entry != "" {
			entries = append(entries, entry)
		}
	}
	return entries
}

// hosts are those of the URLs in a symbol path.
func hosts(path string) []string {
	var list []string
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return r == ';' || r == '*' }) {
		if u, err := url.Parse(strings.TrimSpace(part)); err == nil && u.Host != "" &&
			strings.HasPrefix(strings.ToLower(u.Scheme), "http") {
			list = append(list, u.Host)
		}
	}
	return list
}

package symsrv

import (
	"path/filepath"
	"strings"
)

// FromEnvironment reads the symbol path from the variables that Windows' own tools use:
//
//	_NT_ALT_SYMBOL_PATH  searched before the other
//	_NT_SYMBOL_PATH
//	_NT_SYMBOL_PROXY     Options.Proxy, where that is empty
//	DBGHELP_HOMEDIR      its folder sym is Options.Cache, where that is empty
//	_NT_SYMCACHE_PATH    IndexCache; WPA keeps converted symbols there, so it is no place to look for PDBs
//
// lookup is os.Getenv, usually.
func FromEnvironment(lookup func(string) string, opt Options) (*SymbolPath, error) {
	if opt.Proxy == "" {
		opt.Proxy = lookup("_NT_SYMBOL_PROXY")
	}
	located := &SymbolPath{opt: opt}
	if home := lookup("DBGHELP_HOMEDIR"); opt.Cache == "" && home != "" {
		if lv := located.directory(home); !lv.unmapped {
			opt.Cache = filepath.Join(lv.base, filepath.FromSlash(lv.rest), "sym")
		}
	}
	p, err := Parse(lookup("_NT_ALT_SYMBOL_PATH")+";"+lookup("_NT_SYMBOL_PATH"), opt)
	if err != nil {
		return nil, err
	}
	// WPA takes the path with a cache* before it, too.
	index := strings.TrimSpace(lookup("_NT_SYMCACHE_PATH"))
	if len(index) >= len("cache*") && strings.EqualFold(index[:len("cache*")], "cache*") {
		index = index[len("cache*"):]
	}
	if index != "" {
		if lv := located.directory(index); !lv.unmapped {
			p.indexDir = filepath.Join(lv.base, filepath.FromSlash(lv.rest))
		}
	}
	return p, nil
}

// IndexCache returns the directory on this machine that _NT_SYMCACHE_PATH names, or nothing.
func (p *SymbolPath) IndexCache() string { return p.indexDir }

package umdh

import (
	"bytes"
	"strings"

	"heapdrift/ingest/capture"
)

// A banner is what dbghelp says about the symbols of a module. It may stand anywhere, as it goes to another stream
// than the log:
//
//	DBGHELP: ntdll - public symbols
//	         d:\symbols\wntdll.pdb\4A252F11C9FF495DBA896EE81DFBE40B2\wntdll.pdb
//	7FF72A880000-7FF72BE26FFF DBGHELP: mongod - private symbols & lines
//	        D:\build\mongod.pdb
//	7FF8D87D0000-7FF8D8979FFF DBGHELP: ntdll - export symbols
//
// The range includes its last byte.
type banner struct {
	base, size uint64 // 0 where the form has none
	name       string
	symbols    capture.SymbolKind
	path       string // of the PDB
}

// parseBanner reads the first line of a banner.
func (d *draft) parseBanner(line []byte) (b banner, ok bool) {
	where, what, ok := bytes.Cut(line, []byte("DBGHELP: "))
	if !ok {
		return b, false
	}
	if where = bytes.TrimSpace(where); len(where) > 0 {
		low, n, ok := hexPrefix(where)
		if !ok || n == len(where) || where[n] != '-' {
			return b, false
		}
		high, ok := hexAll(where[n+1:])
		if !ok || high < low {
			return b, false
		}
		b.base, b.size = low, high-low+1
		d.addresses |= high
	}
	name, kind, ok := bytes.Cut(what, []byte(" - "))
	if !ok || len(name) == 0 {
		return b, false
	}
	b.name, b.symbols = d.text(name), symbolKind(string(bytes.TrimSpace(kind)))
	return b, len(b.symbols) > 0
}

// symbolKind translates dbghelp's words; others pass as they are.
func symbolKind(words string) capture.SymbolKind {
	switch {
	case strings.HasPrefix(words, "private symbols"):
		return capture.SymbolsPrivate
	case strings.HasPrefix(words, "public symbols"):
		return capture.SymbolsPublic
	case strings.HasPrefix(words, "export symbols"):
		return capture.SymbolsExport
	case strings.HasPrefix(words, "no symbols"):
		return capture.SymbolsNone
	}
	return capture.SymbolKind(strings.ToValidUTF8(words, "\uFFFD"))
}

// isPDBPath reports whether the line below a banner is its second half: an indented path.
func isPDBPath(line []byte) bool {
	if len(line) == 0 || line[0] != ' ' {
		return false
	}
	path := bytes.TrimSpace(line)
	return bytes.ContainsAny(path, `\/`) && !bytes.HasPrefix(path, []byte("//")) && bytes.IndexByte(path, '!') < 0 ||
		len(path) > 4 && strings.EqualFold(string(path[len(path)-4:]), ".pdb")
}

// identity takes the PDB's file name and its id from a path. The id is there when the path is one of a symbol
// store: name\GUIDAGE\name, the GUID as 32 digits with the age behind them.
func identity(path string) (pdb, debugID string) {
	dir, pdb := splitPath(path)
	_, key := splitPath(dir)
	if len(key) > 32 && len(key) <= 40 {
		if _, guid := hexAll(key[:16]); guid {
			if _, guid = hexAll(key[16:32]); guid {
				if _, age := hexAll(key[32:]); age {
					debugID = strings.ToUpper(key)
				}
			}
		}
	}
	return pdb, debugID
}

func splitPath(path string) (dir, file string) {
	if i := strings.LastIndexAny(path, `\/`); i >= 0 {
		return path[:i], path[i+1:]
	}
	return "", path
}

// applyBanners enters the facts of the banners into the modules, and adds modules that are missing. A banner with a
// base is for the module that lies there, one without for the first of its name.
func (d *draft) applyBanners() {
	if len(d.banners) == 0 {
		return
	}
	byBase, byName := map[uint64]int{}, map[string]int{}
	put := func(i int) {
		m := &d.c.Modules[i]
		if _, taken := byBase[m.Base]; !taken && m.Base != 0 {
			byBase[m.Base] = i
		}
		for _, name := range []string{m.Name(), m.FileName()} { // dbghelp's own names have no extension to lose
			if _, taken := byName[strings.ToLower(name)]; !taken {
				byName[strings.ToLower(name)] = i
			}
		}
	}
	for i := range d.c.Modules {
		put(i)
	}
	for _, b := range d.banners {
		at, known := byBase[b.base]
		if !known || b.base == 0 {
			at, known = byName[strings.ToLower(b.name)]
			known = known && (b.base == 0 || d.c.Modules[at].Base == 0)
		}
		if !known {
			at = len(d.c.Modules)
			d.c.Modules = append(d.c.Modules,
				capture.Module{Path: b.name, Base: b.base, Size: b.size, Symbols: capture.SymbolsNone})
			put(at)
		}
		m := &d.c.Modules[at]
		if m.Base == 0 {
			m.Base, m.Size = b.base, b.size
		}
		if d.raw == nil {
			m.Symbols = b.symbols // of the names in the frames; a snapshot's frames have none
		}
		if b.path != "" {
			m.PDB, m.DebugID = identity(b.path)
		}
	}
}

package pdb

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
)

// Kinds of ids (cvinfo.h): LF_FUNC_ID scope 0, type 4, name 8; LF_MFUNC_ID class 0, type 4, name 8; LF_STRING_ID
// substrings 0, text 4.
const (
	leafFuncID   = 0x1601
	leafMFuncID  = 0x1602
	leafStringID = 0x1605
)

// foreignID marks an id of another module: bits 20 to 30 are the entry in the module's imports, bits 0 to 19 are the
// index in that entry's list of ids.
const foreignID = 0x80000000

// idNames are the names of inlined functions that were asked for, and what modules export.
type idNames struct {
	mu      sync.Mutex
	names   map[uint32]string
	bytes   int                       // of names
	exports map[int]map[uint32]uint32 // by module: local id → id in IPI or TPI
	entries int                       // of exports
}

// Limits of the two caches. A cache that exceeds its limit is emptied.
const (
	idMemory  = 16 << 20
	idEntries = 1 << 20
)

// inlineName names an inlined function by its id in a module.
func (m *module) inlineName(ctx context.Context, id uint32) (string, error) {
	if id&foreignID != 0 {
		own, ok, err := m.foreign(ctx, id)
		if err != nil {
			return "", err
		}
		if !ok {
			return fmt.Sprintf("<function %#x of another module>", id), nil
		}
		id = own
	}
	n := &m.f.idNames
	n.mu.Lock()
	defer n.mu.Unlock()
	if name, ok := n.names[id]; ok {
		return name, nil
	}
	name, err := m.f.idName(id)
	if err != nil {
		return "", err
	}
	if n.bytes += len(name); n.names == nil || n.bytes > idMemory {
		n.names, n.bytes = map[uint32]string{}, len(name)
	}
	n.names[id] = name
	return name, nil
}

func (f *File) idName(id uint32) (string, error) {
	items, err := f.items()
	if err := f.tolerate(err); err != nil {
		return "", err
	}
	kind, b, ok := items.get(id)
	if !ok || len(b) < 8 {
		return fmt.Sprintf("<function %#x>", id), nil
	}
	name, _, _ := bytes.Cut(b[8:], []byte{0})
	scope := ""
	switch kind {
	case leafFuncID:
		if kind, s, ok := items.get(le.Uint32(b)); ok && kind == leafStringID && len(s) > 4 {
			text, _, _ := bytes.Cut(s[4:], []byte{0})
			scope = string(text)
		}
	case leafMFuncID:
		types, err := f.types()
		if err := f.tolerate(err); err != nil {
			return "", err
		}
		scope = types.nameOf(le.Uint32(b))
	default:
		return fmt.Sprintf("<function %#x>", id), nil
	}
	if scope == "" {
		return string(name), nil
	}
	return scope + "::" + string(name), nil
}

// foreign resolves an id of another module: this module's imports name the module and its local id, that module's
// exports lead on to IPI or TPI.
//
//	imports  {u32 module in /names, u32 count, count × u32 id}, one after the other
//	exports  {u32 id, u32 id in IPI or TPI}
func (m *module) foreign(ctx context.Context, id uint32) (uint32, bool, error) {
	slot, entry := id>>20&0x7FF, id&0xFFFFF
	for _, b := range m.imports {
		for c := (cursor{b: b}); !c.short; {
			name, n := c.u32(), c.u32()
			ids := c.take(int(min(n, 1<<28)) * 4)
			if c.short {
				break
			}
			if slot > 0 {
				slot--
				continue
			}
			if entry >= n {
				return 0, false, nil
			}
			module, ok := m.f.modulesByName()[strings.ToLower(string(m.f.text(name)))]
			if !ok {
				return 0, false, nil
			}
			exports, err := m.f.exportsOf(ctx, module)
			if err != nil {
				return 0, false, err
			}
			own, ok := exports[le.Uint32(ids[entry*4:])]
			return own, ok, nil
		}
	}
	return 0, false, nil
}

func (f *File) indexModuleNames() map[string]int {
	all := make(map[string]int, len(f.modules))
	for i := len(f.modules) - 1; i >= 0; i-- { // the first of a name stays
		all[strings.ToLower(string(f.moduleName(i)))] = i
	}
	return all
}

func (f *File) exportsOf(ctx context.Context, number int) (map[uint32]uint32, error) {
	n := &f.idNames
	n.mu.Lock()
	defer n.mu.Unlock()
	if known, ok := n.exports[number]; ok {
		return known, nil
	}
	m, err := f.loadModule(ctx, number, nil)
	if err != nil {
		return nil, err
	}
	all := map[uint32]uint32{}
	for _, b := range m.exports {
		for ; len(b) >= 8; b = b[8:] {
			if _, ok := all[le.Uint32(b)]; !ok {
				all[le.Uint32(b)] = le.Uint32(b[4:])
			}
		}
	}
	if n.entries += len(all); n.exports == nil || n.entries > idEntries {
		n.exports, n.entries = map[int]map[uint32]uint32{}, len(all)
	}
	n.exports[number] = all
	return all, nil
}

package pdb

import (
	"context"
	"fmt"
)

// A locator fills locations from one module. It keeps the texts that it made, for addresses that follow each other.
type locator struct {
	m        *module
	files    map[uint32]string // by place in the checksums
	inlined  map[uint32]string // names of inlined functions by their ids
	inlines  []Inline          // room for those of the next locations
	named    *proc             // whose name is in function
	function string
	kind     SymbolKind
}

// locate finds procedure, line and inlined calls. Code without a procedure, as assemblers make it, may have lines too.
func (l *locator) locate(ctx context.Context, rva uint32, to *Location) error {
	p := l.m.find(rva)
	if e, ok := l.m.lineAt(rva, p); ok {
		to.File, to.Line = l.file(e.file), e.line
	}
	if p == nil {
		return nil
	}
	if l.named != p {
		function, kind, err := l.name(p)
		if err != nil {
			return err
		}
		l.named, l.function, l.kind = p, function, kind
	}
	to.Function, to.Kind = l.function, l.kind
	to.Displacement, to.Folded = rva-p.start, p.folded
	to.Start = l.m.f.fromSource(p.start)
	in, err := l.m.inlinesOf(ctx, p)
	if err != nil {
		return err
	}
	site := in.innermost(rva)
	if site < 0 {
		return nil
	}
	to.Inlines = l.room(int(in.sites[site].depth) + 1)
	for ; site >= 0; site = in.sites[site].parent {
		name, err := l.inlineName(ctx, in.sites[site].id)
		if err != nil {
			return err
		}
		at := Inline{Name: name}
		if r, ok := in.rangeAt(site, rva); ok {
			at.File, at.Line = l.file(r.file), r.line
		} else if from, ok := l.m.inlinee(in.sites[site].id); ok {
			at.File = l.file(from.file)
		}
		to.Inlines = append(to.Inlines, at)
	}
	return nil
}

// inlinesTogether is how many inlined calls are made room for at once. Locations that share the room keep each other's
// alive.
const inlinesTogether = 64

// room is an empty chain of inlined calls with room for n.
func (l *locator) room(n int) []Inline {
	if len(l.inlines) < n {
		l.inlines = make([]Inline, max(n, inlinesTogether))
	}
	chain := l.inlines[:0:n]
	l.inlines = l.inlines[n:]
	return chain
}

// textsKept bounds the texts that a locator keeps; hundreds are usual.
const textsKept = 1 << 14

func (l *locator) inlineName(ctx context.Context, id uint32) (string, error) {
	if s, ok := l.inlined[id]; ok {
		return s, nil
	}
	s, err := l.m.inlineName(ctx, id)
	if err != nil {
		return "", err
	}
	if l.inlined == nil || len(l.inlined) == textsKept {
		l.inlined = map[uint32]string{}
	}
	l.inlined[id] = s
	return s, nil
}

func (l *locator) file(checksum uint32) string {
	if s, ok := l.files[checksum]; ok {
		return s
	}
	if l.files == nil || len(l.files) == textsKept {
		l.files = map[uint32]string{}
	}
	s := string(l.m.path(l.m.f, checksum))
	l.files[checksum] = s
	return s
}

// name names a procedure. Its record was checked when the module was read.
func (l *locator) name(p *proc) (string, SymbolKind, error) {
	kind, b, _, _ := l.m.record(p.record)
	switch kind {
	case symThunk, symThunkST:
		return string(symbolName(kind, b[21:])), KindThunk, nil
	case symTrampoline:
		name, err := l.m.f.thunkName(le.Uint16(b[12:]), le.Uint32(b[4:]), le.Uint16(b[14:]), le.Uint32(b[8:]))
		return name, KindTrampoline, err
	case symSepCode:
		name, err := l.separatedName(le.Uint16(b[26:]), le.Uint32(b[20:]))
		return name, KindSeparated, err
	}
	return string(symbolName(kind, b[35:])), KindProcedure, nil
}

// separatedName names a separated block after the procedure that it is a part of.
func (l *locator) separatedName(section uint16, offset uint32) (string, error) {
	if start, ok := l.m.f.rva(section, offset); ok {
		if p := l.m.find(start); p != nil {
			if kind, b, _, _ := l.m.record(p.record); kind != symSepCode && kind != symTrampoline && len(b) >= 35 {
				return string(symbolName(kind, b[35:])), nil
			}
		}
	}
	return l.m.f.publicAt(section, offset)
}

// thunkName names a jump of incremental linking as Microsoft's tools do (gsi.cpp): after its place in the table of
// thunks, and after where it leads.
func (f *File) thunkName(section uint16, offset uint32, target uint16, targetOffset uint32) (string, error) {
	p, err := f.publics()
	if err := f.tolerate(err); err != nil {
		return "", err
	}
	if section == p.thunkSection && offset >= p.thunkTable {
		offset -= p.thunkTable
	}
	name, err := f.publicAt(target, targetOffset)
	return fmt.Sprintf("@ILT+%d(%s)", offset, name), err
}

// publicAt names the public symbol at an address, or before it.
func (f *File) publicAt(section uint16, offset uint32) (string, error) {
	p, err := f.publics()
	if err := f.tolerate(err); err != nil {
		return "", err
	}
	i, _, ok := p.nearest(section, offset, 0)
	if !ok {
		return "", nil
	}
	name, err := p.name(i)
	return name, f.tolerate(err)
}

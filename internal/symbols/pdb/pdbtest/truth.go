package pdbtest

import "sort"

// A Truth is what a reader must say about an address in a procedure or thunk.
type Truth struct {
	Function     string
	Start        Address
	Displacement uint32 // bytes from Start
	File         string // of the function's own line
	Line         uint32
	Inlines      []Site // innermost first
}

// A Site is an inlined call that an address is in. Its line is 0 where only a call inlined in turn is active.
type Site struct {
	Function string
	File     string
	Line     uint32
}

// At returns what a reader must say about an RVA of the image; false where the program says nothing, and for publics,
// trampolines and separated code.
func (p *Program) At(rva uint32) (Truth, bool) {
	sections := p.Sections
	if p.OMAP != nil {
		i := sort.Search(len(p.OMAP.ToSource), func(i int) bool { return p.OMAP.ToSource[i].From > rva }) - 1
		if i < 0 || p.OMAP.ToSource[i].To == 0 {
			return Truth{}, false
		}
		m := p.OMAP.ToSource[i]
		rva = m.To + rva - m.From
		if p.Original != nil {
			sections = p.Original
		}
	}
	for i, s := range sections {
		if rva >= s.RVA && rva-s.RVA < s.Size {
			for k := range p.Modules {
				if t, ok := p.Modules[k].at(Address{uint16(i + 1), rva - s.RVA}); ok {
					return t, true
				}
			}
		}
	}
	return Truth{}, false
}

// RVA is the image's address of what is at a, without OMAP.
func (p *Program) RVA(a Address) uint32 { return p.Sections[a.Section-1].RVA + a.Offset }

func (m *Module) at(a Address) (Truth, bool) {
	for i := range m.Functions {
		f := &m.Functions[i]
		if f.Folded || f.Section != a.Section || a.Offset < f.Offset || a.Offset-f.Offset >= f.Length {
			continue
		}
		t := Truth{Function: f.Name, Start: f.Address, Displacement: a.Offset - f.Offset}
		for _, l := range f.Lines {
			if l.Offset <= t.Displacement {
				t.File, t.Line = l.File, l.Line
			}
		}
		t.Inlines = active(f.Inlines, t.Displacement)
		return t, true
	}
	for _, k := range m.Thunks {
		if k.Section == a.Section && a.Offset >= k.Offset && a.Offset-k.Offset < uint32(k.Length) {
			return Truth{Function: k.Name, Start: k.Address, Displacement: a.Offset - k.Offset}, true
		}
	}
	return Truth{}, false
}

// active is the chain of inlined calls that an offset is in, innermost first.
func active(sites []Inline, offset uint32) []Site {
	for i := range sites {
		in := &sites[i]
		chain := active(in.Inlines, offset)
		s, found := Site{Function: in.Function, File: in.File}, len(chain) > 0
		for _, r := range in.Ranges {
			if offset >= r.Offset && offset-r.Offset < r.Length {
				found = true
				if s.Line = r.Line; r.File != "" {
					s.File = r.File
				}
			}
		}
		if found {
			return append(chain, s)
		}
	}
	return nil
}

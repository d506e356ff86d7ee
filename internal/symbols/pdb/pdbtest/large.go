package pdbtest

import (
	"fmt"
	"io"
	"math/rand/v2"
)

// A LargeSize says how large a PDB Large writes.
type LargeSize struct {
	Bytes    int64 // of symbols and types, roughly
	Hole     int64 // bytes of streams that come before all others and are never written: they move the others behind 4 GiB
	PageSize int   // bytes; 0 for 4096
}

// A SyntheticProgram is a program that Large has written. Its methods compute each fact anew instead of keeping it.
type SyntheticProgram struct {
	program Program
	modules int
	last    Module // the module that was asked for last
	number  int
}

// The proportions of large C++ programs: 2 to 3 KB of PDB for each function.
const (
	functionsPerModule = 300
	functionSlot       = 1 << 10 // bytes of code from the start of a function to that of the next
	moduleSpan         = functionsPerModule * functionSlot
	bytesPerModule     = 730_000 // of a PDB, measured
	functionMin        = 64
)

// Large writes a PDB of many modules, functions, lines, inline sites, types and publics.
func Large(out io.WriterAt, size LargeSize) (*SyntheticProgram, error) {
	modules := int(max(1, size.Bytes/bytesPerModule))
	s := &SyntheticProgram{modules: modules, number: -1}
	s.program = Program{
		GUID: [16]byte{'l', 'a', 'r', 'g', 'e'}, Age: 1, PageSize: size.PageSize,
		Sections: Standard(uint32(modules) * moduleSpan),
	}
	w, err := NewWriter(out, s.program)
	if err != nil {
		return nil, err
	}
	if size.Hole > 0 {
		w.Hole(size.Hole)
	}
	for i := range modules {
		if err := w.Module(module(i)); err != nil {
			return nil, err
		}
	}
	return s, w.Close()
}

// At returns what a reader must say about an RVA; false between functions. It is quickest for addresses in ascending
// order, and not for concurrent use.
func (s *SyntheticProgram) At(rva uint32) (Truth, bool) {
	text := s.program.Sections[0]
	if rva < text.RVA || rva-text.RVA >= uint32(s.modules)*moduleSpan {
		return Truth{}, false
	}
	a := Address{1, rva - text.RVA}
	if number := int(a.Offset / moduleSpan); number != s.number {
		s.last, s.number = module(number), number
	}
	f := int(a.Offset % moduleSpan / functionSlot)
	one := Module{Functions: s.last.Functions[f : f+1]}
	return one.at(a)
}

// Random returns an RVA in a function.
func (s *SyntheticProgram) Random(r *rand.Rand) uint32 {
	slot := r.Uint32N(uint32(s.modules) * functionsPerModule)
	return s.program.Sections[0].RVA + slot*functionSlot + r.Uint32N(functionMin)
}

// module invents a module; the same number always gives the same one.
func module(number int) Module {
	r := rand.New(rand.NewPCG(uint64(number), 1))
	dir := fmt.Sprintf(`d:\build\src\component%d\`, number/16)
	name := fmt.Sprintf("unit%d", number)
	m := Module{Name: fmt.Sprintf(`d:\build\obj\component%d\%s.obj`, number/16, name), Clang: number%4 == 3}
	file := dir + name + ".cpp"
	class := ""
	for i := range functionsPerModule {
		if i%6 == 0 {
			class = fmt.Sprintf("component%d::%s::Class%d<std::basic_string<char,std::char_traits<char>,std::allocator<char> >,%d>", number/16, name, i/6, i)
			m.Structs = append(m.Structs, structOf(r, class))
		}
		for k := range 2 {
			m.Structs = append(m.Structs, structOf(r, fmt.Sprintf("%s::method%d::Closure%d", class, i, k)))
		}
		f := Function{
			Name:      fmt.Sprintf("%s::method%d", class, i),
			Decorated: fmt.Sprintf("?method%d@?$Class%d@V?$basic_string@DU?$char_traits@D@std@@V?$allocator@D@2@@std@@$0%d@@%s@component%d@@QEAAXXZ", i, i/6, i, name, number/16),
			Address:   Address{1, uint32(number)*moduleSpan + uint32(i)*functionSlot},
			Length:    functionMin + r.Uint32N(functionSlot-functionMin-16),
			Local:     i%5 == 4,
		}
		for at, line := uint32(0), uint32(20+i*40); at < f.Length; at += 4 + r.Uint32N(20) {
			f.Lines = append(f.Lines, Line{at, file, line})
			line += r.Uint32N(3)
		}
		for k := range r.IntN(8) {
			f.Locals = append(f.Locals, fmt.Sprintf("variable%d", k))
		}
		for at := r.Uint32N(100); at+40 < f.Length; at += 60 + r.Uint32N(200) {
			f.Inlines = append(f.Inlines, inlineAt(r, at))
		}
		if i%3 == 0 {
			f.Allocations = append(f.Allocations, Allocation{Call{f.Length / 2, 5, ""}, class})
		}
		m.Functions = append(m.Functions, f)
	}
	return m
}

// inlineAt invents an inlined call of up to 40 bytes of code.
func inlineAt(r *rand.Rand, at uint32) Inline {
	which := r.IntN(2000)
	line := uint32(10 + which)
	in := Inline{
		Function: fmt.Sprintf("std::detail%d::inlined%d<int>", which%40, which),
		File:     header(which % 100),
		Line:     line,
		Ranges: []InlinedLine{{Offset: at, Length: 12, Line: line + 1}, {Offset: at + 12, Length: 10, Line: line + 3},
			{Offset: at + 30, Length: 8, Line: line + 2}},
	}
	if which%2 == 0 {
		inner := uint32(500 + which%100)
		in.Inlines = []Inline{{
			Function: fmt.Sprintf("std::inner%d", which%100), File: header(which % 20), Line: inner,
			Ranges: []InlinedLine{{Offset: at + 14, Length: 6, Line: inner + 1}},
		}}
	}
	return in
}

func header(number int) string {
	return fmt.Sprintf(`d:\build\include\component%d\header%d.h`, number%16, number)
}

func structOf(r *rand.Rand, name string) Struct {
	s := Struct{Name: name}
	for i := range 8 + r.IntN(16) {
		f := Field{Name: fmt.Sprintf("m_member%d", i), Offset: s.Size, Type: Uint64}
		switch r.IntN(4) {
		case 0:
			f.Type = PointerTo(Named(name))
		case 1:
			f.Type = ArrayOf(Char, 8)
		}
		s.Fields = append(s.Fields, f)
		s.Size += 8
	}
	return s
}

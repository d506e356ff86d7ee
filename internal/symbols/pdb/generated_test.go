package pdb_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pdb/pdbtest"
)

// The PDB of a generated program gives each address the location that the program has there, by every way to ask.
func TestGeneratedPrograms(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		random := rand.New(rand.NewPCG(seed, 7))
		p := generate(random)
		name := fmt.Sprintf("program %d", seed)
		f := openProgram(t, p)
		agree(t, f, name, 1<<20)
		end := p.Sections[0].RVA + p.Sections[0].Size
		for rva := p.Sections[0].RVA; rva < end; rva++ {
			want, ok := p.At(rva)
			if !ok {
				continue
			}
			got, _, err := f.Lookup(t.Context(), rva)
			if err != nil || told(got) != expected(want) {
				t.Fatalf("%s: %#x:\n%s\nwant %s %v", name, rva, told(got), expected(want), err)
			}
		}
	}
}

func told(l pdb.Location) string {
	s := fmt.Sprintf("%s+%d %s:%d", l.Function, l.Displacement, l.File, l.Line)
	for _, in := range l.Inlines {
		s += fmt.Sprintf(" < %s %s:%d", in.Name, in.File, in.Line)
	}
	return s
}

func expected(w pdbtest.Truth) string {
	s := fmt.Sprintf("%s+%d %s:%d", w.Function, w.Displacement, w.File, w.Line)
	for _, in := range w.Inlines {
		s += fmt.Sprintf(" < %s %s:%d", in.Function, in.File, in.Line)
	}
	return s
}

// generate invents a program of a few modules, whose functions lie in any order.
func generate(r *rand.Rand) *pdbtest.Program {
	const code = 0x2000
	p := &pdbtest.Program{
		Sections: pdbtest.Standard(code),
		PageSize: 512 << r.IntN(4),
		Modules:  make([]pdbtest.Module, 1+r.IntN(5)),
	}
	for i := range p.Modules {
		p.Modules[i] = pdbtest.Module{Name: fmt.Sprintf("unit%d.obj", i), Clang: r.IntN(2) == 0}
	}
	names := 0
	for at := r.Uint32N(64); at < code-0x400; at += r.Uint32N(3) * r.Uint32N(40) {
		m := &p.Modules[r.IntN(len(p.Modules))]
		here := pdbtest.Address{Section: 1, Offset: at}
		names++
		switch r.IntN(12) {
		case 0:
			m.Thunks = append(m.Thunks, pdbtest.Thunk{Name: fmt.Sprintf("thunk%d", names), Address: here, Length: 6})
			at += 6
		case 1:
			p.Publics = append(p.Publics, pdbtest.Public{Name: fmt.Sprintf("public%d", names), Address: here},
				pdbtest.Public{Name: "same", Address: here})
			at += 16
		case 2:
			m.Trampolines = append(m.Trampolines,
				pdbtest.Trampoline{Address: here, Length: 5, Target: pdbtest.Address{Section: 1, Offset: r.Uint32N(code)}})
			at += 5
		default:
			f := function(r, names, here)
			m.Functions = append(m.Functions, f)
			at += f.Length
		}
	}
	if r.IntN(3) == 0 { // swap two halves of the code
		const half = code / 2
		base := p.Sections[0].RVA
		p.Original = p.Sections
		p.OMAP = &pdbtest.OMAP{
			ToSource: []pdbtest.Mapping{{From: base, To: base + half}, {From: base + half - 32}, {From: base + half, To: base},
				{From: base + code}},
			FromSource: []pdbtest.Mapping{{From: base, To: base + half}, {From: base + half, To: base},
				{From: base + code - 32}},
		}
	}
	return p
}

func function(r *rand.Rand, number int, at pdbtest.Address) pdbtest.Function {
	f := pdbtest.Function{Name: fmt.Sprintf("space::f%d", number), Address: at,
		Length: 8 + r.Uint32N(400), Local: r.IntN(3) == 0}
	if r.IntN(2) == 0 {
		f.Decorated = fmt.Sprintf("?f%d@space@@YAXXZ", number)
	}
	file := func() string { return fmt.Sprintf(`c:\src\file%d.cpp`, r.IntN(5)) }
	own := file()
	for offset := uint32(0); offset < f.Length && r.IntN(8) != 0; offset += r.Uint32N(20) {
		f.Lines = append(f.Lines, pdbtest.Line{Offset: offset, File: own, Line: 1 + r.Uint32N(5000)})
		if r.IntN(6) == 0 {
			own = file()
		}
	}
	var inline func(from, to uint32, depth int) []pdbtest.Inline
	inline = func(from, to uint32, depth int) (all []pdbtest.Inline) {
		for from+8 < to && r.IntN(3) != 0 {
			in := pdbtest.Inline{Function: fmt.Sprintf("in%d::g%d", depth, r.Uint32()), File: file(),
				Line: 100 + r.Uint32N(1000)}
			start := from + r.Uint32N(6)
			end := min(start+4+r.Uint32N(90), to)
			for at := start; at < end; at += r.Uint32N(4) * r.Uint32N(5) {
				n := min(1+r.Uint32N(30), end-at)
				in.Ranges = append(in.Ranges, pdbtest.InlinedLine{Offset: at, Length: n, Line: in.Line + r.Uint32N(50) - 20})
				if at += n; r.IntN(4) == 0 {
					in.Ranges[len(in.Ranges)-1].File = file()
				}
			}
			if depth < 4 {
				in.Inlines = inline(start, end, depth+1)
			}
			all = append(all, in)
			from = end
		}
		return all
	}
	f.Inlines = inline(0, f.Length, 0)
	return f
}

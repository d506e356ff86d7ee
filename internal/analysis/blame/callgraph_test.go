package blame_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pe"
)

// A binary is a program as its bytes and its PDB show it: who calls whom, from where.
type builtBinary struct {
	pdb    *pdb.File
	names  map[uint32]string // functions by the RVA of their start
	calls  map[uint32][]call // by the RVA of the caller's start
	frames map[uint32][]*blame.Class
	rules  *blame.Rules
	module *blame.Module
}

// A call leads from a return address to a function; a jump at a function's end has none and leaves no frame.
type call struct{ ret, callee uint32 }

func openBinary(t *testing.T, dir, name string) *builtBinary {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, name+".exe"))
	if err != nil {
		t.Fatal(err)
	}
	image, err := pe.Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := pdb.OpenFile(filepath.Join(dir, name+".pdb"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = symbols.Close() })
	b := &builtBinary{pdb: symbols, names: map[uint32]string{}, calls: map[uint32][]call{},
		frames: map[uint32][]*blame.Class{}, rules: blame.DefaultRules(),
		module: &blame.Module{Name: name, Path: `C:\app\` + name + ".exe", Private: true, Program: true}}
	type extent struct{ from, to uint32 }
	var extents []extent
	if err := symbols.LocationRanges(t.Context(), func(s pdb.LocationRange) error {
		if s.Kind == pdb.KindProcedure {
			start := s.Start - s.Displacement
			b.names[start] = s.Function
			extents = append(extents, extent{start, s.End})
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	ends := map[uint32]uint32{}
	for _, e := range extents {
		ends[e.from] = max(ends[e.from], e.to)
	}
	for _, s := range image.Info().Sections {
		if !s.Executable() {
			continue
		}
		code := content[s.Offset:min(uint32(len(content)), s.Offset+min(s.Size, s.RawSize))]
		for start, end := range ends {
			if start >= s.RVA && end <= s.RVA+uint32(len(code)) {
				b.scan(start, code[start-s.RVA:end-s.RVA])
			}
		}
	}
	return b
}

// scan finds CALL rel32 (E8) and JMP rel32 (E9) to the beginnings of functions.
func (b *builtBinary) scan(start uint32, code []byte) {
	for i := 0; i+5 <= len(code); i++ {
		if code[i] != 0xE8 && code[i] != 0xE9 {
			continue
		}
		next := start + uint32(i) + 5
		callee := next + binary.LittleEndian.Uint32(code[i+1:])
		if _, ok := b.names[callee]; !ok {
			continue
		}
		if code[i] == 0xE9 {
			if callee != start {
				b.calls[start] = append(b.calls[start], call{0, callee})
			}
			continue
		}
		b.calls[start] = append(b.calls[start], call{next, callee})
	}
	slices.SortFunc(b.calls[start], func(x, y call) int { return int(x.ret) - int(y.ret) })
}

// maxPaths bounds the call paths that are followed in a binary.
const maxPaths = 20_000

// signatures signs the stack of every path from an entry to an allocating function that enters no function twice, or a
// recursive one once more. Frames are expanded with the calls inlined in them, as in the product.
func (b *builtBinary) signatures(t *testing.T, entries, allocating []string) map[string]blame.Signature {
	t.Helper()
	found, paths := map[string]blame.Signature{}, 0
	on := map[uint32]int{}
	var returns []uint32
	var walk func(at uint32)
	walk = func(at uint32) {
		if slices.Contains(allocating, b.names[at]) {
			if paths++; paths > maxPaths {
				t.Fatalf("more than %d paths", maxPaths)
			}
			stack := []*blame.Class{b.named("RtlAllocateHeap"), b.named(b.names[at])}
			for i := len(returns) - 1; i >= 0; i-- {
				stack = append(stack, b.expand(t, returns[i])...)
			}
			s := blame.Sign("heap", stack, blame.MarkStack(stack))
			found[s.ID] = s
		}
		if on[at] > 1 {
			return
		}
		on[at]++
		for _, c := range b.calls[at] {
			if c.ret == 0 {
				walk(c.callee)
				continue
			}
			returns = append(returns, c.ret)
			walk(c.callee)
			returns = returns[:len(returns)-1]
		}
		on[at]--
	}
	for start, name := range b.names {
		if slices.Contains(entries, blame.NormalizeFunction(name)) {
			walk(start)
		}
	}
	if len(found) == 0 {
		t.Fatalf("no path from %v to %v", entries, allocating)
	}
	return found
}

func (b *builtBinary) named(function string) *blame.Class {
	c := b.rules.Class(&blame.Frame{Module: b.module, Function: function})
	return &c
}

// expand names the frames of a return address, looking up the call before it.
func (b *builtBinary) expand(t *testing.T, ret uint32) []*blame.Class {
	t.Helper()
	if made := b.frames[ret]; made != nil {
		return made
	}
	at, ok, err := b.pdb.Lookup(t.Context(), ret-1)
	if err != nil || !ok {
		t.Fatalf("%#x: %v", ret, err)
	}
	var made []*blame.Class
	for _, in := range at.Inlines {
		c := b.rules.Class(&blame.Frame{Module: b.module, Function: in.Name, File: in.File})
		made = append(made, &c)
	}
	c := b.rules.Class(&blame.Frame{Module: b.module, Function: at.Function, File: at.File})
	b.frames[ret] = append(made, &c)
	return b.frames[ret]
}

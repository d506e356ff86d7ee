package ntheap_test

import (
	"bytes"
	"fmt"
	"testing"

	"heapdrift/ingest/ntheap"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// TestStack reads the forms that entries of the stack trace database have. The memory also holds a heap for Open to
// find.
func TestStack(t *testing.T) {
	const code, at = 0x7ff600001000, 0x10000
	frames := func(n int) (b []byte) {
		for i := range n {
			b = append(b, 0, byte(i), 0x10, 0, 0xf6, 0x7f, 0, 0)
		}
		return b
	}
	for _, test := range []struct {
		name         string
		index, depth uint16
		frames       []byte
		want         int
	}{
		{"plain", 3, 0, frames(32), 3},
		{"plain, full", 32, 0, frames(32), 32},
		{"numbered", 0x7777, 5, frames(32), 5},
		{"numbered, full", 0x7777, 32, frames(32), 32},
		{"numbered, with the number of a depth", 3, 5, frames(32), 5},
		{"plain, with something in Depth", 3, 0x7777, frames(32), 3},
		{"too many", 33, 34, frames(40), 0},
		{"none", 0, 0, frames(32), 0},
		{"no code", 3, 0, append(frames(2), make([]byte, 8*30)...), 0},
		{"no code by Depth", 2, 5, append(frames(2), bytes.Repeat([]byte{1}, 8*30)...), 2},
		{"cut", 3, 0, frames(3), 3},
		{"cut inside", 3, 0, frames(2), 0},
		{"cut before", 3, 0, nil, 0},
	} {
		entry := append(make([]byte, 12), byte(test.index), byte(test.index>>8), byte(test.depth), byte(test.depth>>8))
		entry = append(entry, test.frames...)
		made := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Blocks: 1})
		p := process(made)
		p.Memory = append(ntheaptest.Memory{{Start: at, Size: uint64(len(entry)), Bytes: bytes.NewReader(entry)}},
			made.Memory...)
		p.Code = func(addr uint64) bool { return addr>>32 == code>>32 }
		heaps, err := ntheap.Open(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		got := heaps.Stack(at, []uint64{7})
		if len(got) != test.want+1 || got[0] != 7 ||
			test.want > 1 && fmt.Sprintf("%x", got[1:3]) != "[7ff600100000 7ff600100100]" {
			t.Errorf("%s: %x", test.name, got)
		}
	}
}

// TestNoTrace: a block has no stack if its trace is 0 or lies outside memory.
func TestNoTrace(t *testing.T) {
	made := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Blocks: 1})
	heaps, _ := openFirst(t, made)
	for _, trace := range []uint64{0, 1, 0x0101000000000000, 1 << 63, ^uint64(0)} {
		if got := heaps.Stack(trace, nil); got != nil {
			t.Errorf("trace %#x: %x", trace, got)
		}
	}
}

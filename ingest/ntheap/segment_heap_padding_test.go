package ntheap

import (
	"encoding/binary"
	"errors"
	"testing"
)

// words is memory of which some words of 8 bytes are there.
type words map[uint64]uint64

var errNoWord = errors.New("no such word")

func (m words) ReadMemory(p []byte, addr uint64) (int, error) {
	n := 0
	for ; n < len(p); n++ {
		v, ok := m[(addr+uint64(n))&^7]
		if !ok {
			return n, errNoWord
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], v)
		p[n] = b[(addr+uint64(n))&7]
	}
	return n, nil
}

// paddedWalk is the walk of a segment heap that has blocks and nothing else.
func paddedWalk(t *testing.T, m Memory, build uint32, wide bool) (*segmentWalk, *[]Block) {
	t.Helper()
	layout := &segmentLayout{wide: wide, granule: 8}
	if wide {
		layout.granule = 16
	}
	got := new([]Block)
	w := &walk{
		ctx: t.Context(), heaps: &SideHeaps{}, heap: &Heap{}, out: &WalkResult{}, near: newWindow(m, wide, randomWindow),
		seq:   newWindow(m, wide, sequentialWindow),
		visit: func(b Block) error { *got = append(*got, b); return nil },
	}
	return &segmentWalk{walk: w, segmentHeap: &segmentHeap{layout: layout, keys: &segmentKeys{build: build}}}, got
}

// TestPadding takes the padding off one block among many that are alike.
func TestPadding(t *testing.T) {
	const at = 0x10000
	none, sixteen, four := words{}, words{at: 16}, words{at: 64}
	for _, test := range []struct {
		name   string
		build  uint32
		block  Block
		memory words
		want   Block
		odd    int64
		unread int64
	}{
		{"before there is any", 10585, Block{at, 100, 1, 0, LFH}, sixteen, Block{at, 100, 1, 0, LFH}, 0, 0},
		{"first build", 10586, Block{at, 100, 1, 0, LFH}, none, Block{at + 16, 84, 17, 0, LFH}, 0, 0},
		{"last build without a number, and a number", 17133, Block{at, 100, 1, 0, LFH}, four,
			Block{at + 16, 84, 17, 0, LFH}, 0, 0},
		{"large block without a number", 16299, Block{at, 0x200000, 1, 0, Large}, none,
			Block{at, 0x200000 - 16, 17, 0, Large}, 0, 0},
		{"first build with a number", 17134, Block{at, 100, 1, 0, VS}, sixteen, Block{at + 16, 84, 17, 0, VS}, 0, 0},
		{"large block with a number", 17134, Block{at, 0x200000, 1, 0, Large}, four,
			Block{at + 64, 0x200000 - 64, 65, 0, Large}, 0, 0},
		{"nothing but padding", 19045, Block{at, 16, 1, 0, LFH}, sixteen, Block{at + 16, 0, 17, 0, LFH}, 0, 0},
		{"less than padding", 19045, Block{at, 15, 1, 0, LFH}, sixteen, Block{at + 15, 0, 16, 0, LFH}, 1, 0},
		{"overwritten", 19045, Block{at, 100, 1, 0, LFH}, words{at: 17}, Block{at + 16, 84, 17, 0, LFH}, 1, 0},
		{"not there, the largest with one granule", 19045, Block{at, 0xFEFF8 + 16, 0, 0, Large}, none,
			Block{at + 16, 0xFEFF8, 16, 0, Large}, 0, 1},
		{"not there, the smallest with four", 19045, Block{at, 0xFEFF9 + 64, 0, 0, Large}, none,
			Block{at + 64, 0xFEFF9, 64, 0, Large}, 0, 1},
		{"last build", 19045, Block{at, 100, 1, 0, Backend}, sixteen, Block{at + 16, 84, 17, 0, Backend}, 0, 0},
		{"no more", 19046, Block{at, 100, 1, 0, Backend}, sixteen, Block{at, 100, 1, 0, Backend}, 0, 0},
	} {
		m := words{}
		for a, v := range test.memory {
			m[a] = v
		}
		s, got := paddedWalk(t, m, test.build, true)
		for i := range uint64(heldBlocks) { // what has the heap decide
			m[0x90000+64*i] = 16
			if err := s.hand(Block{0x90000 + 64*i, 32, 0, 0, VS}); err != nil {
				t.Fatal(err)
			}
		}
		if len(*got) != heldBlocks {
			t.Errorf("%s: %d blocks after %d", test.name, len(*got), heldBlocks)
		}
		if err := s.hand(test.block); err != nil || (*got)[heldBlocks] != test.want || s.odd.n != test.odd ||
			s.unread.n != test.unread {
			t.Errorf("%s: %+v, want %+v; %v, %d odd, %d not read", test.name, (*got)[heldBlocks], test.want,
				err, s.odd.n, s.unread.n)
		}
	}
}

// TestPaddingDecision decides at the end of a walk of few blocks whether blocks have padding.
func TestPaddingDecision(t *testing.T) {
	for _, test := range []struct {
		name                        string
		build                       uint32
		marked, plain, unread, tiny int
		is                          bool
	}{
		{"no blocks", 19045, 0, 0, 0, 0, false},
		{"one with a number", 19045, 1, 0, 0, 0, true},
		{"half", 19045, 5, 5, 0, 0, false},
		{"more than half", 19045, 6, 5, 0, 0, true},
		{"those that are there decide", 19045, 1, 0, 50, 0, true},
		{"none is there", 19045, 0, 0, 50, 0, false},
		{"without numbers", 16299, 0, 5, 0, 0, true},
		{"without numbers, and too small", 16299, 5, 50, 0, 1, false},
		{"with numbers, a small one decides nothing", 17134, 3, 0, 0, 1, true},
		{"Windows 11", 22000, 50, 0, 0, 0, false},
	} {
		m := words{}
		s, got := paddedWalk(t, m, test.build, true)
		at := uint64(0x10000)
		for i, n := range [4]int{test.marked, test.plain, test.unread, test.tiny} {
			for range n {
				size := uint64(32)
				switch i {
				case 0:
					m[at] = 16
				case 1:
					m[at] = 7
				case 3:
					m[at], size = 7, 15
				}
				if err := s.hand(Block{at, size, 0, 0, LFH}); err != nil {
					t.Fatal(err)
				}
				at += 0x10000
			}
		}
		if len(*got) != 0 {
			t.Errorf("%s: %d blocks were handed out before it was decided", test.name, len(*got))
		}
		if err := s.settle(); err != nil || s.padding.is != test.is ||
			len(*got) != test.marked+test.plain+test.unread+test.tiny {
			t.Errorf("%s: %v, padding %t, %d blocks", test.name, err, s.padding.is, len(*got))
		}
	}
}

// TestPaddingStops: the error of a visitor is returned also for a block that was held back.
func TestPaddingStops(t *testing.T) {
	s, _ := paddedWalk(t, words{}, 19045, true)
	stop := errors.New("stop")
	s.visit = func(Block) error { return stop }
	if err := s.hand(Block{0x10000, 32, 0, 0, LFH}); err != nil {
		t.Error(err)
	}
	if err := s.settle(); !errors.Is(err, stop) {
		t.Error(err)
	}
}

package windbg

import (
	"testing"

	"heapdrift/ingest/capture"
)

// Sizes may be twice what there is room for, since tools print at different moments, and never more than a process has.
func TestSizesThatCannotBe(t *testing.T) {
	for _, test := range []struct {
		space, size, room int64
		want              bool
	}{
		{1000, 0, 0, false}, {1000, 200, 100, false}, {1000, 201, 100, false}, {1000, 202, 100, true}, {1000, 299, 100, true},
		{1000, 1000, 1000, false}, {1000, 1001, 1000, true}, {1000, 1, 0, false}, {1000, 2, 0, true},
	} {
		if got := (limits{space: test.space}).exceeded(test.size, test.room); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
}

// All heaps have room for what each has reserved and what lies in blocks of their own, unless one does not say that.
func TestRoomOfHeaps(t *testing.T) {
	heap := func(reserved, blocks, bytes int64) capture.HeapFacts {
		return capture.HeapFacts{Reserved: reserved, Blocks: capture.Usage{Count: blocks, Bytes: bytes}}
	}
	for _, test := range []struct {
		name  string
		heaps []capture.HeapFacts
		whole int64
		known bool
	}{
		{"none", nil, 0, false}, {"one", []capture.HeapFacts{heap(1<<20, 0, 0)}, 1 << 20, true},
		{"with blocks", []capture.HeapFacts{heap(1<<20, 2, 1<<10)}, 1<<20 + 1<<10, true},
		{"blocks of an unknown size", []capture.HeapFacts{heap(1<<20, 2, 0)}, 1 << 20, false},
		{"one that says nothing", []capture.HeapFacts{heap(1<<20, 0, 0), heap(0, 0, 0)}, 1 << 20, false},
	} {
		n := &instant{m: &capture.Memory{Heaps: test.heaps}}
		if whole, known := n.room(); whole != test.whole || known != test.known {
			t.Errorf("%s: %d, %t", test.name, whole, known)
		}
	}
}

// Heaps of a summary are doubtful where they are vast and a thousand times what the heaps have reserved.
func TestUsesThatCannotBe(t *testing.T) {
	for _, test := range []struct {
		name            string
		use             capture.UseName
		reserved, heaps int64
		known           bool
		odd             int64
	}{
		{"vast", capture.UseHeap, 2 << 40, 1 << 30, true, 1}, {"not vast", capture.UseHeap, 1 << 40, 1 << 20, true, 0},
		{"a thousand times", capture.UseHeap, 2 << 40, 2 << 30, true, 0}, {"other memory", capture.UseStack, 2 << 40, 1, true, 0},
		{"nothing is known of heaps", capture.UseHeap, 2 << 40, 1, false, 0},
	} {
		n := &instant{m: &capture.Memory{Space: &capture.Space{Uses: []capture.UseTotal{{Name: test.use, Reserved: test.reserved}}}}}
		if odd := n.doubtUses(limits{heaps: test.heaps, known: test.known}); odd != test.odd {
			t.Errorf("%s: %d", test.name, odd)
		}
	}
	if odd := (&instant{m: &capture.Memory{}}).doubtUses(limits{known: true}); odd != 0 {
		t.Errorf("%d of nothing", odd)
	}
}

// What nothing points to, and each block shown, has room in the heaps.
func TestBlocksThatCannotBe(t *testing.T) {
	l := limits{space: 1000, heaps: 100}
	n := &instant{m: &capture.Memory{Samples: []capture.Sample{{Size: 200}, {Size: 202}, {Size: 900}}}}
	if odd := n.doubtBlocks(l); odd != 2 {
		t.Errorf("%d", odd)
	}
	n.m.Reach = &capture.PointerSearch{}
	if n.m.Reach.Unreachable.Bytes = 201; n.doubtBlocks(l) != 2 {
		t.Error("what may be is doubted")
	}
	if n.m.Reach.Unreachable.Bytes = 202; n.doubtBlocks(l) != 3 {
		t.Error("what cannot be is not doubted")
	}
}

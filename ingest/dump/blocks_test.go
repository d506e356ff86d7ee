package dump

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A search in a list of blocks finds what a look at every block finds, for any address.
func TestBlocksAreFoundByAnyOfTheirAddresses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var want []block
	add := func(b block) { want = append(want, b) }
	at := uint64(0x7FF0_0000_0000)
	for i := range uint32(5000) {
		size := rng.Uint64N(300)
		switch rng.IntN(50) {
		case 0:
			size = rng.Uint64N(3 << 20)
		case 1:
			at += rng.Uint64N(8<<20) &^ 7
		case 2:
			at += 3 // page heap puts blocks before the end of a page
		case 3:
			at = at&^0xFFFFF + 0xFFFF8 + 0x100000 // over the end of a page
			size = 0xFFFF0
		}
		add(block{at, size, i})
		at += max(size, 1) + rng.Uint64N(64)
		if rng.IntN(3) > 0 {
			at = (at + 15) &^ 15
		}
	}
	s := newBlocks()
	for _, i := range rng.Perm(len(want)) {
		s.add(want[i])
	}
	other := newBlocks()
	other.add(block{at + 64, 8, 1})
	want = append(want, block{at + 64, 8, 9001})
	s.take(other, 9000)
	s.add(want[7]) // twice
	if err := s.seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.n != len(want) {
		t.Fatalf("%d blocks of %d", s.n, len(want))
	}
	seen := make([]bool, s.n)
	for ordinal, b := range s.all() {
		if seen[ordinal] || s.at(ordinal) != b || !slices.Contains(want, b) {
			t.Fatalf("block %d: %+v, %+v", ordinal, b, s.at(ordinal))
		}
		seen[ordinal] = true
	}
	for _, b := range want {
		for _, a := range []uint64{b.address, b.end() - 1, b.address + b.size/2} {
			if i := s.find(a); i < 0 || s.at(i) != b {
				t.Fatalf("%#x of %+v: found %d", a, b, i)
			}
		}
		for _, a := range []uint64{b.address - 1, b.end()} {
			inside := slices.IndexFunc(want, func(w block) bool { return a >= w.address && a < w.end() })
			if i := s.find(a); (i >= 0) != (inside >= 0) {
				t.Fatalf("%#x beside %+v: found %d", a, b, i)
			}
		}
	}
	if s.find(0) >= 0 || s.find(1<<64-1) >= 0 {
		t.Error("an address outside was found")
	}
}

// Lists that share a budget take it in grants, use it up to its last block, and never ask again once they were refused:
// which blocks are left out depends on nothing that happens beside.
func TestBlocksKeepToTheirBudget(t *testing.T) {
	shared := &budget{}
	shared.room.Store(2 * grant)
	first, second := newBlocks(), newBlocks()
	first.room, second.room = shared, shared
	add := func(s *blocks, n int) {
		for range n {
			s.add(block{uint64(8 * s.n), 8, 0})
		}
	}
	add(first, grant+1)
	add(second, 1)
	add(first, grant)
	shared.room.Store(grant)
	add(first, 1)
	add(second, 2)
	if first.n != 2*grant || first.left != 2 || second.n != 0 || second.left != 3 || shared.room.Load() != grant {
		t.Errorf("%d kept and %d left, %d kept and %d left, room for %d", first.n, first.left, second.n, second.left,
			shared.room.Load())
	}
	free := newBlocks()
	if add(free, 3*grant); free.n != 3*grant || free.left != 0 {
		t.Errorf("without a limit %d are kept and %d left", free.n, free.left)
	}
}

package etl

import (
	"slices"
	"testing"
)

// A stack of a part in the kernel and one of the process has an id of its own, the same each time. Where one part is
// missing it is the other, and where both are it is none.
func TestPairsOfStacks(t *testing.T) {
	s := newStacks()
	stack := func(addresses ...uint64) StackID {
		var b []byte
		for _, a := range addresses {
			b = le.AppendUint64(b, a)
		}
		return s.intern(b)
	}
	kernel, user, other := stack(1, 2), stack(3), stack(4, 5)
	for _, c := range []struct {
		name         string
		kernel, user StackID
		want         []uint64
		is           StackID // NoStack for a new one
	}{
		{"none", NoStack, NoStack, nil, NoStack},
		{"the kernel's alone", kernel, NoStack, []uint64{1, 2}, kernel},
		{"the process's alone", NoStack, user, []uint64{3}, user},
		{"both", kernel, user, []uint64{1, 2, 3}, NoStack},
		{"both, the other way round", user, kernel, []uint64{3, 1, 2}, NoStack},
		{"another of the process", kernel, other, []uint64{1, 2, 4, 5}, NoStack},
		{"one of no known key", s.unknown(), user, []uint64{3}, NoStack},
	} {
		before := s.Len()
		id := s.pair(c.kernel, c.user)
		isNew := c.is == NoStack && c.want != nil
		if got := s.Append(nil, id); !slices.Equal(got, c.want) || !isNew && id != c.is || s.Len() > before != isNew {
			t.Errorf("%s: stack %d of %v, %d new; want %d of %v", c.name, id, got, s.Len()-before, c.is, c.want)
		}
		if again := s.pair(c.kernel, c.user); again != id {
			t.Errorf("%s: stack %d, and then %d", c.name, id, again)
		}
	}
}

// The addresses of a key may come after its events. They become those of its stack, once, and a stack with the same
// addresses stays the canonical one.
func TestStacksDefinedLater(t *testing.T) {
	s := newStacks()
	bytes := func(a uint64) []byte { return le.AppendUint64(nil, a) }
	known := s.intern(bytes(1))
	same, fresh, empty := s.unknown(), s.unknown(), s.unknown()
	s.define(same, bytes(1))
	s.define(fresh, bytes(2))
	s.define(empty, nil)
	s.define(fresh, bytes(3))
	s.define(known, bytes(4))
	s.define(NoStack, bytes(5))
	for _, c := range []struct {
		id, canonical StackID
		want          []uint64
		plain         bool
	}{
		{NoStack, NoStack, nil, false}, {known, known, []uint64{1}, true}, {same, known, []uint64{1}, false},
		{fresh, fresh, []uint64{2}, true}, {empty, NoStack, nil, false},
		{s.pair(known, fresh), s.intern(append(bytes(1), bytes(2)...)), []uint64{1, 2}, false},
	} {
		if got := s.Append(nil, c.id); !slices.Equal(got, c.want) || s.Plain(c.id) != c.plain {
			t.Errorf("stack %d is %v, plain %t; want %v", c.id, got, s.Plain(c.id), c.want)
		}
		if got := s.Canonical(c.id); got != c.canonical {
			t.Errorf("stack %d has the canonical one %d, want %d", c.id, got, c.canonical)
		}
	}
	if id := s.intern(bytes(2)); id != fresh {
		t.Errorf("a stack that was defined later is %d, then %d", fresh, id)
	}
}

// However many stacks there are, each is found again, those whose hashes fall together too.
func TestStacksAreKeptOnce(t *testing.T) {
	s := newStacks()
	const n = 3000 // the table doubles three times
	first := make([]StackID, 0, 2*n)
	for round := range 2 {
		for i := range uint64(n) {
			plain := s.intern(le.AppendUint64(nil, i+1))
			pair := s.pair(plain, StackID(1))
			if round == 0 {
				first = append(first, plain, pair)
			} else if first[2*i] != plain || first[2*i+1] != pair {
				t.Fatalf("stack %d is kept twice: %d and %d, %d and %d", i, first[2*i], plain, first[2*i+1], pair)
			}
		}
	}
	if s.Len() != 1+2*n || s.used != 2*n || s.used*2 > len(s.slots) {
		t.Errorf("%d stacks, %d of %d places are taken", s.Len(), s.used, len(s.slots))
	}
}

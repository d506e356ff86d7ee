// Package behaviour is the vocabulary of the evaluation: in comes a random source and the load of a run, out go the
// allocations that one stack of a program makes in it. Sets of behaviours are packages of their own, each by another
// author; none of them knows how leaks are judged.
//
// A set is a slice of rows: NewLeak, NewInnocent or NewUndecidable with a name, a reason and a function. Who adds a
// behaviour adds a row, draws its numbers at the beginning of the function, and runs the test of the set with -update:
// behaviourtest then holds what it allocates. The order of draws is a part of a behaviour, since each takes the next
// number of the run.
package behaviour

import (
	"hash/fnv"
	"math/rand/v2"
)

// A Truth is what an expert who knows the program says of a stack.
type Truth uint8

// The truths.
const (
	Innocent Truth = iota // all that it holds is freed in time, or bounded for good
	Leaks                 // it loses memory for as long as the program does whatever loses it
	// Undecidable is what one run cannot tell: the same evidence comes of a leak and of what is none. Whoever writes the
	// behaviour says so before anything is measured.
	Undecidable
)

// A Behaviour is a way in which a stack allocates and frees.
type Behaviour struct {
	Name  string // "session table, two in a hundred are never removed"
	Truth Truth
	Why   string // what the program does, and of an undecidable one also what one run cannot show
	Play  func(*Stack)
}

// NewLeak is a row of a set: the stack loses memory. The name is "program: what it does", why is a sentence.
func NewLeak(name, why string, play func(*Stack)) Behaviour {
	return Behaviour{Name: name, Truth: Leaks, Why: why, Play: play}
}

// NewInnocent is a row of a set: the stack loses nothing.
func NewInnocent(name, why string, play func(*Stack)) Behaviour {
	return Behaviour{Name: name, Truth: Innocent, Why: why, Play: play}
}

// NewUndecidable is a row of a set: one run of the stack does not tell.
func NewUndecidable(name, why string, play func(*Stack)) Behaviour {
	return Behaviour{Name: name, Truth: Undecidable, Why: why, Play: play}
}

// IsKept reports whether a behaviour is kept for the verdict on the method: half of all are, told by their names. The
// others are for tuning. Nobody who changes the method looks at figures of a single kept behaviour.
func (b *Behaviour) IsKept() bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(b.Name))
	return h.Sum32()>>8&1 == 1
}

// A Block is an allocation of a Stack, by its number.
type Block int

// An Allocation is one life of a block. Times are seconds of the run.
type Allocation struct {
	Born, Died float64 // Died is Never where it was not freed
	Bytes      int
	Heap       int // 0 is the process heap; 1 to 3 are private ones
	// MovedFrom is the allocation that a reallocation turned into this one, −1 for none. It died when this one was born.
	MovedFrom Block
}

// Never is when a block that is not freed dies.
const Never = 1e18

// A Stack is one stack of a process over one run, while a behaviour plays it.
type Stack struct {
	*rand.Rand
	Seconds float64 // length of the run: 30 minutes to 12 hours
	load    *Load
	heap    int
	list    []Allocation
}

// NewStack makes a stack that has done nothing yet.
func NewStack(r *rand.Rand, load *Load) *Stack {
	return &Stack{Rand: r, Seconds: load.Seconds(), load: load}
}

// Allocations are all that a behaviour made, in the order in which it made them.
func (s *Stack) Allocations() []Allocation { return s.list }

// UseHeap makes later allocations come from another heap.
func (s *Stack) UseHeap(heap int) { s.heap = heap & 3 }

// MaybePrivate makes later allocations of a share of the programs come from a heap of their own.
func (s *Stack) MaybePrivate(share float64) {
	if s.Chance(share) {
		s.UseHeap(s.Whole(1, 3))
	}
}

// Alloc makes a block. Instants outside of the run make one that nobody ever sees.
func (s *Stack) Alloc(at float64, bytes int) Block {
	s.list = append(s.list, Allocation{Born: at, Died: Never, Bytes: max(bytes, 1), Heap: s.heap, MovedFrom: -1})
	return Block(len(s.list) - 1)
}

// Free ends a block, at once at the earliest.
func (s *Stack) Free(b Block, at float64) {
	s.list[b].Died = max(at, s.list[b].Born+1e-6)
}

// AllocFor makes a block that lives for a while.
func (s *Stack) AllocFor(at, seconds float64, bytes int) Block {
	b := s.Alloc(at, bytes)
	s.Free(b, at+seconds)
	return b
}

// Resize reallocates a block: it goes on as the block that is returned.
func (s *Stack) Resize(b Block, at float64, bytes int) Block {
	s.Free(b, at)
	next := s.Alloc(s.list[b].Died, bytes)
	s.list[next].Heap, s.list[next].MovedFrom = s.list[b].Heap, b
	return next
}

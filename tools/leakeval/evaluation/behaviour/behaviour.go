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

// A Truth is whether a stack leaks, as an expert who knows the program says.
type Truth uint8

// The truths.
const (
	Innocent Truth = iota // all that it holds is freed in time, or bounded for good
	Leaks                 // it loses memory for as long as the program does whatever loses it
	// Undecidable says that one run cannot tell: a leak and an innocent stack would leave the same evidence. Whoever
	// writes the behaviour says so before anything is measured.
	Undecidable
)

// A Behaviour is a way in which a stack allocates and frees.
type Behaviour struct {
	Name  string // "session table, two in a hundred are never removed"
	Truth Truth
	Why   string       // what the program does; for Undecidable also what one run cannot show
	Play  func(*Stack) // makes the allocations of one run
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

// IsHeldOut reports whether a behaviour is held out: figures are published for it, and nothing is tuned by it. Half of
// all are, chosen by their names. Nobody who changes the method looks at the figures of a single one.
func (b *Behaviour) IsHeldOut() bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(b.Name))
	return h.Sum32()>>8&1 == 1
}

// A Block is an allocation of a Stack: an index into Stack.Allocations.
type Block int

// An Allocation is one block from its allocation to its free. Times are in seconds since the start of the run.
type Allocation struct {
	Born, Died float64 // Died is Never where it was not freed
	Bytes      int
	Heap       int // 0 is the process heap; 1 to 3 are private ones
	// MovedFrom is the allocation that a reallocation turned into this one, −1 for none. That one ends when this one
	// begins.
	MovedFrom Block
}

// Never is Died of a block that is not freed.
const Never = 1e18

// A Stack is one stack of a process over one run, while a behaviour plays it.
type Stack struct {
	*rand.Rand
	Seconds float64 // length of the run, from 30 minutes to 12 hours
	load    *Load
	heap    int
	list    []Allocation
}

// NewStack makes a stack that has done nothing yet.
func NewStack(r *rand.Rand, load *Load) *Stack {
	return &Stack{Rand: r, Seconds: load.Seconds(), load: load}
}

// Allocations returns all that a behaviour made, in the order in which it made them.
func (s *Stack) Allocations() []Allocation { return s.list }

// UseHeap makes later allocations come from another heap.
func (s *Stack) UseHeap(heap int) { s.heap = heap & 3 }

// MaybePrivate makes later allocations come from a private heap with the probability share, from 0 to 1.
func (s *Stack) MaybePrivate(share float64) {
	if s.Chance(share) {
		s.UseHeap(s.UniformInt(1, 3))
	}
}

// Alloc allocates a block at an instant in seconds. No evidence shows a block that is allocated outside of the run.
func (s *Stack) Alloc(at float64, bytes int) Block {
	s.list = append(s.list, Allocation{Born: at, Died: Never, Bytes: max(bytes, 1), Heap: s.heap, MovedFrom: -1})
	return Block(len(s.list) - 1)
}

// Free frees a block at an instant in seconds; if that is before its allocation, at its allocation.
func (s *Stack) Free(b Block, at float64) {
	s.list[b].Died = max(at, s.list[b].Born+1e-6)
}

// AllocFor allocates a block and frees it so many seconds later.
func (s *Stack) AllocFor(at, seconds float64, bytes int) Block {
	b := s.Alloc(at, bytes)
	s.Free(b, at+seconds)
	return b
}

// Resize reallocates a block, and returns the block that is in its place from then on.
func (s *Stack) Resize(b Block, at float64, bytes int) Block {
	s.Free(b, at)
	next := s.Alloc(s.list[b].Died, bytes)
	s.list[next].Heap, s.list[next].MovedFrom = s.list[b].Heap, b
	return next
}

// Package workload makes processes out of behaviours and writes the evidence that Windows tools would have recorded of
// them: in come behaviours and a seed, out go UMDH logs, full dumps and traces, byte for byte as the readers take them,
// and the truth about each stack.
package workload

import (
	"math/rand/v2"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// StacksPerProcess is how many stacks a process has.
const StacksPerProcess = 36

// Of these, so many leak and so many are undecidable on average; the others are innocent.
const (
	leakShare        = 1.0 / 6
	undecidableShare = 1.0 / 18
)

// A Process is one run of a program.
type Process struct {
	Seed, Number uint64  // which process it is: both decide what is drawn
	Run          uint64  // which run of the process, from 0
	Seconds      float64 // length of the run
	Counted      bool    // uploads carry a counter of its work
	Recorded     float64 // seconds of the run at which the last snapshot is taken; 0 for its end
	Nameless     bool    // nobody has the symbols of the program: frames have addresses only
	Attached     float64 // seconds of the run at which a trace begins; 0 where it sees the start
	Stacks       []Stack
	load         *behaviour.Load
	oneStack     bool // all parts of an object have the stack of its first
}

// A Stack is one stack of a process with all that it allocated.
type Stack struct {
	*behaviour.Behaviour
	// Object is the index of the stack whose object this stack allocates a part of; its own index if it is no part.
	Object int
	blocks []block
	owner  int // of the functions that make objects, the one that calls it; −1 for none
}

// A block is one allocation. Times are seconds of the run.
type block struct {
	born, died float64
	bytes      uint64
	heap       uint8
	movedFrom  int32 // the block of the stack that a reallocation turned into this one; −1 for none
	address    uint64
}

// New makes a run of a process whose stacks behave as some of the behaviours do, of each truth alike often. The same
// seed, number, run and behaviours make the same run. Other runs of a process have the same stacks, mostly with the
// same parameters, under another load.
func New(seed, number, run uint64, behaviours []behaviour.Behaviour) *Process {
	return NewMixed(seed, number, run, behaviours, nil)
}

// A Mix fixes what New would draw.
type Mix struct {
	Stacks, Leaks int     // how many stacks, of which the first Leaks leak and all others are innocent; 0 for what is drawn
	Seconds       float64 // the length of the run; 0 for one that is drawn
	// Parts is how many stacks each of them becomes: the parts of one object that one function makes. If it is 1, one
	// function calls all stacks, whose blocks have nothing to do with each other. 0 changes nothing.
	Parts int
	// OneStack gives all parts of an object the stack of the first, so that they are judged as one.
	OneStack bool
}

// NewMixed is New with what mix fixes; nil for New.
func NewMixed(seed, number, run uint64, behaviours []behaviour.Behaviour, mix *Mix) *Process {
	program, r := rand.New(rand.NewPCG(seed, number)), rand.New(rand.NewPCG(seed, number|(run+1)<<32))
	p := &Process{Seed: seed, Number: number, Run: run, Counted: program.Float64() < 1.0/3}
	p.Seconds = 1800 * pow24(program.Float64())
	if mix != nil && mix.Seconds > 0 {
		p.Seconds = mix.Seconds
	}
	p.load = behaviour.NewLoad(r, p.Seconds)
	if program.Float64() < 0.4 {
		p.Attached = (0.05 + 0.25*r.Float64()) * p.Seconds
	}
	var byTruth [3][]*behaviour.Behaviour
	for i := range behaviours {
		b := &behaviours[i]
		byTruth[b.Truth] = append(byTruth[b.Truth], b)
	}
	stacks, mixed := StacksPerProcess, mix != nil && mix.Stacks > 0
	if mixed {
		stacks = mix.Stacks
	}
	for i := range stacks {
		truth, draw := behaviour.Innocent, program.Float64()
		switch {
		case mixed && i < mix.Leaks:
			truth = behaviour.Leaks
		case mixed:
		case draw < leakShare:
			truth = behaviour.Leaks
		case draw < leakShare+undecidableShare:
			truth = behaviour.Undecidable
		}
		list := byTruth[truth]
		if len(list) == 0 {
			continue
		}
		b := list[program.IntN(len(list))]
		seed := program.Uint64()
		s := behaviour.NewStack(rand.New(&source{program: rand.NewPCG(seed, number), run: rand.NewPCG(seed, r.Uint64()),
			left: parameters}), p.load)
		if program.Float64() < 0.3 {
			s.UseHeap(1 + program.IntN(3))
		}
		b.Play(s)
		p.Stacks = append(p.Stacks, Stack{Behaviour: b, Object: i, blocks: taken(s.Allocations(), p.Seconds), owner: -1})
	}
	if mix != nil && mix.Parts > 0 {
		p.divide(r, mix.Parts)
		p.oneStack = mix.OneStack
	}
	p.place(r)
	return p
}

// taken are the allocations that happen in the run.
func taken(list []behaviour.Allocation, seconds float64) []block {
	blocks, at := make([]block, 0, len(list)), make([]int32, len(list))
	for i, a := range list {
		at[i] = -1
		if a.Born < 0 || a.Born >= seconds {
			continue
		}
		b := block{born: a.Born, died: a.Died, bytes: uint64(a.Bytes), heap: uint8(a.Heap), movedFrom: -1}
		if a.MovedFrom >= 0 {
			b.movedFrom = at[a.MovedFrom]
		}
		at[i] = int32(len(blocks))
		blocks = append(blocks, b)
	}
	return blocks
}

// divide makes each stack the first part of an object. With each of its blocks come one to five of every other part, of
// another size and microseconds later, and go with it.
func (p *Process) divide(r *rand.Rand, parts int) {
	for i := range p.Stacks {
		whole := &p.Stacks[i]
		whole.owner = i
		if parts == 1 {
			whole.owner = 0
		}
		for n := 1; n < parts; n++ {
			times, size := 1+r.IntN(mostOfPart), 16+r.Uint64N(400)
			part := Stack{Behaviour: p.Stacks[i].Behaviour, Object: i, owner: i}
			for _, b := range p.Stacks[i].blocks {
				for k := range times {
					made := b
					made.bytes, made.movedFrom = size, -1
					made.born += float64(n*mostOfPart+k) * partDelay
					made.died += float64(n*mostOfPart+k) * partDelay
					part.blocks = append(part.blocks, made)
				}
			}
			p.Stacks = append(p.Stacks, part)
		}
	}
}

// mostOfPart is how many blocks of a part come with one object at most, partDelay the seconds between two of them.
const (
	mostOfPart = 5
	partDelay  = 3e-6
)

// pow24 maps 0 to 1 to factors from 1 to 24, evenly by order of magnitude: half an hour to twelve hours.
func pow24(v float64) float64 { return behaviour.Geometric(1, 24, v) }

// parameters is how many numbers a behaviour draws at first that are mostly its parameters.
const parameters = 6

// A source gives the first numbers of the program and then those of the run: what a program does is the same in all
// runs, and when it does it is not.
type source struct {
	program, run rand.Source
	left         int
}

// Uint64 is the next number.
func (s *source) Uint64() uint64 {
	if s.left > 0 {
		s.left--
		return s.program.Uint64()
	}
	return s.run.Uint64()
}

// Lost is how many bytes the stacks that leak allocated from one instant of the run to another, in seconds, and never
// freed.
func (p *Process) Lost(from, to float64) (bytes int64) {
	for _, s := range p.Stacks {
		if s.Truth != behaviour.Leaks {
			continue
		}
		for _, b := range s.blocks {
			if b.born >= from && b.born < to && b.died >= p.Seconds {
				bytes += int64(b.bytes)
			}
		}
	}
	return bytes
}

// Package evaluation says how well package score does: it makes processes whose leaks are known, derives from every true
// list of allocations the snapshots and the traces that the product would see of it, and compares. docs/method.md publishes
// the figures; tools/leakeval prints them.
package evaluation

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A block is one allocation. Times are shares of the run: 0 is its beginning, 1 its end.
type block struct {
	born, died float64 // died is beyond 1 where it was never freed
	size       uint64
	address    uint32 // the number of an address: blocks whose lives do not overlap may share one
}

// A site is what one stack allocated.
type site struct {
	pattern *pattern
	heap    uint8

	blocks []block
}

// A process is one run of a program.
type process struct {
	hours     float64
	load      load
	counted   bool    // uploads carry a work counter
	attached  float64 // when the trace began, as a share of the run; 0 where it saw the start
	sites     []site
	addresses uint32 // how many there are
}

// SitesPerProcess is how many stacks a process has.
const SitesPerProcess = 55

// newProcess makes a process. Of its 55 sites 9 leak on average, 3 are caches that the run is too short to fill, and the
// others are innocent.
func newProcess(seed, number uint64) *process {
	r := rand.New(rand.NewPCG(seed, number))
	p := &process{hours: logUniform(r, 1.0/60, 12), load: newLoad(r), counted: r.Float64() < 1.0/3}
	if r.Float64() < 0.4 {
		p.attached = 0.05 + 0.25*r.Float64()
	}
	for range SitesPerProcess {
		draw := r.Float64()
		list := innocents
		switch {
		case draw < 9.0/SitesPerProcess:
			list = leaks
		case draw < 12.0/SitesPerProcess:
			list = undecidable
		}
		s := site{pattern: &list[r.IntN(len(list))]}
		if r.Float64() < 0.3 {
			s.heap = uint8(1 + r.IntN(3))
		}
		m := maker{Rand: r, load: &p.load, size: newSizes(r)}
		if r.Float64() < 0.3 {
			m.load = nil // works by the clock, whatever the load is
		}
		s.pattern.make(&m)
		s.blocks = m.blocks
		p.sites = append(p.sites, s)
	}
	p.place(r)
	return p
}

// A load is how busy the process is over its run, as a piecewise linear map from work done to time.
type load struct{ until [257]float64 } // share of the work done up to each instant

// newLoad makes a load: even, swinging, in steps, on and off, or rising.
func newLoad(r *rand.Rand) load {
	var l load
	kind, depth, swings, phase := r.IntN(6), 0.2+0.6*r.Float64(), 0.5+5.5*r.Float64(), r.Float64()
	level := 1.0
	for i := 1; i < len(l.until); i++ {
		t := float64(i) / float64(len(l.until)-1)
		rate := 1.0
		switch kind {
		case 0, 1: // even
		case 2:
			rate = 1 + depth*math.Sin(2*math.Pi*(swings*t+phase))
		case 3:
			if r.Float64() < 6.0/256 {
				level = logUniform(r, 0.3, 3)
			}
			rate = level
		case 4:
			if math.Mod(swings*2*t+phase, 1) < depth/2 {
				rate = 0.05
			}
		case 5:
			rate = 1 + 5*depth*t
		}
		l.until[i] = l.until[i-1] + rate
	}
	for i := range l.until {
		l.until[i] /= l.until[len(l.until)-1]
	}
	return l
}

// work is the share of the work done at t.
func (l *load) work(t float64) float64 {
	at := min(max(t, 0), 1) * float64(len(l.until)-1)
	i := min(int(at), len(l.until)-2)
	return l.until[i] + (at-float64(i))*(l.until[i+1]-l.until[i])
}

// at is when a share of the work is done.
func (l *load) at(work float64) float64 {
	i, _ := slices.BinarySearch(l.until[:], work)
	i = min(max(i, 1), len(l.until)-1)
	within := (work - l.until[i-1]) / (l.until[i] - l.until[i-1])
	return (float64(i-1) + within) / float64(len(l.until)-1)
}

func logUniform(r *rand.Rand, low, high float64) float64 {
	return low * math.Exp(r.Float64()*math.Log(high/low))
}

// place gives addresses as a heap with a low-fragmentation front end does: a freed block's address goes to one of the next
// requests of its size class, of whatever site of its heap.
func (p *process) place(r *rand.Rand) {
	type event struct {
		at   float64
		b    *block
		heap uint8
	}
	n := 0
	for i := range p.sites {
		n += len(p.sites[i].blocks)
	}
	born, died := make([]event, 0, n), make([]event, 0, n)
	for i := range p.sites {
		s := &p.sites[i]
		for j := range s.blocks {
			b := &s.blocks[j]
			born = append(born, event{b.born, b, s.heap})
			if b.died <= 1 {
				died = append(died, event{b.died, b, s.heap})
			}
		}
	}
	order := func(a, b event) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(born, order)
	slices.SortStableFunc(died, order)
	type class struct {
		heap uint8
		size uint64
	}
	free := map[class][]uint32{}
	next := 0
	for _, e := range born {
		for ; next < len(died) && died[next].at <= e.at; next++ {
			b := died[next].b
			if b.born >= e.at { // its birth comes later in this very instant
				break
			}
			k := class{died[next].heap, sizeClass(b.size)}
			free[k] = append(free[k], b.address)
		}
		k := class{e.heap, sizeClass(e.b.size)}
		list := free[k]
		if len(list) == 0 {
			e.b.address = p.addresses
			p.addresses++
			continue
		}
		i := len(list) - 1 - r.IntN(min(len(list), 64))
		e.b.address = list[i]
		list[i] = list[len(list)-1]
		free[k] = list[:len(list)-1]
	}
}

// sizeClass rounds to the classes of a low-fragmentation heap, roughly: 16 bytes up to 1 KB, then eighths of a doubling.
func sizeClass(size uint64) uint64 {
	if size <= 1024 {
		return (size + 15) / 16
	}
	return 1000 + uint64(8*math.Log2(float64(size)))
}

// Package classic is the first set of behaviours, those that the method began with: leaks, caches, queues, batches and
// start-up work in their plainest form. Times are shares of the run.
package classic

import (
	"math"
	"slices"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// Behaviours are all of the set.
var Behaviours = made(slices.Concat(leaks, innocents, undecidable))

// A pattern is a behaviour in the words of this package.
type pattern struct {
	name  string
	truth behaviour.Truth
	play  func(*maker)
}

func made(patterns []pattern) []behaviour.Behaviour {
	var list []behaviour.Behaviour
	for _, p := range patterns {
		list = append(list, behaviour.Behaviour{Name: p.name, Truth: p.truth, Why: whys[p.truth],
			Play: func(s *behaviour.Stack) {
				m := &maker{Stack: s, byClock: s.Chance(0.3), typical: s.LogUniform(16, 64<<10)}
				if s.Chance(0.4) {
					m.spread = s.Uniform(0.1, 1)
				}
				p.play(m)
			}})
	}
	return list
}

var whys = map[behaviour.Truth]string{
	behaviour.Leaks:       "What it allocates is never freed, and it goes on.",
	behaviour.Innocent:    "What it holds is bounded, or freed in time.",
	behaviour.Undecidable: "It is bounded, and the run ends before that shows: a leak looks the same until then.",
}

// forever is a life beyond every run.
const forever = 2.0

// A maker plays a pattern.
type maker struct {
	*behaviour.Stack
	byClock         bool // it does not follow the load
	typical, spread float64
}

// allocate adds a block. Zero or negative lives last an instant.
func (m *maker) allocate(born, life float64) {
	if born >= 0 && born < 1 {
		m.free(m.leak(born), born+max(life, 1e-7))
	}
}

// leak adds a block that is never freed.
func (m *maker) leak(born float64) behaviour.Block {
	return m.Alloc(born*m.Seconds, m.Size(m.typical, m.spread))
}

func (m *maker) free(b behaviour.Block, at float64) {
	if at < 1 {
		m.Free(b, at*m.Seconds)
	}
}

// when turns a share of the work into time.
func (m *maker) when(work float64) float64 {
	if m.byClock {
		return work
	}
	return m.WhenDone(work) / m.Seconds
}

// times draws instants of about n arrivals over the work from one share to another, ascending.
func (m *maker) times(n, from, to float64) []float64 {
	list := make([]float64, m.poisson(n))
	for i := range list {
		list[i] = m.when(from + (to-from)*m.Float64())
	}
	slices.Sort(list)
	return list
}

func (m *maker) between(low, high float64) float64 { return m.LogUniform(low, high) }
func (m *maker) within(low, high float64) float64  { return m.Uniform(low, high) }
func (m *maker) poisson(mean float64) int          { return m.Poisson(mean) }

// geometric is 1 or more, mean on average.
func (m *maker) geometric(mean float64) int {
	return 1 + int(math.Log(1-m.Float64())/math.Log(1-1/max(mean, 1.0001)))
}

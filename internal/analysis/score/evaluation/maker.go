package evaluation

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A pattern is a way in which a stack allocates.
type pattern struct {
	name  string
	truth truth
	make  func(*maker)
}

// A truth is what a pattern is.
type truth uint8

const (
	innocent truth = iota
	leaking
	// notFull is a cache that the run is too short to fill: nothing in the evidence tells it from a leak.
	notFull
)

// never is a death beyond every run.
const never = 2.0

// A maker makes the blocks of one site.
type maker struct {
	*rand.Rand
	load   *load // nil for a site that does not follow it
	size   sizes
	blocks []block
}

// allocate adds a block. Zero or negative lives last an instant.
func (m *maker) allocate(born, life float64) {
	if born >= 0 && born < 1 {
		m.blocks = append(m.blocks, block{born: born, died: born + max(life, 1e-7), size: m.size.next(m.Rand)})
	}
}

// leak adds a block that is never freed.
func (m *maker) leak(born float64) { m.allocate(born, never) }

// when turns a share of the work into time.
func (m *maker) when(work float64) float64 {
	if m.load == nil {
		return work
	}
	return m.load.at(work)
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

// between draws from [low, high], evenly by order of magnitude.
func (m *maker) between(low, high float64) float64 { return logUniform(m.Rand, low, high) }

// within draws from [low, high], evenly.
func (m *maker) within(low, high float64) float64 { return low + (high-low)*m.Float64() }

func (m *maker) poisson(mean float64) int {
	if mean > 50 {
		return max(0, int(math.Round(mean+math.Sqrt(mean)*m.NormFloat64())))
	}
	n, product, limit := 0, m.Float64(), math.Exp(-mean)
	for product > limit {
		n++
		product *= m.Float64()
	}
	return n
}

// geometric is 1 or more, mean on average.
func (m *maker) geometric(mean float64) int {
	return 1 + int(math.Log(1-m.Float64())/math.Log(1-1/max(mean, 1.0001)))
}

// sizes are the sizes of a site's blocks: mostly one, or a few, or spread.
type sizes struct {
	typical float64
	spread  float64 // standard deviation of the logarithm
}

func newSizes(r *rand.Rand) sizes {
	s := sizes{typical: logUniform(r, 16, 64<<10)}
	if r.Float64() < 0.4 {
		s.spread = 0.1 + 0.9*r.Float64()
	}
	return s
}

func (s *sizes) next(r *rand.Rand) uint64 {
	if s.spread == 0 {
		return uint64(s.typical)
	}
	return uint64(max(1, s.typical*math.Exp(s.spread*r.NormFloat64())))
}

package behaviour

import (
	"math"
	"slices"
)

// Work is the share of the run's work, from 0 to 1, that is done at an instant in seconds.
func (s *Stack) Work(at float64) float64 { return s.load.Work(at) }

// WhenDone is the instant in seconds at which a share of the run's work, from 0 to 1, is done.
func (s *Stack) WhenDone(work float64) float64 { return s.load.At(work) }

// Requests draws the instants of about n requests over the whole run, in seconds and ascending: many where the process
// is busy.
func (s *Stack) Requests(n float64) []float64 {
	list := make([]float64, s.Poisson(n))
	for i := range list {
		list[i] = s.load.At(s.Float64())
	}
	slices.Sort(list)
	return list
}

// Instants draws about n instants between from and to, in seconds and ascending, whatever the load is.
func (s *Stack) Instants(n, from, to float64) []float64 {
	list := make([]float64, s.Poisson(n))
	for i := range list {
		list[i] = from + (to-from)*s.Float64()
	}
	slices.Sort(list)
	return list
}

// Every returns the instants at which a timer with this period in seconds fires, ascending. jitter is by which share of
// the period each may be late or early.
func (s *Stack) Every(seconds, jitter float64) []float64 {
	var list []float64
	for at := seconds * s.Float64(); at < s.Seconds; at += seconds {
		list = append(list, max(0, at+seconds*jitter*(s.Float64()-0.5)))
	}
	slices.Sort(list)
	return list
}

// NextTick is when a timer with this period in seconds, which starts with the run, fires next after an instant.
func NextTick(at, seconds float64) float64 { return math.Ceil(at/seconds) * seconds }

// NextOrNever is the first of ascending instants that is not before at, Never if there is none.
func NextOrNever(instants []float64, at float64) float64 {
	if i, _ := slices.BinarySearch(instants, at); i < len(instants) {
		return instants[i]
	}
	return Never
}

// After is the first of ascending instants that is later than at; the value none if there is none.
func After(instants []float64, at, none float64) float64 {
	if i, _ := slices.BinarySearch(instants, math.Nextafter(at, math.Inf(1))); i < len(instants) {
		return instants[i]
	}
	return none
}

// LogUniform draws a number from low to high whose logarithm is uniformly distributed.
func (s *Stack) LogUniform(low, high float64) float64 { return Geometric(low, high, s.Float64()) }

// Uniform draws a number from low to high, uniformly.
func (s *Stack) Uniform(low, high float64) float64 { return low + (high-low)*s.Float64() }

// UniformInt draws a whole number from low to high, both included, uniformly.
func (s *Stack) UniformInt(low, high int) int { return low + s.IntN(high-low+1) }

// LogUniformInt draws a whole number from low to high whose logarithm is uniformly distributed.
func (s *Stack) LogUniformInt(low, high float64) int { return int(math.Round(s.LogUniform(low, high))) }

// Chance is true with the probability share, from 0 to 1.
func (s *Stack) Chance(share float64) bool { return s.Float64() < share }

// Exponential draws an exponentially distributed number with the given mean.
func (s *Stack) Exponential(mean float64) float64 { return mean * s.ExpFloat64() }

// LogNormal draws a positive number with the given median; spread is the standard deviation of its logarithm.
func (s *Stack) LogNormal(median, spread float64) float64 {
	return median * math.Exp(spread*s.NormFloat64())
}

// Size draws a size in bytes as LogNormal does about the typical one; spread 0 gives always that.
func (s *Stack) Size(typical, spread float64) int { return int(max(1, s.LogNormal(typical, spread))) }

// Poisson draws a Poisson distributed number of events with the given mean.
func (s *Stack) Poisson(mean float64) int {
	if mean > 50 {
		return max(0, int(math.Round(mean+math.Sqrt(mean)*s.NormFloat64())))
	}
	n, product, limit := 0, s.Float64(), math.Exp(-mean)
	for product > limit {
		n++
		product *= s.Float64()
	}
	return n
}

// Geometric goes from low to high as share goes from 0 to 1, by the same factor in each step.
func Geometric(low, high, share float64) float64 { return low * math.Exp(share*math.Log(high/low)) }

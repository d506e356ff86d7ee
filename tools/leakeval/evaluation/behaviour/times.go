package behaviour

import (
	"math"
	"slices"
)

// Work is the share of the run's work that is done at an instant, 0 to 1.
func (s *Stack) Work(at float64) float64 { return s.load.Work(at) }

// WhenDone is the instant at which a share of the run's work is done.
func (s *Stack) WhenDone(work float64) float64 { return s.load.At(work) }

// Requests are the instants of about n requests over the whole run, ascending: many where the process is busy.
func (s *Stack) Requests(n float64) []float64 {
	list := make([]float64, s.Poisson(n))
	for i := range list {
		list[i] = s.load.At(s.Float64())
	}
	slices.Sort(list)
	return list
}

// Instants are about n instants between two, ascending, whatever the load is.
func (s *Stack) Instants(n, from, to float64) []float64 {
	list := make([]float64, s.Poisson(n))
	for i := range list {
		list[i] = from + (to-from)*s.Float64()
	}
	slices.Sort(list)
	return list
}

// Every are the instants of a timer: one each so many seconds, late or early by a share of that.
func (s *Stack) Every(seconds, jitter float64) []float64 {
	var list []float64
	for at := seconds * s.Float64(); at < s.Seconds; at += seconds {
		list = append(list, max(0, at+seconds*jitter*(s.Float64()-0.5)))
	}
	slices.Sort(list)
	return list
}

// Tick is when a timer that fires each so many seconds fires next.
func Tick(at, seconds float64) float64 { return math.Ceil(at/seconds) * seconds }

// NextOrNever is the first of ascending instants that is not before an instant, Never where there is none.
func NextOrNever(instants []float64, at float64) float64 {
	if i, _ := slices.BinarySearch(instants, at); i < len(instants) {
		return instants[i]
	}
	return Never
}

// After is the first of ascending instants that is later than an instant, or what stands for none.
func After(instants []float64, at, none float64) float64 {
	if i, _ := slices.BinarySearch(instants, math.Nextafter(at, math.Inf(1))); i < len(instants) {
		return instants[i]
	}
	return none
}

// Between draws a number, evenly by order of magnitude.
func (s *Stack) Between(low, high float64) float64 { return Geometric(low, high, s.Float64()) }

// Within draws a number, evenly.
func (s *Stack) Within(low, high float64) float64 { return low + (high-low)*s.Float64() }

// Whole draws a whole number from low to high, both included.
func (s *Stack) Whole(low, high int) int { return low + s.IntN(high-low+1) }

// WholeBetween draws a whole number, evenly by order of magnitude.
func (s *Stack) WholeBetween(low, high float64) int { return int(math.Round(s.Between(low, high))) }

// Chance is true so often.
func (s *Stack) Chance(share float64) bool { return s.Float64() < share }

// Exponential draws a time with a mean and no memory.
func (s *Stack) Exponential(mean float64) float64 { return mean * s.ExpFloat64() }

// Around draws a positive number about a median; spread is the standard deviation of its logarithm.
func (s *Stack) Around(median, spread float64) float64 {
	return median * math.Exp(spread*s.NormFloat64())
}

// Size draws a size in bytes about a typical one; spread 0 gives always the same.
func (s *Stack) Size(typical, spread float64) int { return int(max(1, s.Around(typical, spread))) }

// Poisson draws how many events happen where so many are expected.
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

package hidden

import (
	"math"
	"slices"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// sizes draws how large the blocks of a stack are: all the same, of a few classes, or spread.
func sizes(s *behaviour.Stack, low, high float64) func() int {
	typical := s.LogUniform(low, high)
	switch s.IntN(3) {
	case 0:
		return func() int { return int(typical) }
	case 1:
		classes := []int{int(typical), int(typical * 1.5), int(typical * 2), int(typical * 4)}
		return func() int { return classes[s.IntN(len(classes))] }
	}
	spread := s.Uniform(0.1, 1)
	return func() int { return s.Size(typical, spread) }
}

// atWork are n instants between two shares of the work, ascending.
func atWork(s *behaviour.Stack, n int, from, to float64) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = s.WhenDone(s.Uniform(from, to))
	}
	slices.Sort(list)
	return list
}

// atTime are n instants between two shares of the time, ascending.
func atTime(s *behaviour.Stack, n int, from, to float64) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = s.Seconds * s.Uniform(from, to)
	}
	slices.Sort(list)
	return list
}

// rising are n instants that get denser to the end of the run, ascending. The density at the end is power times the
// mean one.
func rising(s *behaviour.Stack, n int, power float64) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = s.Seconds * math.Pow(s.Float64(), 1/power)
	}
	slices.Sort(list)
	return list
}

// waves are n instants whose density swings a few times in the run, ascending.
func waves(s *behaviour.Stack, n int) []float64 {
	swings, phase, depth := s.Uniform(1.5, 6), s.Float64(), s.Uniform(0.4, 1)
	list := make([]float64, 0, n)
	for len(list) < n {
		t := s.Float64()
		if s.Chance((1 + depth*math.Sin(2*math.Pi*(swings*t+phase))) / 2) {
			list = append(list, t*s.Seconds)
		}
	}
	slices.Sort(list)
	return list
}

// bouts are instants of separate events between two shares of the time or of the work. Two neighbours are never close,
// so that each is an event of its own.
func bouts(s *behaviour.Stack, low, high int, from, to float64) []float64 {
	list, sum, byWork := make([]float64, s.UniformInt(low, high)), 0.0, s.Chance(0.5)
	for i := range list {
		sum += s.Uniform(0.6, 1.4)
		list[i] = sum
	}
	sum += s.Uniform(0.2, 0.8)
	for i, x := range list {
		list[i] = share(s, from+(to-from)*x/sum, byWork)
	}
	return list
}

// share is the instant at a share of the work or of the time.
func share(s *behaviour.Stack, x float64, byWork bool) float64 {
	if byWork {
		return s.WhenDone(x)
	}
	return x * s.Seconds
}

// early is the instant at which neither more of the time nor more of the work than a share is over.
func early(s *behaviour.Stack, x float64) float64 { return min(s.WhenDone(x), x*s.Seconds) }

// phases are instants, ascending, of which the first is near the start and the last before 0.8 of the time and of the
// work.
func phases(s *behaviour.Stack, low, high int) []float64 {
	n, last := s.UniformInt(low, high), s.Uniform(0.55, 0.78)
	list := make([]float64, n)
	for i := range list {
		x := last
		if i < n-1 {
			x = last * (float64(i) + s.Uniform(0.05, 0.85)) / float64(n-1)
		}
		list[i] = early(s, x)
	}
	return list
}

// held draws for how many seconds each of n blocks lives on average, so that about so many at most are live on average.
func held(s *behaviour.Stack, n int, most float64) float64 {
	return min(s.LogUniform(1e-5, 0.025), most/float64(n)) * s.Seconds
}

// churn makes blocks that live for about so long, but for the lost ones. A nil list of lost ones loses none.
func churn(s *behaviour.Stack, instants []float64, mean float64, size func() int, lost []bool) {
	for i, at := range instants {
		if i < len(lost) && lost[i] {
			s.Alloc(at, size())
		} else {
			s.AllocFor(at, s.Exponential(mean), size())
		}
	}
}

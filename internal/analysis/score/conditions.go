package score

import "math"

// sums divide n intervals into at most most groups of nearly equal number: group g is [from(g), from(g+1)).
type sums struct{ n, groups int }

func sumsOf(n, most int) sums { return sums{n, min(n, most)} }

func (s sums) from(g int) int { return g * s.n / s.groups }

// of adds values up by group.
func (s sums) of(v []float64) []float64 {
	out := make([]float64, s.groups)
	for g := range out {
		for i := s.from(g); i < s.from(g+1); i++ {
			out[g] += v[i]
		}
	}
	return out
}

// mostOdds bounds odds.
const mostOdds = 20

// odds is how much more likely growth is that goes on than growth that fell off or came in a few bursts, as a
// logarithm.
func (s *shape) odds() float64 {
	if *s == (shape{}) {
		return -mostOdds
	}
	return min(max(math.Log((s.leak+s.recent)/(s.fill+s.once)), -mostOdds), mostOdds)
}

// A clock is something by whose progress growth may be steady.
type clock struct {
	words  string    // how growth goes that is steady by it
	shares []float64 // of each interval, 1 in all
}

// How growth goes that is steady by the work of the process, and by time.
const (
	inStepWithWork = "in step with the process's work"
	atSteadyRate   = "at a steady rate"
)

// alike is how much two clocks may differ, in shares of the whole, for one to tell what the other would.
const alike = 0.02

// A reading is how growth looks by the clock by which it is most like a leak's.
type reading struct {
	odds  float64
	shape shape
	clock string
}

// read compares what came in sums of intervals with each clock.
func read(came []float64, s sums, clocks []clock) (best reading) {
	best.odds = -mostOdds
	d := s.of(came)
	var first []float64
	for k, c := range clocks {
		e := s.of(c.shares)
		if k == 0 {
			first = e
		} else if distance(first, e) < alike {
			continue
		}
		shape := judge(d, e)
		odds := shape.odds()
		if k == 0 || odds > best.odds || odds == best.odds && shape.leak > best.shape.leak {
			best = reading{odds, shape, c.words}
		}
	}
	return best
}

func distance(a, b []float64) (sum float64) {
	for i := range a {
		sum += math.Abs(a[i] - b[i])
	}
	return sum
}

package score_test

import (
	"math"
	"testing"

	"heapdrift/internal/analysis/score"
)

// near reports whether two loads are equal but for rounding.
func near(a, b []float64) bool {
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-9 {
			return false
		}
	}
	return len(a) == len(b)
}

func TestClock(t *testing.T) {
	var c score.Clock
	busyFirst, busyLast := score.ProfileOf([]float64{30, 10, 0, 0}), score.ProfileOf([]float64{0, 0, 4, 4})
	for range 3 {
		c.Add(busyFirst)
	}
	c.Add(busyLast)
	// Three of the other signatures worked first; the load must not contain the fourth, which it is to explain.
	if got, want := c.Without(&busyLast, 4),
		[]float64{0.97*0.75 + 0.0075, 0.97*0.25 + 0.0075, 0.0075, 0.0075}; !near(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	even := []float64{0.25, 0.25, 0.25, 0.25}
	var two score.Clock
	two.Add(busyFirst)
	two.Add(busyFirst)
	if got := two.Without(&score.AllocationProfile{}, 4); !near(got, even) {
		t.Errorf("two signatures tell %v", got)
	}
	two.Fallback = []float64{0, 0, 1, 0}
	if got := two.Without(&score.AllocationProfile{}, 4); !near(got, []float64{0.0075, 0.0075, 0.9775, 0.0075}) {
		t.Errorf("beside a timeline two signatures tell %v", got)
	}
	if got := c.Without(&score.AllocationProfile{}, 5); !near(got, []float64{0.2, 0.2, 0.2, 0.2, 0.2}) {
		t.Errorf("of other intervals: %v", got)
	}
	// Too few blocks tell nothing of the load, and blocks that came nearly all at once tell only of the start.
	for name, came := range map[string][]float64{"two blocks": {1, 1, 0, 0}, "a start": {90, 10, 1, 0}} {
		var none score.Clock
		for range 5 {
			none.Add(score.ProfileOf(came))
		}
		if got := none.Without(&score.AllocationProfile{}, 4); !near(got, even) {
			t.Errorf("%s: %v", name, got)
		}
	}
	var some score.Clock
	for range 5 {
		some.Add(score.ProfileOf([]float64{80, 20, 0, 0}))
	}
	if got := some.Without(&score.AllocationProfile{}, 4); near(got, even) {
		t.Errorf("80 of 100 tell %v", got)
	}
}

func TestSharesOfSeries(t *testing.T) {
	for name, s := range map[string]*score.Series{"followed": stays(5, 8, 8, 20), "counted": counted(5, 8, 2, 14)} { // 3 and 12
		var c score.Clock
		for range 3 {
			c.Add(score.ProfileOfSeries(s))
		}
		if got := c.Without(&score.AllocationProfile{}, 3); !near(got, []float64{0.97*0.2 + 0.01, 0.01, 0.97*0.8 + 0.01}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

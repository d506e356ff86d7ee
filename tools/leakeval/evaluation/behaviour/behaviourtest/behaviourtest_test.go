package behaviourtest

import (
	"math"
	"math/rand/v2"
	"testing"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// A block that is freed when another is born is not live beside it; both ends of a stretch belong to it.
func TestMostLive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := behaviour.NewStack(r, behaviour.NewLoad(r, 3600))
	s.AllocFor(0, 10, 8)
	s.AllocFor(10, 10, 8)
	s.AllocFor(15, 15, 8)
	s.Alloc(40, 8)
	for _, c := range []struct {
		from, to float64
		want     int
	}{{0, 10, 1}, {0, 14.9, 1}, {0, 15, 2}, {16, 19, 2}, {20, 30, 1}, {30, 39, 0}, {30, 40, 1}, {50, math.Inf(1), 1}} {
		if got := mostLive(s, c.from, c.to); got != c.want {
			t.Errorf("from %g to %g: %d, want %d", c.from, c.to, got, c.want)
		}
	}
}

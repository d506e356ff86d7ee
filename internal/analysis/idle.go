package analysis

import (
	"slices"

	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis/score"
)

// A stretch of a trace is idle where less than idleShare of what happens in the busy quarter of stretches does. Where a
// timeline has fewer than idleLeast points, nothing can be told.
const (
	idleShare = 0.05
	idleLeast = 4 * allocations.SurvivalBins
)

// An idleness knows when the process of a trace did next to nothing, by how often its outstanding memory changed.
type idleness struct {
	trace *Trace
	known map[[2]int64]*score.Idle // by the time that survivals are of
}

func newIdleness(t *Trace) *idleness { return &idleness{t, map[[2]int64]*score.Idle{}} }

// of says which stretches of a survival are idle; nil where that cannot be told.
func (d *idleness) of(v *allocations.Survival) *score.Idle {
	key := [2]int64{v.From, v.Over}
	idle, ok := d.known[key]
	if !ok {
		idle = d.trace.idle(v)
		d.known[key] = idle
	}
	return idle
}

func (t *Trace) idle(v *allocations.Survival) *score.Idle {
	if v.Over <= v.From {
		return nil
	}
	var changes [allocations.SurvivalBins]int
	all := 0
	for _, line := range []*Timeline{&t.Heap, &t.Virtual} {
		for _, at := range line.AtNS {
			if at >= v.From && at <= v.Over {
				changes[v.Bin(at)]++
				all++
			}
		}
	}
	if all < idleLeast {
		return nil
	}
	busy := slices.Sorted(slices.Values(changes[:]))[allocations.SurvivalBins*3/4]
	idle := &score.Idle{}
	for i, n := range changes {
		idle[i] = float64(n) < idleShare*float64(busy)
	}
	if !slices.Contains(idle[:], true) {
		return nil
	}
	return idle
}

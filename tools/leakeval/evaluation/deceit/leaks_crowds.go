package deceit

import (
	"math"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var leaksOfCrowds = []behaviour.Behaviour{
	behaviour.NewLeak("CAD: undo steps beyond the longest history, of which grouped ones keep their child",
		"Once the history is full a step pushes out the oldest; where that was a group its child stays behind.", undoTrimmed),
	behaviour.NewLeak("browser: nodes of tabs that grow by attachment, a few of which outlive the tab",
		"A tab gets nodes in proportion to those it has; a closed tab frees all but those held by listeners.", tabsClosed),
	behaviour.NewLeak("database: plans replaced at random, of which those in use are detached for ever",
		"A plan that runs while its place is given away is never freed; that is under one in a hundred.", plansDetached),
	behaviour.NewLeak("trading system: history of fills that grows by constant steps among vectors of sessions",
		"One vector is reallocated for as long as orders are filled; many others grow as well and are freed.", fillsAppended),
}

func undoTrimmed(s *behaviour.Stack) {
	size, times := sizes(s, 100, 20000), s.Requests(s.LogUniform(130, 2500))
	longest := int(float64(len(times)) * s.Uniform(0.1, 0.45))
	trimmed := len(times) - longest
	isLost := s.Picked(trimmed, min(s.LogUniformInt(18, 80), trimmed/3))
	for i, at := range times {
		step := s.Alloc(at, size())
		switch {
		case i >= trimmed:
			s.Free(step, afterEnd(s))
		case !isLost[i]:
			s.Free(step, times[i+longest])
		}
	}
}

func tabsClosed(s *behaviour.Stack) {
	size, nodes := sizes(s, 40, 900), s.Requests(s.LogUniform(700, 6000))
	tabs, closings := make([][]behaviour.Block, s.UniformInt(3, 12)), bouts(s, s.UniformInt(22, 60), 0.02)
	var freed []behaviour.Block
	closed := 0
	for i, at := range nodes {
		for closed < len(closings) && closings[closed] <= at {
			k := s.IntN(len(tabs))
			s.FreeAll(tabs[k], closings[closed])
			freed, tabs[k] = append(freed, tabs[k]...), nil
			closed++
		}
		// All nodes that are open and one more of each tab have the same chance to be the parent.
		k := 0
		for pick := s.IntN(i - len(freed) + len(tabs)); pick > len(tabs[k]); k++ {
			pick -= len(tabs[k]) + 1
		}
		tabs[k] = append(tabs[k], s.Alloc(at, size()))
	}
	for _, tab := range tabs {
		freeAfterEnd(s, tab)
	}
	lose(s, freed, s.LogUniformInt(24, 140))
}

func plansDetached(s *behaviour.Stack) {
	size, times := sizes(s, 800, 40000), s.Requests(s.LogUniform(2500, 14000))
	plans := make([]behaviour.Block, s.LogUniformInt(60, float64(len(times))/5))
	var replaced []behaviour.Block
	for i, at := range times {
		k := i
		if i >= len(plans) {
			// Squaring makes some places change hands all the time and others hardly ever.
			k = int(float64(len(plans)) * math.Pow(s.Float64(), 2))
			s.Free(plans[k], at)
			replaced = append(replaced, plans[k])
		}
		plans[k] = s.Alloc(at, size())
	}
	freeAfterEnd(s, plans)
	lose(s, replaced, s.LogUniformInt(18, float64(len(times))/110))
}

func fillsAppended(s *behaviour.Stack) {
	size, step := sizes(s, 400, 8000), s.LogUniformInt(500, 8000)
	growths := bouts(s, s.UniformInt(12, 45), s.Uniform(0, 0.3))
	history := s.Alloc(growths[0], step)
	for i, at := range growths[1:] {
		history = s.Resize(history, at, step*(i+2))
	}
	life := s.Seconds * s.LogUniform(0.003, 0.05)
	for _, at := range s.Requests(s.LogUniform(60, 700)) {
		bytes, left := size(), at+s.Exponential(life)
		vector := s.Alloc(at, bytes)
		for range s.UniformInt(0, 6) {
			at += (left - at) * s.Uniform(0.1, 0.5)
			bytes += size()
			vector = s.Resize(vector, at, bytes)
		}
		s.Free(vector, left)
	}
}

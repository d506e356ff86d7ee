package deceit

import (
	"cmp"
	"slices"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var leaksOfRequests = []behaviour.Behaviour{
	behaviour.NewLeak("mail server: notices about bounced notices, of which a few lose their envelope",
		"Notices beget notices, and some from the third generation on are never taken off the list.", bouncedNotices),
	behaviour.NewLeak("database: sort areas of two statements that end in the same instant",
		"Where two statements end at once one forgets its area, so that losses go with the square of the load.", sortsAtOnce),
	behaviour.NewLeak("trading system: amended orders that are matched while they are being amended",
		"Since a new market was opened, a few orders that were reallocated on amendment are not freed any more.",
		amendedOrders),
	behaviour.NewLeak("telephone exchange: legs of calls that both sides hang up at once, since a reroute",
		"After calls were routed over a second gateway, simultaneous hang-ups leave a record behind.", callsHungUp),
	behaviour.NewLeak("compiler server: symbols of a finite language, beside scopes lost on syntax errors",
		"Names of a code base are interned until all were seen; some failing parses lose their scope all along.",
		symbolsAndScopes),
	behaviour.NewLeak("game: scenery loaded ahead is dropped piece by piece, and decals are forgotten meanwhile",
		"What was loaded at the start is freed as the player moves on, faster than the few lost decals add up.",
		sceneryDropped),
}

func bouncedNotices(s *behaviour.Stack) {
	size, mean := sizes(s, 60, 4000), s.Uniform(0.55, 0.85)
	life := lives(s, s.Seconds*s.LogUniform(0.0005, 0.008), s.Seconds/20)
	type notice struct {
		block      behaviour.Block
		ends       float64
		generation int
	}
	var all, far []notice
	for _, at := range s.Requests(s.LogUniform(350, 1500)) {
		ends := at + life()
		all = append(all, notice{s.AllocFor(at, ends-at, size()), ends, 0})
	}
	for len(all) > 0 {
		parent := all[len(all)-1]
		all = all[:len(all)-1]
		if parent.generation >= 3 {
			far = append(far, parent)
		}
		for range s.Poisson(mean) {
			// What comes of a notice after the end of the run does not count.
			if parent.ends < s.Seconds && len(s.Allocations()) < 25000 {
				ends := parent.ends + life()
				child := s.AllocFor(parent.ends, ends-parent.ends, size())
				all = append(all, notice{child, ends, parent.generation + 1})
			}
		}
	}
	for i, isLost := range s.Picked(len(far), s.LogUniformInt(20, 95)) {
		if isLost {
			s.Free(far[i].block, behaviour.Never)
		}
	}
}

func sortsAtOnce(s *behaviour.Stack) {
	size, times := sizes(s, 500, 60000), s.Requests(s.LogUniform(900, 7000))
	life := lives(s, min(s.Seconds*s.LogUniform(0.0005, 0.01), 150*s.Seconds/float64(len(times))), s.Seconds/10)
	type statement struct {
		block behaviour.Block
		gap   float64
	}
	list := make([]statement, 0, len(times))
	for i, at := range times[:len(times)-1] {
		list = append(list, statement{s.AllocFor(at, life(), size()), times[i+1] - at})
	}
	slices.SortFunc(list, func(a, b statement) int { return cmp.Compare(a.gap, b.gap) })
	for _, st := range list[:s.LogUniformInt(25, 95)] {
		s.Free(st.block, behaviour.Never)
	}
}

func amendedOrders(s *behaviour.Stack) {
	size, n := sizes(s, 80, 600), s.LogUniform(3500, 22000)
	shortest, tail, share := s.Seconds*s.LogUniform(0.0001, 0.001), s.Uniform(0.7, 1.4), s.Uniform(0.03, 0.1)
	since := s.WhenDone(s.Uniform(0, 0.5))
	var amended []behaviour.Block
	for _, at := range s.Requests(n) {
		life := heavy(s, shortest, s.Seconds/12, tail)
		order := s.Alloc(at, size())
		if s.Chance(share) {
			order = s.Resize(order, at+life*s.Float64(), size())
			if at > since {
				amended = append(amended, order)
			}
		}
		s.Free(order, at+life)
	}
	lose(s, amended, s.LogUniformInt(24, 60))
}

func callsHungUp(s *behaviour.Stack) {
	size, rerouted := sizes(s, 200, 6000), s.WhenDone(s.Uniform(0.25, 0.5))
	times := s.Requests(s.LogUniform(3500, 15000))
	life := lives(s, min(s.Seconds*s.LogUniform(0.001, 0.02), 400*s.Seconds/float64(len(times))), s.Seconds/9)
	first, _ := slices.BinarySearch(times, rerouted)
	isLost := s.Picked(len(times)-first, s.LogUniformInt(26, 95))
	for i, at := range times {
		leg := s.Alloc(at, size())
		if i < first || !isLost[i-first] {
			s.Free(leg, at+life())
		}
	}
}

func symbolsAndScopes(s *behaviour.Stack) {
	size := sizes(s, 24, 400)
	for _, at := range firstUses(s, s.LogUniformInt(100, 1200), s.Uniform(4, 9), s.Uniform(0.35, 0.65)) {
		s.Alloc(s.WhenDone(at), size())
	}
	times := s.Requests(s.LogUniform(400, 6000))
	life := lives(s, s.Seconds*s.LogUniform(0.0003, 0.005), s.Seconds/10)
	for i, isLost := range s.Picked(len(times), s.LogUniformInt(28, 110)) {
		scope := s.AllocFor(times[i], life(), size())
		if isLost {
			s.Free(scope, behaviour.Never)
		}
	}
}

func sceneryDropped(s *behaviour.Stack) {
	size, loaded := sizes(s, 100, 30000), s.Seconds*s.Uniform(0.01, 0.05)
	slowness := s.Uniform(0.25, 0.6)
	for range s.LogUniformInt(250, 2500) {
		left := s.WhenDone(min(s.Exponential(slowness), s.Uniform(0.9, 1.05)))
		piece := s.Alloc(loaded*s.Float64(), size())
		s.Free(piece, max(left, loaded))
	}
	times := s.Requests(s.LogUniform(250, 3000))
	life := lives(s, s.Seconds*s.LogUniform(0.001, 0.01), s.Seconds/10)
	// Some games lose decals only from a later chapter on.
	first := int(float64(len(times)) * max(0, s.Uniform(-0.4, 0.5)))
	isLost := s.Picked(len(times)-first, s.LogUniformInt(24, 90))
	for i, at := range times {
		decal := s.AllocFor(at, life(), size())
		if i >= first && isLost[i-first] {
			s.Free(decal, behaviour.Never)
		}
	}
}

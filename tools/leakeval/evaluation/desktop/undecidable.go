package desktop

import (
	"math"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var undecidable = []behaviour.Behaviour{
	behaviour.NewUndecidable("browser: memory cache of addresses that is far from its limit",
		"The limit is larger than what the user visits in the run, so that nothing shows that there is one.", addressCache),
	behaviour.NewUndecidable("script engine: property names are interned while pages bring ever new ones",
		"The vocabulary ends some time, but new names become rarer only slowly and the run ends before.", propertyNames),
	behaviour.NewUndecidable("add-in: two to four lots of blocks that stay",
		"They are features in their first use or failures that leak; so few lots do not tell which.", fewLots),
	behaviour.NewUndecidable("drawing program: undo history with a limit that the user does not reach",
		"The limit would stop the growth after the run; within it each step stays, as it would without a limit.", deepUndo),
	behaviour.NewUndecidable("print spooler: pages wait for a printer that is paused until after the run",
		"The pages are freed when the printer goes on, which the run does not see.", pausedPrinter),
	behaviour.NewUndecidable("document windows that stay open for a large part of the day",
		"Windows live for longer than a quarter of the run, so that those which are open look like those never freed.",
		longWindows),
	behaviour.NewUndecidable(".NET interop: old wrappers wait for a full collection that does not come",
		"The managed heap is small and gives no reason for a full collection, so nothing shows that one would free them.",
		waitingWrappers),
}

func addressCache(s *behaviour.Stack) {
	c := cache{s: s, limit: 6000}
	pages := s.LogUniform(60, 3000)
	typical, again := s.LogUniform(300, 9000), s.Uniform(0.1, 0.6)
	address := 0
	for _, at := range s.Requests(pages) {
		if !s.Chance(again) {
			address++
		}
		c.use(at, max(address-popular(s, address+1), 0), s.Size(typical, 1))
		c.use(at, address, s.Size(typical, 1))
	}
	c.close()
}

func propertyNames(s *behaviour.Stack) {
	slows := s.Uniform(0.55, 0.95) // the number of names is as this power of the work
	for range s.Poisson(s.LogUniform(80, 3500)) {
		at := s.WhenDone(math.Pow(s.Float64(), 1/slows))
		s.Free(s.Alloc(at, s.Size(32, 0.4)), shutdown(s))
	}
}

func fewLots(s *behaviour.Stack) {
	for _, at := range spaced(s, s.UniformInt(2, 4), 0.1) {
		lasts := s.Seconds * s.LogUniform(0.0001, 0.03)
		s.Burst(int(s.LogUniform(8, 400)), at, lasts, s.Sizes(200, 0.5))
	}
	s.Churn(s.Requests(s.LogUniform(1, 5000)), 0.5, s.Sizes(200, 0.5))
}

func deepUndo(s *behaviour.Stack) {
	typical, undone := s.LogUniform(60, 3000), s.LogUniform(0.005, 0.1)
	var steps []behaviour.Block
	for _, at := range s.Requests(s.LogUniform(80, 3500)) {
		if s.Chance(undone) && len(steps) > 0 {
			last := len(steps) - 1
			s.Free(steps[last], at)
			steps = steps[:last]
		}
		steps = append(steps, s.Alloc(at, s.Size(typical, 0.8)))
	}
	s.FreeAll(steps, shutdown(s))
}

func pausedPrinter(s *behaviour.Stack) {
	prints := s.UniformInt(20, 200)
	pages := s.LogUniform(1, 3500/float64(prints))
	paused := s.WhenDone(s.Uniform(0, 0.45))
	for _, at := range spaced(s, prints, 0) {
		for i := range 1 + s.Poisson(pages) {
			b := s.Alloc(at+0.05*float64(i), s.Size(2500, 0.7))
			if at < paused {
				s.Free(b, at+3+float64(i))
				continue
			}
			s.Free(b, s.Seconds*s.Uniform(1.03, 1.4))
		}
	}
}

func longWindows(s *behaviour.Stack) {
	windows, each := s.LogUniform(25, 400), s.UniformInt(1, 8)
	for _, at := range s.Requests(windows) {
		closed := at + s.Seconds*s.Uniform(0.35, 1.8)
		for range each {
			s.Free(s.Alloc(at+s.Float64(), s.Size(900, 0.9)), closed)
		}
	}
}

func waitingWrappers(s *behaviour.Stack) {
	calls, small := s.LogUniform(200, 9000), spaced(s, s.UniformInt(15, 90), 0)
	share, full := max(s.LogUniform(0.02, 0.3), 30/calls), s.Seconds*s.Uniform(1.03, 2)
	bytes := s.UniformInt(80, 360)
	for _, at := range s.Requests(calls) {
		b := s.Alloc(at, bytes)
		if s.Chance(share) { // it was in use during two small collections and is old now
			s.Free(b, full)
			continue
		}
		s.Free(b, following(s, small, at))
	}
}

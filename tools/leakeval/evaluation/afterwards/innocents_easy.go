package afterwards

import (
	"math"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var innocentsEasy = []behaviour.Behaviour{
	behaviour.NewInnocent("proxy: header buffers end with the reply",
		"Each buffer belongs to one exchange and is freed with it.", headerBuffers),
	behaviour.NewInnocent("text editor: shaped runs in a least recently used cache",
		"The cache has a bound that it reaches early, and it evicts one run for each new one.", shapedRuns),
	behaviour.NewInnocent("desktop shell: class objects and tables of its extensions on first use",
		"Each extension is loaded once and there is a fixed number of them.", shellExtensions),
	behaviour.NewInnocent("image editor: undo steps up to the limit of the history",
		"The oldest step is dropped when a new one exceeds the limit.", undoSteps),
	behaviour.NewInnocent("database client: connections of a pool, and extra ones when it is exhausted",
		"The pool has a bound; connections beyond it are closed after use.", connectionPool),
	behaviour.NewInnocent("log writer: a buffer is filled while the one before it is written",
		"A buffer is freed as soon as it is on disk.", logBuffers),
	behaviour.NewInnocent("game: everything of a level is in its arena",
		"The arena is freed as a whole when the level ends.", levelArena),
	behaviour.NewInnocent("web shop: carts that expire soon after the last click",
		"A cart is freed by a timer after a small part of the run.", carts),
	behaviour.NewInnocent("audio driver's helper: lookup tables double until all formats are in",
		"There are only so many formats, so that the doubling ends within the run.", formatTables),
}

func headerBuffers(s *behaviour.Stack) {
	pass(s, s.Requests(s.LogUniform(400, 15_000)), sizes(s, 128, 16_000), lives(s, 0.0002, 0.01), none)
}

func shapedRuns(s *behaviour.Stack) {
	bound := int(s.LogUniform(30, 400))
	n := float64(bound) * s.Uniform(10, 30)
	recent(s, s.Requests(n), bound, float64(bound)*s.LogUniform(3, 12), s.Uniform(1, 2), sizes(s, 100, 6000))
}

func shellExtensions(s *behaviour.Stack) {
	bytes, mean := sizes(s, 32, 4000), s.LogUniform(0.01, 0.08)
	for range int(s.LogUniform(15, 400)) {
		s.Alloc(s.WhenDone(min(s.Exponential(mean), s.Uniform(0.3, 0.4))), bytes())
	}
}

func undoSteps(s *behaviour.Stack) {
	c := &cache{s: s, bound: int(s.LogUniform(20, 500))}
	bytes, oldest := sizes(s, 500, 200_000), -1
	for _, at := range s.Requests(float64(c.bound) * s.Uniform(4, 16)) {
		c.put(at, bytes(), func(n int) int {
			oldest = (oldest + 1) % n
			return oldest
		})
	}
}

func connectionPool(s *behaviour.Stack) {
	bound := int(s.LogUniform(12, 200))
	n := max(float64(bound)*s.Uniform(15, 40), 600)
	// Twice the bound and more are wanted on average, so that the bound is met early.
	hold := s.Seconds * float64(bound) * s.Uniform(1.5, 4) / n
	s.UseHeap(s.UniformInt(0, 2))
	bytes := sizes(s, 600, 30_000)
	var busyUntil []float64
	for _, at := range s.Requests(n) {
		until, isServed := at+s.Exponential(hold), false
		for i := range busyUntil {
			if busyUntil[i] <= at {
				busyUntil[i], isServed = until, true
				break
			}
		}
		switch {
		case isServed:
		case len(busyUntil) < bound:
			busyUntil = append(busyUntil, until)
			s.Alloc(at, bytes())
		default:
			s.AllocFor(at, min(until-at, hold), bytes())
		}
	}
}

func logBuffers(s *behaviour.Stack) {
	period := s.Seconds / s.LogUniform(60, 3000)
	bytes, writing := sizes(s, 4096, 262_144), period*s.Uniform(0.05, 1.2)
	for _, at := range s.Every(period, s.Uniform(0, 0.3)) {
		s.AllocFor(at, period+s.Exponential(writing), bytes())
	}
}

func levelArena(s *behaviour.Stack) {
	levels, per := s.UniformInt(8, 30), s.LogUniform(15, 400)
	begins := whenDone(s, spread(s, levels, 0, 1))
	s.UseHeap(s.UniformInt(1, 3))
	bytes, loading := sizes(s, 64, 8000), s.Uniform(0.05, 0.9)
	for _, begin := range begins {
		end := after(s, begins, begin)
		for _, at := range s.Instants(per, begin, begin+loading*(min(end, s.Seconds)-begin)) {
			s.Free(s.Alloc(at, bytes()), end)
		}
	}
}

func carts(s *behaviour.Stack) {
	timeout, clicking := s.Seconds*s.LogUniform(0.015, 0.08), lives(s, 0.001, 0.01)
	pass(s, s.Requests(s.LogUniform(150, 4000)), sizes(s, 200, 9000), func() float64 { return timeout + clicking() }, none)
}

func formatTables(s *behaviour.Stack) {
	for range s.UniformInt(1, 6) {
		doublings, last, bytes := s.UniformInt(5, 12), s.Uniform(0.15, 0.5), s.UniformInt(2, 16)*32
		b := s.Alloc(0.001*s.Seconds*s.Float64(), bytes)
		for i := doublings - 1; i >= 0; i-- {
			bytes *= 2
			b = s.Resize(b, s.WhenDone(last*math.Pow(0.5, float64(i)*s.Uniform(0.9, 1))), bytes)
		}
	}
}

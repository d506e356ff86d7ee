package hidden

import (
	"math"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// innocentStores free late and many blocks at once.
var innocentStores = []behaviour.Behaviour{
	behaviour.NewInnocent("script server: a collector with three generations, whose full collections are rare",
		"Objects that outlive two collections wait for a full one, of which the run has seven or more.", generations),
	behaviour.NewInnocent("log server: buffers wait for a batch that is written at irregular times",
		"A batch frees all buffers that are there, some after the next batch; no wait is longer than a seventh.", logBatches),
	behaviour.NewInnocent("mail client: deleted mails are freed when the store is compacted, at irregular times",
		"A mail waits for the user to delete it and for the compaction after that, and both come in time.", compactions),
	behaviour.NewInnocent("text editor: undo history with a limit, which is reached by a third of the run",
		"Each new step beyond the limit frees the oldest one.", undoHistory),
}

// generations frees an object in the first collection of its generation after its death.
func generations(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	full := s.UniformInt(7, 11)
	middle, young := s.UniformInt(2, 5), s.UniformInt(2, 6)
	// The run is a whole number of full collections and a part of one, each of so many middle and young ones.
	minor := s.Seconds / ((float64(full) + s.Uniform(0.1, 0.9)) * float64(middle*young))
	size := sizes(s, 24, 1500)
	for range s.LogUniformInt(5, 400) {
		s.Alloc(s.Seconds*0.03*s.Float64(), size())
	}
	lives := [3]float64{s.LogUniform(1e-4, 0.003), s.LogUniform(0.004, 0.02), s.LogUniform(0.02, 0.08)}
	old, older := s.Uniform(0.03, 0.3), s.Uniform(0.01, 0.1)
	for _, at := range atWork(s, s.LogUniformInt(800, 10000), 0, 1) {
		life := lives[0]
		switch x := s.Float64(); {
		case x < older:
			life = lives[2]
		case x < older+old:
			life = lives[1]
		}
		died, every := at+min(s.Exponential(life)*s.Seconds, s.Seconds/8), minor
		if died > behaviour.NextTick(at, every) {
			every *= float64(young)
		}
		if died > behaviour.NextTick(at, every) {
			every *= float64(middle)
		}
		s.Free(s.Alloc(at, size()), behaviour.NextTick(died, every))
	}
}

// irregular are instants of batches, ascending, the last of them beyond the end. No gap is longer than a share of the
// run.
func irregular(s *behaviour.Stack, low, high int, longest float64) []float64 {
	mean := s.Seconds / float64(s.UniformInt(low, high))
	var list []float64
	for at := 0.0; at <= s.Seconds; {
		at += min(s.LogNormal(mean, 0.9), longest*s.Seconds)
		list = append(list, at)
	}
	return list
}

// logBatches free all that waits, some of it a batch later.
func logBatches(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	batches, n := irregular(s, 12, 60, 0.125), s.LogUniformInt(100, 9000)
	size, late := sizes(s, 100, 16000), s.Uniform(0, 0.15)
	for _, at := range atWork(s, n, 0, 1) {
		freed := behaviour.NextOrNever(batches, at)
		if s.Chance(late) {
			freed += min(s.Exponential(s.Seconds/50), s.Seconds/10)
		}
		s.Free(s.Alloc(at, size()), freed)
	}
}

// compactions free what was deleted before them.
func compactions(s *behaviour.Stack) {
	times, n, size := irregular(s, 10, 30, 0.125), s.LogUniformInt(100, 7000), sizes(s, 200, 30000)
	times = append(times, s.Seconds*1.3)
	shortest, tail := s.LogUniform(1e-3, 0.01), s.Uniform(0.6, 1.5)
	for _, at := range atWork(s, n, 0, 1) {
		life := min(shortest*math.Pow(1-s.Float64(), -1/tail), 0.1)
		s.Free(s.Alloc(at, size()), behaviour.NextOrNever(times, at+life*s.Seconds))
	}
}

// undoHistory frees the oldest step. A step has one block or more, and a long one many.
func undoHistory(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	steps := atWork(s, s.LogUniformInt(150, 6000), 0, 1)
	full := 0
	for full < len(steps) && steps[full] < early(s, 1.0/3) {
		full++
	}
	limit := max(4, int(float64(min(full, 1500))*s.Uniform(0.25, 0.95)))
	size, most := sizes(s, 40, 6000), s.LogUniform(1, 5)
	var history [][]behaviour.Block
	for _, at := range steps {
		if len(history) == limit {
			s.FreeAll(history[0], at)
			history = history[1:]
		}
		var step []behaviour.Block
		for range s.LogUniformInt(1, most) {
			step = append(step, s.Alloc(at, size()))
		}
		history = append(history, step)
	}
}

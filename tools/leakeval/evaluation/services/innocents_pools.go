package services

import (
	"math"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// innocentPools keep blocks for another use, or free them later than they are done with.
var innocentPools = []behaviour.Behaviour{
	behaviour.NewInnocent("driver helper: request packets from a lookaside list of limited depth",
		"Packets that come back fill the list up to its depth and are freed beyond it.", lookaside),
	behaviour.NewInnocent("inference server: a pool of scratch tensors that never shrinks, up to its limit",
		"The pool reaches its limit in an early peak and lends the same tensors from then on.", tensorPool),
	behaviour.NewInnocent("worker agent: buffers are kept after a peak and trimmed by halves later",
		"A timer frees half of the idle buffers each time, so the number follows the load with a delay.", trimmedBuffers),
	behaviour.NewInnocent("interop: wrappers that wait for a collection of the oldest generation",
		"Finalizers free the native parts in lots, each time the managed heap is collected.", finalizedWrappers),
	behaviour.NewInnocent("indexer: deleted entries stay as tombstones until a compaction",
		"Compactions run many times and free all that was deleted since the last one.", tombstones),
	behaviour.NewInnocent("test agent: scratch memory of pool threads that are retired and replaced",
		"Each thread allocates on first use and frees at its end; the pool has a fixed number of threads.", threadScratch),
}

func lookaside(s *behaviour.Stack) {
	s.UseHeap(s.UniformInt(0, 3))
	jobs := jobsOf(s, requests(s, 400, 14000), s.LogUniform(2, 150))
	size := s.Size(s.LogUniform(64, 9000), 0)
	// The depth is exceeded early, else packets would only ever be added while the load rises.
	depth := max(1, int(float64(peak(jobs, s.WhenDone(0.35)))*s.Uniform(0.1, 0.7)))
	pool{limit: math.MaxInt, idle: depth, size: func() int { return size }}.serve(s, jobs)
}

func tensorPool(s *behaviour.Stack) {
	jobs := jobsOf(s, requests(s, 400, 8000), s.LogUniform(4, 300))
	size, spread := s.LogUniform(4096, 500000), s.Uniform(0, 0.5)
	limit := max(1, int(float64(peak(jobs, s.WhenDone(0.35)))*s.Uniform(0.3, 0.8)))
	pool{limit: limit, idle: limit, size: func() int { return s.Size(size, spread) }}.serve(s, jobs)
	// Small outputs come from the same stack.
	takes := s.LogUniform(0.01, 2)
	s.Churn(requests(s, 20, 800), takes, s.Sizes(size/8, 0.3))
}

func trimmedBuffers(s *behaviour.Stack) {
	jobs := jobsOf(s, requests(s, 400, 9000), s.LogUniform(4, 200))
	size := 1 << s.UniformInt(8, 16)
	trims := s.Every(s.Seconds/s.LogUniform(25, 300), 0.1)
	pool{limit: math.MaxInt, idle: math.MaxInt, trims: trims, size: func() int { return size }}.serve(s, jobs)
}

func finalizedWrappers(s *behaviour.Stack) {
	wrappers := requests(s, 200, 12000)
	young, old := s.Every(s.Seconds/s.LogUniform(60, 900), 0.8), s.Every(s.Seconds/s.LogUniform(14, 50), 0.6)
	survives := s.Uniform(0.05, 0.9)
	size := s.LogUniform(24, 4000)
	for _, at := range wrappers {
		b := s.Alloc(at, s.Size(size, 0.5))
		if s.Chance(survives) {
			s.Free(b, behaviour.NextOrNever(old, at)+s.Float64())
		} else {
			s.Free(b, behaviour.NextOrNever(young, at)+s.Float64())
		}
	}
}

func tombstones(s *behaviour.Stack) {
	entries := requests(s, 300, 9000)
	compactions := s.Every(s.Seconds/s.LogUniform(12, 60), 0.2)
	lives := min(s.LogUniform(s.Seconds/3000, s.Seconds/15), 400*s.Seconds/float64(1+len(entries)))
	size := s.LogUniform(40, 900)
	for _, at := range entries {
		s.Free(s.Alloc(at, s.Size(size, 0.4)), behaviour.NextOrNever(compactions, at+s.Exponential(lives)))
	}
}

func threadScratch(s *behaviour.Stack) {
	threads, parts := s.UniformInt(2, 64), s.UniformInt(1, 6)
	sizes := []int{1 << s.UniformInt(8, 16), 4096, s.UniformInt(100, 900), 256, 64, s.UniformInt(16, 200)}[:parts]
	life := s.LogUniform(s.Seconds/40, s.Seconds/8)
	started := s.Uniform(0.01, 0.2)
	for range threads {
		at := s.Seconds * started * s.Float64()
		for at < s.Seconds {
			ends := at + s.LogNormal(life, 0.3)
			for _, bytes := range sizes {
				s.Free(s.Alloc(at+(ends-at)*0.05*s.Float64(), bytes), ends)
			}
			at = ends + s.Exponential(life/50)
		}
	}
}

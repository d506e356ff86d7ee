package services

import "heapdrift/tools/leakeval/evaluation/behaviour"

// innocentState is kept for good, but there is only so much of it and it is there by the middle of the run.
var innocentState = []behaviour.Behaviour{
	behaviour.NewInnocent("data acquisition: tag names are interned as they are first seen, the plant has so many",
		"The plant's list of tags is finite and nearly all of them have been seen by the middle of the run.", tagNames),
	behaviour.NewInnocent("build server: one record for each machine that reports for work",
		"The machines report in the first part of the run, keep their records, and no others come.", machineRecords),
	behaviour.NewInnocent("backup: features that are used late for the first time set up their tables",
		"Encryption, deduplication and the like make their tables once, at first use.", lateFeatures),
	behaviour.NewInnocent("market data: the hash table of instruments doubles until all are listed",
		"The bucket arrays grow with the finite list of instruments and then stay.", bucketArrays),
	behaviour.NewInnocent("inference server: a scratch buffer for each shape grows to the largest input of it",
		"There are few shapes, a buffer is only made larger, and that ends with the warm-up.", shapeBuffers),
}

func tagNames(s *behaviour.Stack) {
	tags, mean := s.LogUniform(20, 3000), s.Uniform(0.01, 0.1)
	blocks, takes := s.UniformInt(1, 2), s.LogUniform(0.01, 3)
	for range s.Poisson(tags / float64(blocks)) {
		// A tag is first seen after a time with no memory, and in the middle of the run at the latest.
		at := s.WhenDone(min(s.Exponential(mean), s.Uniform(0.2, 0.5)))
		for range blocks {
			s.Alloc(at, 16+2*s.Size(24, 0.4))
		}
	}
	// Look-ups make a temporary upper-case name.
	for _, at := range requests(s, 20, 4000) {
		s.AllocFor(at, s.Exponential(takes), 2*s.Size(24, 0.4))
	}
}

func machineRecords(s *behaviour.Stack) {
	machines, parts := int(s.LogUniform(5, 400)), s.UniformInt(1, 6)
	size, last := s.LogUniform(100, 6000), s.Uniform(0.05, 0.5)
	for range machines {
		at := s.WhenDone(last * s.Float64())
		s.Burst(parts, at, 0.1, s.Sizes(size, 0.5))
	}
	takes := s.LogUniform(0.05, 20)
	s.Churn(requests(s, 20, 4000), takes, s.Sizes(size, 0.5))
}

func lateFeatures(s *behaviour.Stack) {
	takes := s.LogUniform(0.05, 30)
	size := s.LogUniform(50, 9000)
	for range s.UniformInt(2, 6) {
		at := s.WhenDone(s.Uniform(0.02, 0.58))
		s.Burst(s.Size(s.LogUniform(4, 300), 0.3), at, takes, s.Sizes(size, 1))
	}
	s.Churn(requests(s, 30, 8000), takes, s.Sizes(size, 1))
}

func bucketArrays(s *behaviour.Stack) {
	tables, listed := s.UniformInt(1, 12), s.Uniform(0.1, 0.55)
	for range tables {
		buckets, full := 8<<s.UniformInt(0, 2), 1<<s.UniformInt(8, 17)
		b := s.Alloc(s.WhenDone(0.01*s.Float64()), 8*buckets)
		for buckets < full {
			at := s.WhenDone(0.01 + (listed-0.01)*float64(buckets)/float64(full)*2*s.Uniform(0.8, 1))
			buckets *= 2
			b = s.Resize(b, at, 8*buckets)
		}
	}
	takes := s.LogUniform(0.01, 1)
	for _, at := range requests(s, 20, 3000) {
		s.AllocFor(at, s.Exponential(takes), s.UniformInt(2, 40)*8)
	}
}

func shapeBuffers(s *behaviour.Stack) {
	shapes, largest, warm := s.UniformInt(3, 60), s.LogUniform(16000, 8e6), s.Uniform(0.1, 0.6)
	buffers := make(map[int]behaviour.Block)
	sizes := make(map[int]int)
	s.UseHeap(s.UniformInt(0, 3))
	for _, at := range requests(s, 300, 6000) {
		shape := int(float64(shapes) * s.Float64() * s.Float64())
		// Inputs come padded to one of eight lengths.
		bytes := int(largest) / (1 + shape) * s.UniformInt(1, 8) / 8
		if s.Work(at) > warm || bytes <= sizes[shape] {
			// Warmed up, the batcher splits or pads what has no buffer of its own.
			continue
		}
		if b, has := buffers[shape]; has {
			buffers[shape] = s.Resize(b, at, bytes)
		} else {
			buffers[shape] = s.Alloc(at, bytes)
		}
		sizes[shape] = bytes
	}
}

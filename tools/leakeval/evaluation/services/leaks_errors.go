package services

import "heapdrift/tools/leakeval/evaluation/behaviour"

// leaksOfErrors lose memory where something fails, is cancelled or is rare.
var leaksOfErrors = []behaviour.Behaviour{
	behaviour.NewLeak("log shipper: a batch that the collector refuses is dropped without being freed",
		"The refusal path leaves the send loop before the batch is returned; refusals come in outages.", refusedBatches),
	behaviour.NewLeak("build agent: the environment block of a process that cannot be started is lost",
		"The branch for a failed CreateProcess returns without DestroyEnvironmentBlock.", environmentBlocks),
	behaviour.NewLeak("telemetry: the tree of a malformed packet is forgotten half built",
		"The parser throws and its raw pointers to the nodes made so far are gone.", halfTrees),
	behaviour.NewLeak("driver helper: overlapped requests that outlive their cancellation are abandoned",
		"After a device time-out, the helper forgets the requests that are pending instead of waiting for them.",
		abandonedRequests),
	behaviour.NewLeak("virus scanner: streams of archives within archives keep their window and tables",
		"The depth limit ends the scan of an inner archive without closing its decoder.", innerArchives),
	behaviour.NewLeak("scheduler: cancelled tasks and their continuations hold each other",
		"A task that runs drops its continuation; a cancelled one keeps it, and it keeps the task.", cancelledTasks),
	behaviour.NewLeak("interop: buffers that finalizers free, except where marshalling throws",
		"An exception between AllocHGlobal and the owner's construction leaves a buffer without a finalizer.",
		interopBuffers),
	behaviour.NewLeak("debug server: a sweep frees most orphaned symbols, never those of unloaded modules",
		"The periodic sweep goes by modules that are loaded, so symbols of others are never reached again.", sweptSymbols),
}

func refusedBatches(s *behaviour.Stack) {
	records, size := s.LogUniform(3, 60), s.LogUniform(500, 32000)
	takes := s.LogUniform(0.02, 5)
	s.Churn(requests(s, 100, 8000), takes, s.Sizes(size, 0.5))
	for _, outage := range windows(s, s.UniformInt(8, 22), 0, s.Seconds, 0.01, 0.3) {
		for _, at := range s.Instants(records, outage.from, outage.to) {
			s.Alloc(at, s.Size(size, 0.5))
		}
		s.Alloc(outage.to, s.Size(size, 0.5))
		s.Alloc(outage.from, s.Size(size, 0.5))
	}
}

func environmentBlocks(s *behaviour.Stack) {
	starts := requests(s, 4000, 28000)
	lost := rarely(s, len(starts), 0.0005, 0.02)
	size, takes := s.Size(s.LogUniform(1500, 8000), 0), s.LogUniform(0.005, 1)
	for _, at := range starts {
		// The block is the same but for the name of the job.
		b := s.Alloc(at, size+2*s.UniformInt(0, 20))
		if !s.Chance(lost) {
			s.Free(b, at+s.Exponential(takes))
		}
	}
}

func halfTrees(s *behaviour.Stack) {
	packets, nodes := requests(s, 150, 4000), s.UniformInt(2, 6)
	malformed := min(rarely(s, len(packets), 0.002, 0.3), 2500/float64(nodes*(1+len(packets))))
	malformed = max(malformed, 30/float64(1+len(packets)))
	takes := s.LogUniform(0.001, 0.5)
	for _, at := range packets {
		built, isBad := nodes, s.Chance(malformed)
		if isBad {
			built = s.UniformInt(1, nodes)
		}
		for i := range built {
			b := s.Alloc(at+takes*0.1*float64(i), []int{24, 40, 64, s.Size(120, 0.8)}[s.IntN(4)])
			if !isBad {
				s.Free(b, at+takes)
			}
		}
	}
}

func abandonedRequests(s *behaviour.Stack) {
	s.UseHeap(s.UniformInt(0, 3))
	reads, pending := requests(s, 500, 20000), s.UniformInt(1, 8)
	timeouts := rarely(s, len(reads), 0.0005, 0.01)
	size, takes := s.Size(s.LogUniform(64, 4200), 0), s.LogUniform(0.01, 10)
	left := 0
	for _, at := range reads {
		if s.Chance(timeouts) {
			left = s.UniformInt(1, pending)
		}
		b := s.Alloc(at, size)
		if left > 0 {
			left--
			continue
		}
		s.Free(b, at+s.Exponential(takes))
	}
}

func innerArchives(s *behaviour.Stack) {
	files := requests(s, 300, 7000)
	nested := rarely(s, len(files), 0.002, 0.08)
	// A decoder has a window, a table of lengths, a table of distances and its own state.
	parts := []int{1 << s.UniformInt(12, 20), s.Size(1300, 0.1), s.Size(500, 0.1), s.UniformInt(80, 700)}
	parts = parts[:s.UniformInt(2, 4)]
	takes := s.LogUniform(0.01, 15)
	for _, at := range files {
		isInner, ends := s.Chance(nested), at+s.Exponential(takes)
		for i, bytes := range parts {
			b := s.Alloc(at, bytes)
			// The window belongs to a smart pointer in some builds; the last table never does.
			if !isInner || i == 0 && s.Chance(0.3) {
				s.Free(b, ends)
			}
		}
	}
}

func cancelledTasks(s *behaviour.Stack) {
	tasks := requests(s, 200, 9000)
	cancelled := min(rarely(s, len(tasks), 0.003, 0.2), 1200/float64(1+len(tasks)))
	size, waits := s.LogUniform(56, 700), s.LogUniform(0.05, s.Seconds/60)
	for _, at := range tasks {
		task, continuation := s.Alloc(at, s.Size(size, 0.1)), s.Alloc(at, s.Size(size/2, 0.4))
		if !s.Chance(cancelled) {
			ends := at + s.Exponential(waits)
			s.Free(continuation, ends)
			s.Free(task, ends+0.01)
		}
	}
}

func interopBuffers(s *behaviour.Stack) {
	buffers := requests(s, 200, 10000)
	lost := rarely(s, len(buffers), 0.003, 0.06)
	collections := s.Every(s.Seconds/s.LogUniform(15, 250), 0.8)
	size := s.LogUniform(32, 8000)
	for _, at := range buffers {
		b := s.Alloc(at, s.Size(size, 0.9))
		if !s.Chance(lost) {
			s.Free(b, behaviour.NextOrNever(collections, at+s.Exponential(s.Seconds/2000)))
		}
	}
}

func sweptSymbols(s *behaviour.Stack) {
	symbols := requests(s, 300, 9000)
	orphaned := s.Uniform(0.1, 0.7)
	lost := rarely(s, int(float64(len(symbols))*orphaned), 0.03, 0.3)
	sweeps := clock(s, 8, 60, 0.1)
	size, lasts := s.LogUniform(40, 1200), s.LogUniform(0.1, s.Seconds/100)
	for _, at := range symbols {
		b := s.Alloc(at, s.Size(size, 0.6))
		switch {
		case !s.Chance(orphaned):
			s.Free(b, at+s.Exponential(lasts))
		case !s.Chance(lost):
			s.Free(b, behaviour.NextOrNever(sweeps, at))
		}
	}
}

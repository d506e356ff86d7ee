package services

import "heapdrift/tools/leakeval/evaluation/behaviour"

// leaksOfJobs lose memory with what is scheduled: jobs, polls, crawls, threads.
var leaksOfJobs = []behaviour.Behaviour{
	behaviour.NewLeak("scheduler: each run of a timed job adds rows to a result list that nobody trims",
		"The history of job results is only ever appended to; the job's temporaries are freed.", jobHistory),
	behaviour.NewLeak("build agent: a plug-in library is loaded for every job, its locale tables stay",
		"The library's static C runtime does not free its tables when it is unloaded, so each load leaves a set.",
		pluginTables),
	behaviour.NewLeak("backup: the excluded files of each finished set stay in a global list",
		"The catalogue of a backup set is freed when the set is done, the names of excluded files are not.", backupExcluded),
	behaviour.NewLeak("test runner: threads that are terminated leave their thread-local state",
		"A thread that is ended by TerminateThread never runs the detach code that frees its state.", threadState),
	behaviour.NewLeak("telemetry: the last object of each WMI enumeration is not released",
		"Next hands out an object together with WBEM_S_FALSE, and the loop ends without releasing it.", wmiPoll),
	behaviour.NewLeak("batch converter: files that arrive at night lose their colour profile",
		"Only the nightly profile for print makes a colour transform, and nothing closes it.", nightProfiles),
	behaviour.NewLeak("indexer: filters of documents that are cut off are not released",
		"When a document reaches the text limit the crawl leaves early and skips Release of the filter.", crawlFilters),
	behaviour.NewLeak("trading gateway: after the morning's certificate renewal, audit records are no longer freed",
		"The reloaded signer takes a reference to an audit record for some messages and never gives it back.", lateAudit),
	behaviour.NewLeak("watchdog: the context of a timer that is deleted while it fires is lost",
		"DeleteTimerQueueTimer says that a callback is pending, and the code then neither waits nor frees.", timerContexts),
}

func jobHistory(s *behaviour.Stack) {
	rows, temporaries := s.UniformInt(1, 6), s.UniformInt(0, 40)
	size, spread, lasts := s.LogUniform(48, 4096), s.Uniform(0, 0.8), s.LogUniform(0.05, 10)
	for _, at := range clock(s, 18, 400, 0.05) {
		for range temporaries {
			s.AllocFor(at+s.Uniform(0, lasts), s.Exponential(lasts), s.Size(size, spread))
		}
		for range rows {
			s.Alloc(at+lasts*s.Uniform(0.9, 1), s.Size(size, spread))
		}
	}
}

func pluginTables(s *behaviour.Stack) {
	// The tables of a library are the same at each load.
	tables := make([]int, s.UniformInt(3, 24))
	for i := range tables {
		tables[i] = s.Size(s.LogUniform(24, 8000), 0)
	}
	buffers, lasts := s.UniformInt(0, 30), s.LogUniform(1, s.Seconds/100)
	for _, at := range requests(s, 22, 140) {
		for _, bytes := range tables {
			s.Alloc(at+0.001*s.Float64(), bytes)
		}
		for range buffers {
			s.AllocFor(at+lasts*s.Float64(), s.Exponential(lasts), s.Size(600, 1))
		}
	}
}

func backupExcluded(s *behaviour.Stack) {
	s.UseHeap(s.UniformInt(0, 1))
	files, excluded := s.LogUniform(40, 900), s.Uniform(0.02, 0.15)
	size := s.LogUniform(60, 400)
	for _, set := range windows(s, s.UniformInt(8, 20), 0, s.Seconds, 0.1, 0.9) {
		for _, at := range s.Instants(files*s.Uniform(0.7, 1.3), set.from, set.to) {
			b := s.Alloc(at, s.Size(size, 0.4))
			if !s.Chance(excluded) {
				s.Free(b, set.to)
			}
		}
		// Two names are excluded in every set: the page file and the hibernation file.
		s.Alloc(set.from, 58)
		s.Alloc(set.from, 62)
	}
}

func threadState(s *behaviour.Stack) {
	threads := requests(s, 60, 2000)
	lost, blocks := rarely(s, len(threads), 0.01, 1), s.UniformInt(1, 2)
	size, lasts := s.LogUniform(64, 2048), s.LogUniform(0.5, s.Seconds/40)
	for _, at := range threads {
		ends, isTerminated := at+s.Exponential(lasts), s.Chance(lost)
		for range blocks {
			b := s.Alloc(at, s.Size(size, 0))
			if !isTerminated {
				s.Free(b, ends)
			}
		}
	}
}

func wmiPoll(s *behaviour.Stack) {
	objects, size := s.UniformInt(1, 9), s.LogUniform(80, 1500)
	takes := s.LogUniform(0.005, 2)
	for _, at := range clock(s, 30, 2800, s.Uniform(0, 0.2)) {
		for i := range objects {
			b := s.Alloc(at+takes*float64(i), s.Size(size, 0.2))
			if i < objects-1 {
				s.Free(b, at+takes*(float64(i)+0.9))
			}
		}
	}
}

func nightProfiles(s *behaviour.Stack) {
	night := window{s.Seconds * s.Uniform(0.2, 0.5), s.Seconds * s.Uniform(0.85, 1)}
	blocks, size := s.UniformInt(2, 12), s.LogUniform(100, 20000)
	takes := s.LogUniform(0.2, 20)
	convert := func(at float64) {
		for range blocks {
			s.AllocFor(at, takes*s.Uniform(0.2, 1), s.Size(size, 0.9))
		}
	}
	for _, at := range requests(s, 40, 900) {
		if at < night.from || at > night.to {
			convert(at)
		}
	}
	profile := s.Size(s.LogUniform(500, 60000), 0)
	for _, at := range s.Instants(s.LogUniform(25, 900), night.from, night.to) {
		convert(at)
		s.Alloc(at+takes*0.1, profile)
	}
}

func crawlFilters(s *behaviour.Stack) {
	documents, crawls := s.LogUniform(20, 800), s.UniformInt(8, 24)
	lost := rarely(s, int(documents)*crawls, 0.005, 0.15)
	size, takes := s.LogUniform(200, 6000), s.LogUniform(0.05, 8)
	for _, crawl := range windows(s, crawls, 0, s.Seconds, 0.05, 0.8) {
		s.Lose(s.Instants(documents, crawl.from, crawl.to), lost, takes, s.Sizes(size, 0.7))
	}
}

func lateAudit(s *behaviour.Stack) {
	renewed := s.Uniform(0.12, 0.45)
	messages := requests(s, 200, 20000)
	lost := rarely(s, len(messages)/2, 0.002, 0.15)
	size, lasts := s.LogUniform(120, 900), s.LogUniform(0.01, 30)
	for _, at := range messages {
		b := s.Alloc(at, s.Size(size, 0.3))
		if s.Work(at) < renewed || !s.Chance(lost) {
			s.Free(b, at+s.Exponential(lasts))
		}
	}
}

func timerContexts(s *behaviour.Stack) {
	size, lasts := s.Size(s.LogUniform(40, 300), 0), s.LogUniform(0.5, 120)
	for _, at := range requests(s, 50, 6000) {
		s.AllocFor(at, s.Uniform(0.2, 1)*lasts, size)
	}
	for _, race := range windows(s, s.UniformInt(13, 32), 0, s.Seconds, 0, 0.1) {
		s.Alloc(race.from, size)
	}
}

package desktop

import "heapdrift/tools/leakeval/evaluation/behaviour"

var leaksOfMachines = []behaviour.Behaviour{
	behaviour.NewLeak("tray utility: the tip text of each timer tick is duplicated and not freed",
		"The wrapper copies the text into a block of its own and the message copies it again.", trayTips),
	behaviour.NewLeak("device monitor: interface details of nameless devices are lost on arrival",
		"The lookup of the friendly name fails and returns past the free, some times in each storm of arrivals.",
		namelessDevices),
	behaviour.NewLeak("media player: side data of the frames that a seek flushes are not freed",
		"The normal path releases them with the frame; the flush resets the queue and forgets them.", seeks),
	behaviour.NewLeak("game sound: a voice whose owner dies while it is paused is never reaped",
		"The reaper looks at voices that have played to their end, and such a voice never does.", voices),
	behaviour.NewLeak("browser: event handlers that refer to their own node survive the page",
		"Script and document count references each for itself, so a cycle over both is seen by neither.", handlerCycles),
	behaviour.NewLeak("picture indexer: works while the screen is locked and loses the header of damaged files",
		"The decoder leaves by longjmp where a file is damaged, past the free of what it had read.", lockedIndexer),
	behaviour.NewLeak("add-in that is switched on later: keeps a wrapper for each change of the selection",
		"It appends the wrapper to a list which it means to clear when the document is closed, and never does.", lateAddIn),
	behaviour.NewLeak("updater: part of the manifest's tree stays after each check",
		"Nodes of a foreign name space are unlinked from the tree before it is freed.", manifests),
	behaviour.NewLeak("window list: an array of all windows that ever were is extended in steps",
		"Entries of closed windows are set to null and never used again.", windowList),
}

func trayTips(s *behaviour.Stack) {
	ticks := min(max(s.Seconds/s.LogUniform(1, 300), 60), 3000)
	bytes, spread := s.LogUniform(16, 256), s.Uniform(0, 0.4)
	beside := s.UniformInt(0, 4)
	for _, at := range s.Every(s.Seconds/ticks, s.Uniform(0, 0.5)) {
		s.Alloc(at, s.Size(bytes, spread))
		for range beside {
			s.AllocFor(at, 0.01+s.Exponential(0.05), s.Size(bytes, spread))
		}
	}
}

func namelessDevices(s *behaviour.Stack) {
	storms, devices := s.UniformInt(10, 45), s.LogUniform(5, 150)
	share, within := max(s.LogUniform(0.01, 0.3), 3.5/devices), s.LogUniform(0.2, 30)
	for _, storm := range jobs(s, storms) {
		for range 1 + s.Poisson(devices) {
			b := s.Alloc(storm+within*s.Float64(), s.Size(160, 0.35))
			if !s.Chance(share) {
				s.Free(b, storm+within+s.Exponential(2))
			}
		}
	}
}

func seeks(s *behaviour.Stack) {
	s.UseHeap(s.IntN(4))
	frames, depth := s.LogUniform(1500, 22000), s.LogUniform(2, 40)
	bytes, perSeek := s.UniformInt(32, 900), s.LogUniform(1, 12)
	for _, at := range s.Requests(frames) {
		s.AllocFor(at, depth*s.Uniform(0.5, 1)/60, bytes)
	}
	for _, at := range spaced(s, s.UniformInt(20, 250), 0) {
		for range 1 + s.Poisson(perSeek) {
			s.Alloc(at-0.2*s.Float64(), bytes)
		}
	}
}

func voices(s *behaviour.Stack) {
	sounds := s.LogUniform(8000, 28000)
	share, bytes := lost(s, 0.0005, 0.01, sounds), s.UniformInt(200, 1400)
	plays := s.LogUniform(0.2, 4)
	for _, at := range s.Requests(sounds) {
		b := s.Alloc(at, bytes)
		if !s.Chance(share) {
			s.Free(b, at+min(s.LogNormal(plays, 0.7), s.Seconds/20))
		}
	}
}

func handlerCycles(s *behaviour.Stack) {
	perPage, cycles := s.UniformInt(8, 150), s.UniformInt(1, 5)
	pages := count(s, 10, 600, 60, min(1200, 18000/float64(perPage)))
	share, views := max(s.LogUniform(0.05, 1), 25/pages), min(s.LogUniform(3, 900), s.Seconds/40)
	share = min(share, 2000/(pages*float64(cycles)))
	for _, at := range s.Requests(pages) {
		left, stays := at+3+s.Exponential(views), 0
		if s.Chance(share) {
			stays = cycles
		}
		for i := range perPage {
			b := s.Alloc(at+3*s.Float64(), 48+16*s.IntN(6))
			if i >= stays {
				s.Free(b, left)
			}
		}
	}
}

func lockedIndexer(s *behaviour.Stack) {
	files := s.LogUniform(600, 15000)
	share, typical := lost(s, 0.004, 0.15, files), s.LogUniform(200, 9000)
	index := func(n, from, to float64) {
		s.Lose(s.Instants(n, from, to), share, 0.4, s.Sizes(typical, 1))
	}
	if s.Chance(0.35) { // one evening, from which on nobody comes back before the end of the run
		index(files, s.Uniform(0.25, 0.48)*s.Seconds, s.Seconds)
		return
	}
	breaks := s.UniformInt(9, 18)
	stretch, share0 := s.Seconds/float64(breaks), s.Uniform(0.15, 0.5)
	for _, at := range jobs(s, breaks) {
		index(files/float64(breaks), at, at+stretch*share0)
	}
}

func lateAddIn(s *behaviour.Stack) {
	begins := s.Uniform(0.15, 0.45)
	changes := s.LogUniform(60, 3000)
	bytes := s.UniformInt(32, 240)
	for range s.Poisson(changes) {
		work := s.Float64()
		at := s.WhenDone(work)
		b := s.Alloc(at, bytes)
		if work < begins {
			s.Free(b, at+s.Exponential(0.5))
		}
	}
}

func manifests(s *behaviour.Stack) {
	checks := s.UniformInt(13, 70)
	nodes, foreign := s.LogUniform(5, 250), s.UniformInt(1, 12)
	for _, at := range jobs(s, checks) {
		parsed := at + s.Exponential(1.5)
		for range foreign + s.Poisson(nodes) {
			s.AllocFor(at+(parsed-at)*s.Float64(), parsed-at+0.3, s.Size(90, 0.6))
		}
		for range foreign {
			s.Alloc(at+(parsed-at)*s.Float64(), s.Size(90, 0.6))
		}
	}
}

func windowList(s *behaviour.Stack) {
	step := 8 * s.UniformInt(4, 64)
	bytes := step
	b := s.Alloc(s.WhenDone(0.01), bytes)
	growths := int(s.LogUniform(14, 400))
	for _, at := range spaced(s, growths, 0.02) {
		bytes += step
		b = s.Resize(b, at, bytes)
	}
}

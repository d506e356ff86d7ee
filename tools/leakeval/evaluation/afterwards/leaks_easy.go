package afterwards

import "heapdrift/tools/leakeval/evaluation/behaviour"

var leaksEasy = []behaviour.Behaviour{
	behaviour.NewLeak("chat client: link previews of scrolled-out messages keep their bitmaps",
		"The list drops the bubble, but a preview that finished loading afterwards is owned by nobody.",
		lossy{requests: span{60, 2000}, share: span{0.05, 0.4}, size: span{500, 60_000}, life: span{0.002, 0.04}}.play),
	behaviour.NewLeak("print spooler helper: the copied device mode of each job stays",
		"DocumentProperties fills a buffer that the caller duplicates for the job and never frees.", deviceModes),
	behaviour.NewLeak("web server: contexts of requests whose client hangs up early",
		"The abort path returns before the reference on the request's context is dropped.",
		lossy{requests: span{800, 8000}, share: span{0.02, 0.1}, size: span{300, 8000}, life: span{0.0001, 0.005}}.play),
	behaviour.NewLeak("game: particle emitters orphaned at each change of level",
		"Emitters whose effect still plays when the level ends are detached from the scene and forgotten.", orphanedEmitters),
	behaviour.NewLeak("volume tray: property store of every device poll is not released",
		"Each poll opens the endpoint's property store and releases all interfaces but one.", propertyStores),
	behaviour.NewLeak("camera driver's helper: the event history is one vector without end",
		"Events are appended to a history for a diagnostics page and nothing ever trims it.", eventHistory),
	behaviour.NewLeak("reporting service: compiled statements are kept by text, literals included",
		"The map of compiled statements has no bound and each new literal makes a new text.",
		lossy{requests: span{200, 3000}, share: span{0.1, 0.6}, size: span{400, 12_000}, life: span{0.0005, 0.01}}.play),
}

func deviceModes(s *behaviour.Stack) {
	s.UseHeap(s.UniformInt(0, 1))
	bytes := sizes(s, 220, 6000)
	perJob := s.UniformInt(1, 3)
	for _, at := range s.Requests(s.LogUniform(30, 400)) {
		s.Alloc(at, bytes())
		// The rest of the job's copies end with the job.
		for range perJob - 1 {
			s.AllocFor(at, s.Uniform(1, 30), bytes())
		}
	}
}

func orphanedEmitters(s *behaviour.Stack) {
	levels, per := s.UniformInt(10, 24), s.LogUniform(8, 80)
	share := max(s.Uniform(0.05, 0.5), 36/(per*float64(levels)))
	s.UseHeap(s.UniformInt(0, 3))
	bytes, begins := sizes(s, 150, 20_000), spread(s, levels, 0, 1)
	for i, at := range begins {
		begin, end := s.WhenDone(at), s.Seconds+1
		if i+1 < levels {
			end = s.WhenDone(begins[i+1])
		}
		for _, at := range s.Instants(per, begin, begin+0.3*(min(end, s.Seconds)-begin)) {
			if b := s.Alloc(at, bytes()); !s.Chance(share) {
				s.Free(b, end)
			}
		}
	}
}

func propertyStores(s *behaviour.Stack) {
	bytes, others := sizes(s, 48, 900), s.UniformInt(0, 4)
	for _, at := range s.Every(s.Seconds/s.LogUniform(40, 600), s.Uniform(0, 0.4)) {
		s.Alloc(at, bytes())
		for range others {
			s.AllocFor(at, s.Uniform(0.01, 0.5), bytes())
		}
	}
}

func eventHistory(s *behaviour.Stack) {
	growths, step := s.UniformInt(12, 150), s.LogUniform(64, 64_000)
	bytes := step
	b := s.Alloc(0.01*s.Seconds*s.Float64(), int(bytes))
	for _, at := range whenDone(s, spread(s, growths, 0.02, 1)) {
		bytes += step
		b = s.Resize(b, at, int(bytes))
	}
}

// A span is where a number of a behaviour is drawn from.
type span struct{ low, high float64 }

// lossy makes a block for each of so many requests and loses a share of them, some thirty a run at least. It lives for
// a share of the run.
type lossy struct{ requests, share, size, life span }

func (l lossy) play(s *behaviour.Stack) {
	n := s.LogUniform(l.requests.low, l.requests.high)
	share := max(s.Uniform(l.share.low, l.share.high), 30/n)
	pass(s, s.Requests(n), sizes(s, l.size.low, l.size.high), lives(s, l.life.low, l.life.high),
		func(int) bool { return s.Chance(share) })
}

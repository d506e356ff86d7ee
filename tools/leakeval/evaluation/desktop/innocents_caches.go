package desktop

import "heapdrift/tools/leakeval/evaluation/behaviour"

var innocentCaches = []behaviour.Behaviour{
	behaviour.NewInnocent("glyph cache with a fixed number of entries, least recently used goes first",
		"It is full early, and from then on each new glyph frees another one.", glyphs),
	behaviour.NewInnocent("folder view: thumbnails go at random when the cache is full and after a while unused",
		"A limit and an age bound the cache, and both are reached early in the run.", thumbnails),
	behaviour.NewInnocent("script engine: compiled stubs are flushed as a whole when their number reaches a limit",
		"Growth ends with each flush, which comes several times in the run.", compiledStubs),
	behaviour.NewInnocent("editor: token states of the lines of the files that were shown last",
		"A new file frees all lines of the file that was longest unseen.", tokenStates),
	behaviour.NewInnocent("clipboard manager: remembers a number of clips and forgets the oldest",
		"The list is limited, and copying fills it early in the run.", clips),
	behaviour.NewInnocent("browser: pages for the back button are kept for some minutes",
		"A timer drops pages which are too old, all blocks of a page at once.", backPages),
}

func glyphs(s *behaviour.Stack) {
	c := cache{s: s, limit: s.UniformInt(24, 500)}
	different := c.limit * s.UniformInt(2, 20)
	typical, spread := s.LogUniform(60, 1500), s.Uniform(0, 0.5)
	for _, at := range s.Requests(min(float64(c.limit)*s.LogUniform(20, 70), 20000)) {
		c.use(at, popular(s, different), s.Size(typical, spread))
	}
	c.close()
}

func thumbnails(s *behaviour.Stack) {
	c := cache{s: s, limit: s.UniformInt(50, 800), randomly: true}
	perFolder := s.LogUniform(8, 90)
	visits := min(max(float64(c.limit)/perFolder*s.LogUniform(8, 40), 60), 14000/perFolder)
	folders, ttl := max(int(visits/2), 8), s.Seconds*s.LogUniform(0.01, 0.12)
	for _, at := range s.Requests(visits) {
		c.expire(at, ttl)
		folder := popular(s, folders)
		for i := range 1 + s.Poisson(perFolder) {
			c.use(at+0.02*float64(i), folder*1000+i, s.Size(9000, 0.5))
		}
	}
	c.close()
}

func compiledStubs(s *behaviour.Stack) {
	s.UseHeap(s.UniformInt(0, 2))
	limit := s.UniformInt(40, 2500)
	var stubs []behaviour.Block
	for _, at := range s.Requests(min(float64(limit)*s.LogUniform(6, 50), 25000)) {
		if len(stubs) == limit {
			s.FreeAll(stubs, at)
			stubs = stubs[:0]
		}
		stubs = append(stubs, s.Alloc(at, s.Size(180, 0.8)))
	}
	s.FreeAll(stubs, shutdown(s))
}

func tokenStates(s *behaviour.Stack) {
	keeps, lines := s.UniformInt(3, 14), s.LogUniform(8, 180)
	shown := min(float64(keeps)*s.LogUniform(8, 40), 20000/lines)
	files := keeps * s.UniformInt(2, 8)
	type file struct {
		name   int
		states []behaviour.Block
	}
	var open []file
	for _, at := range s.Requests(shown) {
		this := file{name: popular(s, files)}
		for i, f := range open {
			if f.name == this.name {
				this, open = f, append(open[:i], open[i+1:]...)
				break
			}
		}
		if this.states == nil {
			for i := range 1 + s.Poisson(lines*s.Uniform(0.5, 1.5)) {
				this.states = append(this.states, s.Alloc(at+0.001*float64(i), 40+8*s.IntN(20)))
			}
		}
		if open = append(open, this); len(open) > keeps {
			s.FreeAll(open[0].states, at+0.5)
			open = open[1:]
		}
	}
	for _, f := range open {
		s.FreeAll(f.states, shutdown(s))
	}
}

func clips(s *behaviour.Stack) {
	limit := s.UniformInt(10, 200)
	typical, spread := s.LogUniform(60, 8000), s.Uniform(0.8, 1.8)
	var list []behaviour.Block
	for _, at := range s.Requests(float64(limit) * s.LogUniform(5, 30)) {
		if list = append(list, s.Alloc(at, min(s.Size(typical, spread), 16<<20))); len(list) > limit {
			s.Free(list[0], at)
			list = list[1:]
		}
	}
	s.FreeAll(list, shutdown(s))
}

func backPages(s *behaviour.Stack) {
	perPage := s.LogUniform(5, 120)
	pages := count(s, 20, 600, 80, 10000/perPage)
	keeps := s.Seconds * s.LogUniform(0.01, 0.08)
	checks := s.Every(keeps*s.Uniform(0.05, 0.4), 0.1)
	for _, at := range s.Requests(pages) {
		dropped := following(s, checks, at+keeps)
		for range 1 + s.Poisson(perPage) {
			s.Free(s.Alloc(at+2*s.Float64(), s.Size(400, 1)), dropped)
		}
	}
}

package desktop

import "heapdrift/tools/leakeval/evaluation/behaviour"

var innocentComponents = []behaviour.Behaviour{
	behaviour.NewInnocent("OLE strings: freed ones are kept for the next string, up to a number",
		"The free list is bounded, and its blocks are used again.", stringCache),
	behaviour.NewInnocent("component DLLs are unloaded when they were idle for a while",
		"CoFreeUnusedLibraries frees all that a component allocated at its load, some time after its last use.",
		idleComponents),
	behaviour.NewInnocent("script engine with a collector of two generations",
		"What survives the small collections is freed by a full one, of which there are several in the run.", generations),
	behaviour.NewInnocent(".NET interop: wrappers are released by the finalizer after the second collection",
		"Release is late, but each wrapper comes to it.", finalizers),
	behaviour.NewInnocent("type information: loaded once for each interface, in a table that doubles",
		"The number of interfaces is finite, and all were met by the middle of the run.", typeInformation),
	behaviour.NewInnocent("ribbon: icons are made at the start and those of a drawing tab at its first use",
		"Each icon is made once; the second lot comes late because the user draws late.", ribbon),
	behaviour.NewInnocent("shared desktop: settings of each user are read at his first logon",
		"The number of users is finite, and all have been there well before the end.", profiles),
	behaviour.NewInnocent("worker threads of an image filter: scratch buffers go with their thread",
		"Threads end when they are idle and others start, their number follows a bound.", scratchBuffers),
}

func stringCache(s *behaviour.Stack) {
	p := pool{s: s, keeps: s.UniformInt(2, 60)}
	strings, lives := s.LogUniform(4, 150), s.LogUniform(0.01, 5)
	bytes := s.UniformInt(16, 256)
	for _, at := range s.Requests(min(s.LogUniform(100, 4000), 25000/strings)) {
		for i := range 1 + s.Poisson(strings) {
			p.take(at+1e-4*float64(i), s.Exponential(lives), bytes)
		}
	}
	p.close()
}

func idleComponents(s *behaviour.Stack) {
	delay := min(s.LogUniform(5, 900), s.Seconds/25)
	components := s.UniformInt(2, 10)
	for range components {
		s.UseHeap(s.IntN(4))
		perLoad := s.UniformInt(2, 120)
		uses := min(s.LogUniform(8, 100), 20000/float64(components*perLoad))
		var loaded []behaviour.Block
		unload := 0.0
		for _, at := range s.Requests(uses) {
			if at > unload {
				s.FreeAll(loaded, unload)
				loaded = loaded[:0]
				for range perLoad {
					loaded = append(loaded, s.Alloc(at+0.1*s.Float64(), s.Size(300, 1)))
				}
			}
			unload = at + delay + s.Exponential(delay/4)
		}
		s.FreeAll(loaded, unload)
	}
}

func generations(s *behaviour.Stack) {
	objects := s.LogUniform(1500, 25000)
	perMinor := max(objects*s.LogUniform(0.002, 0.015), 10) // objects between two small collections
	minorsPerMajor := s.UniformInt(3, 6)
	young, old := perMinor*s.Uniform(0.05, 0.3), perMinor*s.Uniform(1, 5)
	instants := s.Requests(objects)
	collected := func(n float64) float64 {
		if int(n) < len(instants) {
			return instants[int(n)]
		}
		return shutdown(s)
	}
	survives := s.Uniform(0.02, 0.25)
	for i, at := range instants {
		reach := young
		if s.Chance(survives) {
			reach = old
		}
		b := s.Alloc(at, 16*s.UniformInt(1, 12))
		birth := float64(i)
		dead := birth + s.Exponential(reach)
		minor := float64(int(dead/perMinor)+1) * perMinor
		if minor-birth > 2*perMinor { // it has moved to the old generation
			perMajor := perMinor * float64(minorsPerMajor)
			minor = float64(int(dead/perMajor)+1) * perMajor
		}
		s.Free(b, collected(minor))
	}
}

func finalizers(s *behaviour.Stack) {
	collections := spaced(s, s.UniformInt(20, 200), 0)
	calls := s.LogUniform(100, 12000)
	if most := 1500 * float64(len(collections)); calls > most {
		calls = most
	}
	used, bytes := s.Seconds*s.LogUniform(0.0001, 0.02), s.UniformInt(60, 400)
	for _, at := range s.Requests(calls) {
		b := s.Alloc(at, bytes)
		found := following(s, collections, at+s.Exponential(used))
		s.Free(b, following(s, collections, found)+0.01)
	}
}

func typeInformation(s *behaviour.Stack) {
	interfaces, mean := s.UniformInt(30, 700), s.LogUniform(0.01, 0.1)
	each := s.UniformInt(1, 5)
	atStart := s.Uniform(0, 0.8)
	buckets := 16
	var table behaviour.Block = -1
	for i := range interfaces {
		// The later an interface in this order, the later it is met: the table grows in step with them.
		work := mean * 4 * (float64(i)/float64(interfaces) - atStart)
		at := s.WhenDone(min(max(work, 0.002+0.003*float64(i)/float64(interfaces)), 0.5))
		if table < 0 {
			table = s.Alloc(at, 8*buckets)
		}
		if i > buckets {
			buckets *= 2
			table = s.Resize(table, at, 8*buckets)
		}
		for range each {
			s.Free(s.Alloc(at+0.05*s.Float64(), s.Size(220, 0.9)), shutdown(s))
		}
	}
	s.Free(table, shutdown(s))
}

func ribbon(s *behaviour.Stack) {
	lots := []float64{s.Uniform(0.5, 20), s.WhenDone(s.Uniform(0.05, 0.5))}
	for _, at := range lots {
		for range int(s.LogUniform(15, 500)) {
			s.Free(s.Alloc(at+s.Exponential(2), 16*16*4<<s.IntN(3)), shutdown(s))
		}
	}
	for _, at := range s.Requests(s.LogUniform(1, 4000)) { // the same path serves menus, which go when they close
		s.AllocFor(at, s.Exponential(3), 16*16*4)
	}
}

func profiles(s *behaviour.Stack) {
	mean, each := s.LogUniform(0.04, 0.13), s.UniformInt(1, 8)
	for range s.UniformInt(15, 450) {
		at := early(s, mean)
		for range each {
			s.Free(s.Alloc(at+s.Exponential(1), s.Size(350, 0.8)), shutdown(s))
		}
	}
	s.Churn(s.Requests(s.LogUniform(1, 6000)), 0.2, s.Sizes(350, 0.8))
}

func scratchBuffers(s *behaviour.Stack) {
	threads, each := s.UniformInt(3, 64), s.UniformInt(1, 6)
	lives := max(s.Seconds*s.LogUniform(0.004, 0.08), s.Seconds*float64(threads*each)/20000)
	warms := s.Seconds * s.Uniform(0.001, 0.1)
	for range threads {
		for at := warms * s.Float64(); at < s.Seconds; {
			ends := at + s.Exponential(lives)
			for range each {
				s.Free(s.Alloc(at+0.01*s.Float64(), 4096<<s.IntN(4)), ends)
			}
			at = ends + s.Exponential(lives/3)
		}
	}
}

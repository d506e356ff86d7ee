package servers

import "heapdrift/tools/leakeval/evaluation/behaviour"

var leaksOfStorage = []behaviour.Behaviour{
	behaviour.NewLeak("access statistics: one array gets a slot for each connection and only ever grows",
		"Connection numbers are not used again, so the array that they index is reallocated for ever.", connectionSlots),
	behaviour.NewLeak("block cache: a page whose checksum fails leaves the cache and is not freed",
		"The full cache turns over as it should, but the error path drops the page's only reference.", badPages),
	behaviour.NewLeak("lock manager: the locks of a deadlock's victim are not returned",
		"Roll-back of a victim unlinks its lock objects without giving them back; deadlocks come in groups.",
		deadlockVictims),
	behaviour.NewLeak("directory server: cookie of a paged search that the client abandons",
		"A cookie is freed with the last page, and clients that find what they want ask for no more pages.", pagedSearch),
	behaviour.NewLeak("mail server: the last recipient of each envelope is not freed",
		"The loop that frees the list ends one node too early where there is more than one.", lastRecipient),
	behaviour.NewLeak("write-ahead log: index segments of a reader slot that was never given back",
		"A crashed reader's mark stays in its slot, so each checkpoint retains one more segment and frees the others.",
		readerMark),
}

func connectionSlots(s *behaviour.Stack) {
	n := s.LogUniform(500, 12000)
	step := max(1, int(n/s.LogUniform(16, 500)))
	slot := s.UniformInt(8, 256)
	bytes := step * slot
	at := s.Requests(n)
	block := s.Alloc(at[0], bytes)
	for i := step; i < len(at); i += step {
		bytes += step * slot
		block = s.Resize(block, at[i], bytes)
	}
}

func badPages(s *behaviour.Stack) {
	s.MaybePrivate(0.4)
	at, keys := lookups(s, s.LogUniform(2000, 12000))
	page := 1 << s.UniformInt(11, 15)
	size := func() int { return page }
	c := newCache(s, min(boundOf(s, keys), 1500), []func(*cache) int{leastRecent, anyOne}[s.IntN(2)])
	bad := min(rare(s, float64(len(at)), 0.001, 0.05), 1500/float64(len(at)))
	for i, t := range at {
		if s.Chance(bad) {
			s.Alloc(t, page)
			continue
		}
		c.get(t, keys[i], size)
	}
	c.shutDown()
}

func deadlockVictims(s *behaviour.Stack) {
	s.MaybePrivate(0.4)
	n, bytes := s.LogUniform(1000, 15000), s.UniformInt(64, 256)
	size := func() int { return bytes }
	churn(s, n, flight(s, n, 0.005, 15), size)
	locks := s.UniformInt(2, 12)
	for _, at := range episodes(s, 8, 25) {
		for range s.UniformInt(1, 6) {
			// A victim took its locks one after the other before it was chosen.
			begin := at + s.Uniform(0, 30)
			for i := range s.UniformInt(2, locks) {
				s.Alloc(begin+0.02*float64(i), bytes)
			}
		}
	}
}

func pagedSearch(s *behaviour.Stack) {
	n, cookie, page := s.LogUniform(100, 3000), sizes(s, 60, 900), sizes(s, 2000, 60000)
	abandoned := rare(s, n, 0.02, 0.7)
	think, pages := flight(s, n*3, 0.1, 60), s.UniformInt(1, 6)
	for _, at := range s.Requests(n) {
		b := s.Alloc(at, cookie())
		end := at
		for range s.UniformInt(1, pages) {
			s.AllocFor(end, 0.05, page())
			end += s.Exponential(think)
		}
		if !s.Chance(abandoned) {
			s.Free(b, end)
		}
	}
}

func lastRecipient(s *behaviour.Stack) {
	n, size := s.LogUniform(60, 2500), sizes(s, 48, 320)
	several := min(1, rare(s, n, 0.05, 0.9))
	hold, most := flight(s, 6*n, 0.5, 600), s.UniformInt(2, 10)
	for _, at := range s.Requests(n) {
		end := at + s.Exponential(hold)
		if !s.Chance(several) {
			s.Free(s.Alloc(at, size()), end)
			continue
		}
		for range s.UniformInt(1, most-1) {
			s.Free(s.Alloc(at, size()), end)
		}
		s.Alloc(at+0.001, size())
	}
}

func readerMark(s *behaviour.Stack) {
	// Segments double as the log is busier, so they are not all of one size.
	bytes, segments := 1<<s.UniformInt(12, 15), s.UniformInt(1, 12)
	checkpoint := period(s, 20, 1200, 24, 400)
	crashed := s.Seconds * s.Uniform(0, 0.4)
	for _, at := range s.Every(checkpoint, s.Uniform(0, 0.4)) {
		for i := range segments {
			b := s.Alloc(at+checkpoint*0.5*float64(i)/float64(segments), bytes<<s.IntN(2))
			if i > 0 || at < crashed {
				s.Free(b, at+checkpoint*s.Uniform(0.8, 1.2))
			}
		}
	}
}

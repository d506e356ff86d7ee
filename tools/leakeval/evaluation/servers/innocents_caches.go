package servers

import "heapdrift/tools/leakeval/evaluation/behaviour"

var innocentCaches = []behaviour.Behaviour{
	behaviour.NewInnocent("storage engine: page cache of fixed size, least recently used page goes first",
		"The cache fills in the first part of the run and then frees a page for each that it reads.", pageCache),
	behaviour.NewInnocent("caching proxy: objects in a full cache are replaced at random",
		"The number of objects is bounded, and unlucky ones stay for very long while others go at once.", objectCache),
	behaviour.NewInnocent("database server: compiled statements, least often used go first",
		"Popular statements stay for good, and the rest of the bounded cache turns over.", statementCache),
	behaviour.NewInnocent("resolver: answers are kept for their time to live",
		"Each answer expires a fraction of the run after it came, and the next question fetches another.", answerCache),
	behaviour.NewInnocent("TLS server: resumable sessions, expired ones flushed every 255 connections",
		"Sessions have a short lifetime, but nothing frees them until the connection counter comes round.",
		resumableSessions),
	behaviour.NewInnocent("directory server: two generations of resolved names, the older dropped as a whole",
		"A generation that is full becomes the older one, and the one before is freed at that moment.", generations),
	behaviour.NewInnocent("web server: header names and host names are interned once",
		"The vocabulary is finite, and all of it has been seen well inside the run.", internedNames),
	behaviour.NewInnocent("mail server: descriptor of each mailbox, made when it is first opened",
		"There are only so many mailboxes, all are opened in the first part of the run, and descriptors stay.", mailboxes),
}

func pageCache(s *behaviour.Stack) {
	s.MaybePrivate(0.4)
	at, keys := lookups(s, s.LogUniform(400, 12000))
	page := 1 << s.UniformInt(11, 16)
	newCache(s, boundOf(s, keys), leastRecent).play(at, keys, func() int { return page })
}

func objectCache(s *behaviour.Stack) {
	at, keys := lookups(s, s.LogUniform(300, 12000))
	newCache(s, boundOf(s, keys), anyOne).play(at, keys, sizes(s, 800, 200000))
}

func statementCache(s *behaviour.Stack) {
	at, keys := lookups(s, s.LogUniform(300, 9000))
	newCache(s, min(boundOf(s, keys), 1000), leastOften).play(at, keys, sizes(s, 700, 30000))
}

func answerCache(s *behaviour.Stack) {
	at, keys := lookups(s, s.LogUniform(300, 8000))
	e := expiry{seconds: min(s.LogUniform(20, 3600), s.Seconds/10), reaper: min(s.LogUniform(1, 300), s.Seconds/40)}
	e.play(s, at, keys, sizes(s, 90, 900))
}

func resumableSessions(s *behaviour.Stack) {
	n, size := s.LogUniform(3500, 11000), sizes(s, 300, 3500)
	lifetime := min(s.LogUniform(60, 1800), s.Seconds/12)
	resumed := s.Uniform(0, 0.8) // clients that resume make no session
	var kept []behaviour.Block
	var due []float64
	for i, at := range s.Requests(n) {
		if !s.Chance(resumed) {
			kept, due = append(kept, s.Alloc(at, size())), append(due, at+lifetime)
		}
		if i%255 != 254 {
			continue
		}
		for len(due) > 0 && due[0] < at {
			s.Free(kept[0], at)
			kept, due = kept[1:], due[1:]
		}
	}
}

func generations(s *behaviour.Stack) {
	at, keys := lookups(s, s.LogUniform(600, 10000))
	// A generation takes what comes new in the first eighth of the run or less.
	bound := max(4, boundOf(s, keys[:len(keys)*3/10]))
	size := sizes(s, 100, 1200)
	young, old := map[int]behaviour.Block{}, map[int]behaviour.Block{}
	for i, t := range at {
		if _, isThere := young[keys[i]]; isThere {
			continue
		}
		if b, isThere := old[keys[i]]; isThere {
			delete(old, keys[i])
			young[keys[i]] = b
		} else {
			young[keys[i]] = s.Alloc(t, size())
		}
		if len(young) >= bound {
			for _, b := range old {
				s.Free(b, t)
			}
			young, old = map[int]behaviour.Block{}, young
		}
	}
}

func internedNames(s *behaviour.Stack) {
	names := int(s.LogUniform(20, 1500))
	at, who := visits(s, float64(names)*s.Uniform(9, 20), names)
	newCache(s, names, anyOne).play(at, who, sizes(s, 12, 90))
}

func mailboxes(s *behaviour.Stack) {
	boxes, parts := int(s.LogUniform(30, 1200)), s.UniformInt(1, 3)
	at, who := visits(s, float64(boxes)*s.Uniform(8, 16), boxes)
	size, seen := sizes(s, 200, 4000), make([]bool, boxes)
	for i, t := range at {
		if seen[who[i]] {
			continue
		}
		seen[who[i]] = true
		for range parts {
			s.Alloc(t, size())
		}
	}
}

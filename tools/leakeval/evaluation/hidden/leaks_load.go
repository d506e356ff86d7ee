package hidden

import (
	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// leaksByLoad lose blocks as the program works.
var leaksByLoad = []behaviour.Behaviour{
	behaviour.NewLeak("reverse proxy: large full response cache, an entry is lost when it is replaced while it is being revalidated",
		"An entry that leaves the table during its revalidation is freed by nobody; the cache around it is bounded.",
		proxyCache),
	behaviour.NewLeak("web shop: sessions are swept after their expiry, a few in a hundred are no longer in the list that is swept",
		"Sessions whose log-in changes their key fall out of the list of expiries and are never removed.", shopSessions),
	behaviour.NewLeak("automation server: one COM reference in a thousand is not released",
		"A rare path returns without Release, so that the object of that call stays for ever.", comReferences),
	behaviour.NewLeak("order gateway: nodes of parsed messages, a rare kind of field leaves its node behind",
		"All nodes of a message are freed with it but those which a rare kind of field detaches.", detachedNodes),
	behaviour.NewLeak("script host: a collector frees 70 % of the garbage at each run and never the rest",
		"Garbage that is in cycles is passed over by each collection, also by all later ones.", collectorLeavesCycles),
	behaviour.NewLeak("trading client: orders in shifts and nothing between them, cancelled ones leave a record",
		"Each cancelled order of a shift leaves a record; between the shifts the program does nothing.", shiftOrders),
}

// proxyCache forgets an entry now and then that nobody frees.
func proxyCache(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	n := s.LogUniformInt(5000, 29000)
	uses, keys := atWork(s, n, 0, 1), popular(s, n)
	c, most := newCache(s, sizes(s, 100, 20000), lastUse, s.UniformInt(6, 16)), capacity(s, uses, keys)
	losses := atWork(s, s.LogUniformInt(14, 95), 0.02, 0.99)
	for i, at := range uses {
		c.use(at, keys[i], most)
		for len(losses) > 0 && losses[0] <= at {
			losses = losses[1:]
			if len(c.entries) > 0 {
				c.forget(s.IntN(len(c.entries)))
			}
		}
	}
	// What is in the table is freed at the exit, which the run does not see.
	for _, e := range c.entries {
		s.Free(e.block, s.Seconds*1.01)
	}
}

// shopSessions are freed by a sweep, which does not see some of them.
func shopSessions(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	n := s.LogUniformInt(200, 3000)
	expiry, sweep, size := s.Seconds*s.LogUniform(0.02, 0.09), s.Seconds*s.LogUniform(0.001, 0.02), sizes(s, 100, 8000)
	lost := s.Picked(n, max(16, int(s.Uniform(0.02, 0.1)*float64(n))))
	for i, at := range atWork(s, n, 0, 1) {
		session := s.Alloc(at, size())
		if !lost[i] {
			use := min(s.Exponential(expiry/2), s.Seconds/20)
			s.Free(session, behaviour.NextTick(at+use+expiry, sweep))
		}
	}
}

// comReferences keep one object in a thousand.
func comReferences(s *behaviour.Stack) {
	n := s.UniformInt(13000, 29500)
	lost := s.Picked(n, max(13, n/1000))
	churn(s, atWork(s, n, 0, 1), held(s, n, 300), sizes(s, 24, 400), lost)
}

// detachedNodes are a few of very many nodes, which come and go by the message.
func detachedNodes(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	n, nodes := s.LogUniformInt(6000, 27000), s.UniformInt(4, 60)
	mean, size := held(s, n, 300), sizes(s, 24, 600)
	lost := s.Picked(n, s.LogUniformInt(14, 90))
	made := 0
	for _, at := range atWork(s, n/nodes, 0, 1) {
		end := at + s.Exponential(mean)
		for range nodes {
			node := s.Alloc(at, size())
			if !lost[made] {
				s.Free(node, end)
			}
			made++
		}
	}
}

// collectorLeavesCycles frees the garbage by the collection.
func collectorLeavesCycles(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	n := s.LogUniformInt(70, 1200)
	mean, size := s.Seconds*s.LogUniform(1e-4, 0.03), sizes(s, 32, 3000)
	collections := append(bouts(s, 15, 70, 0, 1), s.Seconds*1.01)
	for _, at := range atWork(s, n, 0, 1) {
		object := s.Alloc(at, size())
		if s.Chance(0.7) {
			s.Free(object, behaviour.NextOrNever(collections, at+min(s.Exponential(mean), s.Seconds/10)))
		}
	}
}

// shiftOrders leave records by day; at night only these are there.
func shiftOrders(s *behaviour.Stack) {
	shifts, length := s.UniformInt(2, 4), s.Uniform(0.45, 0.65)
	starts := s.Uniform(0, 1-length)
	n := s.LogUniformInt(800, 12000)
	mean, size := min(held(s, n, 500), s.Seconds/60), sizes(s, 48, 2000)
	lost := s.Picked(n, s.LogUniformInt(17, 95))
	for i := range n {
		at := s.Seconds * (float64(s.IntN(shifts)) + starts + length*s.Float64()) / float64(shifts)
		order := s.Alloc(at, size())
		if !lost[i] {
			s.Free(order, at+s.Exponential(mean))
		}
	}
}

package servers

import "heapdrift/tools/leakeval/evaluation/behaviour"

var leaksOfConnections = []behaviour.Behaviour{
	behaviour.NewLeak("IOCP server: the operation context is lost when WSARecv fails at once with a reset",
		"Only the completion frees the context, and an operation that fails at once never completes.", overlappedLost),
	behaviour.NewLeak("TLS listener: state of a handshake that the peer breaks off is not freed",
		"The error path closes the socket but does not free the session object and what hangs on it.", handshakeBrokenOff),
	behaviour.NewLeak("thread per connection: a thread that the watchdog terminates keeps its per-thread data",
		"TerminateThread skips the clean-up of the run-time library, so each stopped thread leaves its block behind.",
		terminatedThread),
	behaviour.NewLeak("web socket upgrade: session and its own read handler hold each other",
		"The handler captures a shared pointer to the session that owns it, so upgraded sessions are never destroyed.",
		upgradedSession),
	behaviour.NewLeak("reverse proxy: pooled upstream connections are forgotten when the upstream resets them",
		"An outage erases the idle connections from the pool's list without deleting them.", forgottenUpstream),
	behaviour.NewLeak("broker: unacknowledged deliveries of a consumer that died stay in its map",
		"The channel's map is dropped as a raw pointer when the consumer vanishes without closing its channel.",
		deadConsumer),
	behaviour.NewLeak("health check: the address list that getaddrinfo gives is not freed",
		"Each check resolves the back end and nobody calls freeaddrinfo.", addressLists),
	behaviour.NewLeak("rate limiter: an entry for each address and port that ever connected",
		"The key contains the ephemeral port, so no entry is found again, and the sweeper only visits banned ones.",
		rateLimiter),
}

func overlappedLost(s *behaviour.Stack) {
	n := s.LogUniform(300, 8000)
	size, wait := sizes(s, 120, 8300), flight(s, n, 0.01, 60)
	churn(s, n, wait, size)
	most := s.UniformInt(3, 60)
	for _, at := range episodes(s, 8, 22) {
		spread := s.LogUniform(0.05, 20)
		s.Burst(s.UniformInt(2, most), at, spread, size)
	}
}

func handshakeBrokenOff(s *behaviour.Stack) {
	s.MaybePrivate(0.4)
	n, parts := s.LogUniform(300, 5000), make([]int, s.UniformInt(1, 5))
	for i := range parts {
		parts[i] = s.Size(s.LogUniform(48, 9000), 0)
	}
	broken, stay := rare(s, n, 0.003, 0.12), flight(s, n*float64(len(parts)), 0.2, 300)
	lost := s.UniformInt(1, len(parts)) // the first so many parts have no owner but the session
	for _, at := range s.Requests(n) {
		isBroken := s.Chance(broken)
		end := s.Exponential(stay)
		for i, bytes := range parts {
			if isBroken && i < lost {
				s.Alloc(at, bytes)
			} else {
				s.AllocFor(at, end, bytes)
			}
		}
	}
}

func terminatedThread(s *behaviour.Stack) {
	n, bytes := s.LogUniform(80, 4000), s.UniformInt(500, 1200)
	share, stay := rare(s, n, 0.02, 0.5), flight(s, n, 1, 900)
	s.Lose(s.Requests(n), share, stay, behaviour.FixedSize(bytes))
}

func upgradedSession(s *behaviour.Stack) {
	n := s.LogUniform(100, 5000)
	upgraded, stay := min(rare(s, n, 0.02, 0.9), 1200/n), flight(s, n, 5, 1200)
	session, buffer := s.Size(s.LogUniform(300, 3000), 0), sizes(s, 500, 16384)
	for _, at := range s.Requests(n) {
		end := at + s.Exponential(stay)
		a, b := s.Alloc(at, session), s.Alloc(at+0.001, buffer())
		if s.Chance(upgraded) {
			continue
		}
		s.Free(a, end)
		s.Free(b, end)
	}
}

func forgottenUpstream(s *behaviour.Stack) {
	p := &pool{s: s, idle: s.LogUniform(10, s.Seconds/20), least: s.UniformInt(0, 6), most: s.UniformInt(10, 200)}
	size, n := sizes(s, 400, 20000), s.LogUniform(500, 6000)
	hold, outages := flight(s, n, 0.02, 30), episodes(s, 8, 40)
	retries := s.UniformInt(2, 12)
	for _, at := range s.Requests(n) {
		for len(outages) > 0 && outages[0] <= at {
			p.forget(outages[0])
			// Until the upstream answers again, each attempt is forgotten as well.
			for range s.UniformInt(2, retries) {
				s.Alloc(outages[0]+s.Float64(), size())
			}
			outages = outages[1:]
		}
		p.take(at, s.Exponential(hold), size)
	}
	p.shutDown()
}

func deadConsumer(s *behaviour.Stack) {
	s.MaybePrivate(0.4)
	n, size := s.LogUniform(500, 12000), sizes(s, 80, 4000)
	churn(s, n, flight(s, n, 0.01, 40), size)
	prefetch := s.UniformInt(2, 50)
	for _, at := range episodes(s, 10, 30) {
		// What was delivered shortly before the consumer died is what it had not acknowledged.
		window := s.LogUniform(0.1, 30)
		for range s.UniformInt(2, prefetch) {
			s.Alloc(max(0, at-window*s.Float64()), size())
		}
	}
}

func addressLists(s *behaviour.Stack) {
	addresses := s.UniformInt(1, 4)
	for _, at := range s.Every(period(s, 2, 600, 25, 900), s.Uniform(0, 0.3)) {
		for range addresses {
			s.Alloc(at, []int{64, 76, 80, 96}[s.IntN(4)])
		}
	}
}

func rateLimiter(s *behaviour.Stack) {
	size := sizes(s, 48, 400)
	banned, sweep := s.LogUniform(0.01, 0.4), s.LogUniform(20, 600)
	for _, at := range s.Requests(s.LogUniform(60, 3000)) {
		b := s.Alloc(at, size())
		if s.Chance(banned) {
			s.Free(b, at+sweep*s.Uniform(1, 2))
		}
	}
}

package servers

import (
	"slices"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var leaksOfRequests = []behaviour.Behaviour{
	behaviour.NewLeak("HTTP parser: the header block is lost when the request turns out malformed",
		"The early return that answers 400 skips the free at the end of the function.", malformedRequest),
	behaviour.NewLeak("database server: sort buffer of a query cancelled while it spills, about one in a thousand",
		"The cancellation unwinds past the only place that returns the buffer.", cancelledSort),
	behaviour.NewLeak("RPC server: out parameters are not freed when the manager routine raises",
		"The stub only frees out parameters of calls that return; callers retry, so failures come in groups.", raisedCall),
	behaviour.NewLeak("file server: change buffers of requests that time out while a backup runs",
		"A timed-out request detaches its buffer and no completion takes it back; only backups make it so slow.",
		backupTimeouts),
	behaviour.NewLeak("statistics job: each roll-up leaves a few of its rows behind",
		"The job deletes its rows, but those of counters that were reset meanwhile were taken out of the list before.",
		rollUp),
	behaviour.NewLeak("web server: stapled response kept for each handshake once the certificate was renewed",
		"After the renewal the callback copies the response and the library, told it is static, does not free it.",
		stapledResponse),
	behaviour.NewLeak("upload service: parts of abandoned uploads, of which the sweeper finds only some",
		"The sweeper follows the index, and parts that arrived before their manifest were never entered there.",
		abandonedUploads),
	behaviour.NewLeak("service host: each reload of the configuration loses the previous certificate context",
		"The new context overwrites the pointer to the old one without CertFreeCertificateContext.", certificateReload),
	behaviour.NewLeak("worker process: an extension DLL leaves its globals behind each time it is recycled",
		"The DLL allocates tables when it is loaded and frees only some of them when it is unloaded.", recycledExtension),
}

func malformedRequest(s *behaviour.Stack) {
	n, size := s.LogUniform(200, 12000), sizes(s, 256, 16384)
	bad, hold := rare(s, n, 0.002, 0.2), flight(s, n, 0.002, 5)
	s.Lose(s.Requests(n), bad, hold, size)
}

func cancelledSort(s *behaviour.Stack) {
	s.MaybePrivate(0.4)
	n, size := s.LogUniform(12000, 26000), sizes(s, 1024, 262144)
	cancelled, hold := rare(s, n, 0.0009, 0.003), flight(s, n, 0.005, 20)
	s.Lose(s.Requests(n), cancelled, hold, size)
}

func raisedCall(s *behaviour.Stack) {
	n := s.LogUniform(300, 9000)
	small, large := sizes(s, 16, 200), sizes(s, 400, 20000)
	raised, retries := rare(s, n, 0.004, 0.08), s.UniformInt(0, 3)
	hold, ofLarge := flight(s, n, 0.001, 2), s.Uniform(0.05, 0.9)
	size := func() int {
		if s.Chance(ofLarge) {
			return large()
		}
		return small()
	}
	for _, at := range s.Requests(n) {
		if !s.Chance(raised) {
			s.AllocFor(at, s.Exponential(hold), size())
			continue
		}
		for i := range 1 + s.IntN(retries+1) {
			s.Alloc(at+float64(i)*s.Uniform(0.1, 3), size())
		}
	}
}

func backupTimeouts(s *behaviour.Stack) {
	n, size := s.LogUniform(200, 8000), sizes(s, 512, 65536)
	churn(s, n, flight(s, n, 0.01, 30), size)
	lost := s.LogUniform(36, 1200)
	var times []float64
	if s.Chance(0.5) {
		// One full backup takes the night, which is the later part of the run.
		times = s.Instants(lost, s.Seconds*s.Uniform(0.2, 0.48), s.Seconds*s.Uniform(0.85, 1))
	} else {
		// Incremental ones come again and again.
		starts, length := episodes(s, 8, 12), s.Seconds*s.LogUniform(0.002, 0.03)
		for _, at := range starts {
			times = append(times, s.Instants(lost/float64(len(starts)), at, at+length)...)
		}
	}
	for _, at := range times {
		s.Alloc(at, size())
	}
}

func rollUp(s *behaviour.Stack) {
	rows, most, size := s.LogUniform(5, 150), s.UniformInt(1, 6), sizes(s, 40, 600)
	for _, at := range s.Every(period(s, 60, 3600, 16, 60), 0.05) {
		end := at + s.LogUniform(0.5, 25)
		for range 1 + s.Poisson(rows) {
			s.Free(s.Alloc(at+s.Float64()*(end-at)*0.8, size()), end)
		}
		for range s.UniformInt(1, most) {
			s.Alloc(at+s.Float64()*(end-at)*0.8, size())
		}
	}
}

func stapledResponse(s *behaviour.Stack) {
	renewed := s.Uniform(0.1, 0.48)
	n := s.LogUniform(200, 6000)
	share, hold := rare(s, n*(1-renewed), 0.03, 1), flight(s, n, 0.05, 60)
	bytes := s.UniformInt(470, 2300)
	for _, at := range s.Requests(n) {
		b := s.Alloc(at, bytes)
		if s.Work(at) < renewed || !s.Chance(share) {
			s.Free(b, at+s.Exponential(hold))
		}
	}
}

func abandonedUploads(s *behaviour.Stack) {
	n, size := s.LogUniform(200, 6000), sizes(s, 2000, 1<<20)
	abandoned, found := min(2*rare(s, n, 0.02, 0.3), 1), s.Uniform(0.2, 0.5)
	hold, sweep := flight(s, n, 0.5, 90), period(s, 60, 3600, 8, 60)
	for _, at := range s.Requests(n) {
		b := s.Alloc(at, size())
		switch {
		case !s.Chance(abandoned):
			s.Free(b, at+s.Exponential(hold))
		case s.Chance(found):
			s.Free(b, behaviour.NextTick(at+sweep, sweep))
		}
	}
}

func certificateReload(s *behaviour.Stack) {
	bytes := s.UniformInt(900, 4000)
	times := s.Every(s.Seconds/s.Uniform(14.5, 31), s.Uniform(0, 0.8))
	if s.Chance(0.5) {
		size := sizes(s, 900, 4000)
		n := s.LogUniform(20, 800)
		churn(s, n, flight(s, n, 0.01, 10), size)
	}
	for _, at := range times {
		s.Alloc(at, bytes)
	}
}

func recycledExtension(s *behaviour.Stack) {
	loads := s.Every(period(s, 60, 2400, 14, 50), s.Uniform(0, 0.5))
	loads = append(loads, s.Seconds+1)
	slices.Sort(loads)
	tables := make([]int, s.UniformInt(3, 60))
	for i := range tables {
		tables[i] = s.Size(s.LogUniform(24, 12000), 0)
	}
	lost := s.UniformInt(1, max(1, len(tables)/2))
	for i := range len(loads) - 1 {
		for j, bytes := range tables {
			b := s.Alloc(loads[i]+0.01*float64(j), bytes)
			if j >= lost {
				s.Free(b, max(loads[i+1]-0.5, loads[i]+1))
			}
		}
	}
}

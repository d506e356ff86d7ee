package servers

import (
	"slices"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var innocentQueues = []behaviour.Behaviour{
	behaviour.NewInnocent("broker: messages wait while the consumer is away and drain when it is back",
		"Every message is freed when it is delivered, and each backlog is worked off soon after the outage.", backlogs),
	behaviour.NewInnocent("mail server: deferred messages are tried again and bounce in the end",
		"Attempts come at growing intervals, and the last one, a fraction of the run later, frees the message.",
		deferredMail),
	behaviour.NewInnocent("database server: ring of the last slow queries",
		"Once the ring has gone round, each new text frees the oldest.", slowQueries),
	behaviour.NewInnocent("directory service: synchronisation batches hold their objects until they commit",
		"Each batch builds up a set of objects and frees all of it at its end, and the last is no larger in kind.",
		syncBatches),
	behaviour.NewInnocent("network stack: lookaside list of packet descriptors, trimmed with hysteresis",
		"Descriptors given back stay on the list until there are too many, and then it is cut to its low mark.", lookaside),
	behaviour.NewInnocent("report server: two peaks a shift, results kept until the client has read them",
		"Most results are made in recurring peaks, and each is freed minutes later.", shiftPeaks),
}

func backlogs(s *behaviour.Stack) {
	s.MaybePrivate(0.4)
	n, size := s.LogUniform(300, 9000), sizes(s, 100, 20000)
	quick, drain := flight(s, n, 0.002, 2), s.Uniform(0.1, 1)
	// The last outage ends well before the run does.
	var from, until []float64
	for _, at := range episodes(s, 2, 8) {
		if length := s.Seconds * s.LogUniform(0.005, 0.06); at+length*(1+drain) < 0.92*s.Seconds {
			from, until = append(from, at), append(until, at+length)
		}
	}
	for _, at := range s.Requests(n) {
		end := at + s.Exponential(quick)
		for i := range from {
			if from[i] <= at && at < until[i] {
				// The oldest goes first, so the backlog drains in the order in which it came.
				end = until[i] + drain*(at-from[i])
			}
		}
		s.Free(s.Alloc(at, size()), end)
	}
}

func deferredMail(s *behaviour.Stack) {
	n, size := s.LogUniform(200, 6000), sizes(s, 1500, 80000)
	deferred, accepted := s.LogUniform(0.02, 0.6), s.Uniform(0.1, 0.6)
	quick, first, limit := flight(s, n, 0.1, 10), s.LogUniform(5, 120), s.Seconds*s.LogUniform(0.01, 0.1)
	for _, at := range s.Requests(n) {
		b := s.Alloc(at, size())
		if !s.Chance(deferred) {
			s.Free(b, at+s.Exponential(quick))
			continue
		}
		wait, pause := 0.0, first
		for wait < limit {
			wait += pause
			pause *= 1.7
			if s.Chance(accepted) {
				break
			}
		}
		s.Free(b, at+min(wait, limit))
	}
}

func slowQueries(s *behaviour.Stack) {
	n, size := s.LogUniform(80, 6000), sizes(s, 200, 6000)
	ring := make([]behaviour.Block, max(4, min(2000, int(n*s.LogUniform(0.02, 0.4)))))
	for i, at := range s.Requests(n) {
		slot := i % len(ring)
		if i >= len(ring) {
			s.Free(ring[slot], at)
		}
		ring[slot] = s.Alloc(at, size())
	}
}

func syncBatches(s *behaviour.Stack) {
	every := s.Seconds / s.Uniform(6, 24)
	objects, size, busy := s.LogUniform(10, 900), sizes(s, 100, 4000), s.Uniform(0.05, 0.7)
	spread := s.Uniform(0, 0.15)
	for _, at := range s.Every(every, 0.1) {
		end := at + every*busy*s.Uniform(0.8, 1)
		for range s.Poisson(s.LogNormal(objects, spread)) {
			s.Free(s.Alloc(at+(end-at)*s.Float64(), size()), end+s.Uniform(0, 1))
		}
	}
}

func lookaside(s *behaviour.Stack) {
	bytes, n := s.UniformInt(64, 512), s.LogUniform(1000, 14000)
	hold, high := flight(s, n, 0.05, 60), s.UniformInt(8, 200)
	low := int(float64(high) * s.Uniform(0.1, 0.9))
	type event struct {
		at    float64
		taken bool
	}
	var events []event
	add := func(at float64) {
		events = append(events, event{at, true}, event{at + s.Exponential(hold), false})
	}
	for _, at := range s.Requests(n) {
		add(at)
	}
	// Bursts push the list above its mark again and again.
	for _, at := range episodes(s, 6, 20) {
		for range s.UniformInt(high/2, 2*high) {
			add(at + hold*s.Float64())
		}
	}
	slices.SortFunc(events, func(a, b event) int {
		if a.at < b.at {
			return -1
		}
		return 1
	})
	var free, lent []behaviour.Block
	for _, e := range events {
		switch {
		case !e.taken:
			free, lent = append(free, lent[0]), lent[1:]
			for len(free) > high {
				for ; len(free) > low; free = free[1:] {
					s.Free(free[0], e.at)
				}
			}
		case len(free) > 0:
			lent, free = append(lent, free[len(free)-1]), free[:len(free)-1]
		default:
			lent = append(lent, s.Alloc(e.at, bytes))
		}
	}
}

func shiftPeaks(s *behaviour.Stack) {
	n, size := s.LogUniform(100, 3000), sizes(s, 3000, 400000)
	read := s.Seconds * s.LogUniform(0.002, 0.04)
	churn(s, n, min(read, 100*s.Seconds/n), size)
	shift, offset := s.Seconds/s.Uniform(3, 6), s.Float64()
	for i := -1; i < 7; i++ {
		for _, within := range []float64{0.25, 0.7} {
			peak := shift * (float64(i) + offset + within)
			for range s.Poisson(n / 10) {
				if at := peak + shift*0.06*s.NormFloat64(); 0 <= at && at < s.Seconds {
					s.AllocFor(at, s.Exponential(read), size())
				}
			}
		}
	}
}

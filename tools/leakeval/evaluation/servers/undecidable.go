package servers

import (
	"math"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var undecidable = []behaviour.Behaviour{
	behaviour.NewUndecidable("caching proxy: objects in a cache that is not full when the run ends",
		"The bound is beyond what the run asks for, so it cannot be told from a cache without a bound.", unfilledCache),
	behaviour.NewUndecidable("web application: sessions that expire after a good part of the working day",
		"The expiry is longer than two fifths of the run, which shows few ends or none.", longSessions),
	behaviour.NewUndecidable("broker: dead letters wait for the operator, who comes after the run",
		"They are freed when somebody looks at them; the run does not show that somebody ever will.", deadLetters),
	behaviour.NewUndecidable("cluster node: state made in two to four changes of membership",
		"So few bursts are either set-up of new peers or a loss with each change; the run has too few to say.",
		membershipChanges),
	behaviour.NewUndecidable("metrics endpoint: label values interned, the vocabulary not exhausted",
		"New values become rarer as the finite vocabulary is used up, but still come at the end of the run.", labelValues),
	behaviour.NewUndecidable("database server: row versions held by a transaction that is open until after the run",
		"From one instant on no version is purged; the run does not show whether the transaction ever ends.",
		openTransaction),
}

func unfilledCache(s *behaviour.Stack) {
	n, size := s.LogUniform(80, 3000), sizes(s, 600, 150000)
	uncached, hold := s.Uniform(0, 0.6), flight(s, n, 0.01, 20)
	for _, at := range s.Requests(n) {
		b := s.Alloc(at, size())
		if s.Chance(uncached) {
			s.Free(b, at+s.Exponential(hold))
		}
	}
}

func longSessions(s *behaviour.Stack) {
	n := s.LogUniform(100, 3000)
	at, who := visits(s, n, int(s.LogUniform(n, 20*n)))
	e := expiry{seconds: s.Seconds * s.LogUniform(0.42, 3), sliding: s.Chance(0.5),
		reaper: min(s.LogUniform(5, 300), s.Seconds/30)}
	e.play(s, at, who, sizes(s, 300, 12000))
}

func deadLetters(s *behaviour.Stack) {
	n, size := s.LogUniform(300, 9000), sizes(s, 200, 30000)
	dead, hold := rare(s, n, 0.004, 0.3), flight(s, n, 0.005, 20)
	operator := s.Seconds * s.Uniform(1.05, 3)
	for _, at := range s.Requests(n) {
		end := at + s.Exponential(hold)
		if s.Chance(dead) {
			end = operator
		}
		s.Free(s.Alloc(at, size()), end)
	}
}

func membershipChanges(s *behaviour.Stack) {
	blocks, size := s.LogUniform(10, 600), sizes(s, 80, 9000)
	for _, at := range episodes(s, 2, 4) {
		took := s.LogUniform(0.1, s.Seconds/60)
		s.Burst(3+s.Poisson(blocks), at, took, size)
	}
	if s.Chance(0.6) {
		n := s.LogUniform(50, 3000)
		churn(s, n, flight(s, n, 0.01, 30), size)
	}
}

func labelValues(s *behaviour.Stack) {
	values, n, size := s.LogUniform(60, 2500), s.LogUniform(2000, 20000), sizes(s, 16, 120)
	// Of n words the number of different ones grows like a power of n.
	power, made := s.Uniform(0.5, 0.8), 0.0
	at := s.Requests(n)
	for i, t := range at {
		if due := values * math.Pow(float64(i+1)/float64(len(at)), power); due >= made+1 {
			s.Alloc(t, size())
			made++
		}
	}
}

func openTransaction(s *behaviour.Stack) {
	n, size := s.LogUniform(100, 5000), sizes(s, 60, 2000)
	began, purge := s.Seconds*s.Uniform(0.05, 0.6), min(s.LogUniform(0.5, 60), s.Seconds/60)
	if n > 3000 {
		began = max(began, 0.4*s.Seconds)
	}
	ended := s.Seconds * s.Uniform(1.05, 2)
	quick, rolled := flight(s, n, 0.01, 10), s.Uniform(0, 0.5)
	for _, at := range s.Requests(n) {
		due := at + s.Exponential(quick)
		if at > began && !s.Chance(rolled) { // a version that was rolled back goes at once
			due = ended
		}
		s.Free(s.Alloc(at, size()), behaviour.NextTick(due, purge))
	}
}

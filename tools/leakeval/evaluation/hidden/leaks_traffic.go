package hidden

import (
	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// leaksInTraffic lose blocks among many of the same stack that come and go.
var leaksInTraffic = []behaviour.Behaviour{
	behaviour.NewLeak("mail relay: outages of the next host, mails wait for the end of each and a few are forgotten",
		"A mail whose retry timer fires during the reconnect is in no list any more; each outage has some.", relayOutages),
	behaviour.NewLeak("message broker: failed messages are freed on retry, those that fail in the error handler stay",
		"An error inside of the error handler skips the free; such errors come by chance, whatever the load is.",
		handlerErrors),
	behaviour.NewLeak("terminal server: one security context is left by each connection that closes",
		"The close of a connection frees all of its buffers and not its security context.", connectionContexts),
	behaviour.NewLeak("game lobby: rooms swell and shrink, a match that is cancelled loses its party record since a change of rules",
		"From some time of the run on the program takes a path for cancelled matches that frees nothing.", cancelledMatches),
	behaviour.NewLeak("print server: jobs free what they made, a job that fails frees one half of it",
		"The clean-up after a failure stops at the page which failed, so that the pages after it stay.", halfCleanedJobs),
}

// relayOutages pile mails up; most of them go when the outage ends.
func relayOutages(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	n := s.LogUniformInt(800, 15000)
	size := sizes(s, 100, 20000)
	churn(s, atWork(s, n, 0, 1), held(s, n, 200), size, nil)
	waiting, most := s.LogUniformInt(10, 250), s.UniformInt(2, 9)
	for _, from := range bouts(s, 6, 10, 0.02, 0.98) {
		end := from + s.Seconds*s.LogUniform(0.002, 0.012)
		lost := s.Picked(waiting, s.UniformInt(2, most))
		for i := range waiting {
			at := from + (end-from)*s.Float64()
			mail := s.Alloc(at, size())
			if !lost[i] {
				s.Free(mail, end+s.Exponential(s.Seconds/500))
			}
		}
	}
}

// handlerErrors come by chance among records whose number follows the load.
func handlerErrors(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	n := s.LogUniformInt(300, 12000)
	size := sizes(s, 60, 3000)
	churn(s, waves(s, n), held(s, n, 600), size, nil)
	for _, at := range atTime(s, s.UniformInt(13, 40), 0, 1) {
		s.Alloc(at, size())
	}
}

// connectionContexts stay when all else of a connection goes.
func connectionContexts(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	n := s.LogUniformInt(24, 98)
	instants := atWork(s, n, 0, 1)
	if s.Chance(0.5) {
		instants = rising(s, n, s.Uniform(1.2, 2.2))
	}
	mean, size, most := s.Seconds*s.LogUniform(0.003, 0.05), sizes(s, 64, 8000), s.LogUniform(6, 100)
	for _, at := range instants {
		end := at + min(s.Exponential(mean), s.Seconds/8)
		blocks := s.LogUniformInt(3, most)
		context := s.IntN(blocks)
		for i := range blocks {
			made := at + (end-at)*0.9*s.Float64()
			if made > s.Seconds {
				continue
			}
			block := s.Alloc(made, size())
			if i != context || end > s.Seconds {
				s.Free(block, end)
			}
		}
	}
}

// cancelledMatches are lost from some time on, beside rooms that come and go in waves.
func cancelledMatches(s *behaviour.Stack) {
	n := s.LogUniformInt(800, 12000)
	size := sizes(s, 80, 4000)
	mean := min(s.LogUniform(0.002, 0.04), 900/float64(n)) * s.Seconds
	for _, at := range waves(s, n) {
		s.AllocFor(at, min(s.Exponential(mean), s.Seconds/7), size())
	}
	from := s.Uniform(0.15, 0.5)
	for _, at := range atTime(s, s.LogUniformInt(16, 85), from, 1) {
		s.Alloc(at, size())
	}
}

// halfCleanedJobs leave the second half of some jobs.
func halfCleanedJobs(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	size, pages := sizes(s, 200, 30000), s.UniformInt(5, 14)
	length := s.Seconds * s.LogUniform(0.001, 0.02)
	job := func(from float64, fails bool) {
		for i := range pages {
			at := from + length*(float64(i)+s.Float64())/float64(pages)
			page := s.Alloc(at, size())
			if !fails || i < pages/2 {
				s.Free(page, from+length*1.05)
			}
		}
	}
	for _, at := range atWork(s, s.LogUniformInt(40, 900), 0, 1) {
		job(at, false)
	}
	for _, at := range bouts(s, 7, 14, 0.01, 0.97) {
		job(at, true)
	}
}

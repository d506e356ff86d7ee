package hidden

import (
	"math"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// innocentFlight are blocks that wait for something which comes in time.
var innocentFlight = []behaviour.Behaviour{
	behaviour.NewInnocent("API server: requests in flight while the load rises to the end of the run",
		"Each request is freed when it is answered; there are more of them because more come.", flightRising),
	behaviour.NewInnocent("crawler: pages in flight while hosts answer ever more slowly",
		"Each page is freed when it was read, which takes longer as the hosts get busier.", flightSlower),
	behaviour.NewInnocent("import server: a queue piles up for hours and is drained before the end",
		"Files come faster than they are loaded until the evening; then all of them are loaded and freed.", queueDrained),
	behaviour.NewInnocent("forum server: sessions with heavy tails, which expire after a seventh of the run at most",
		"Most visits are short and some are long; the longest are ended by the limit of a session.", heavyTails),
	behaviour.NewInnocent("DNS client: answers with three times to live, more of them as the load rises",
		"Each answer is removed by the sweep after its time to live; long ones are a part of all.", timesToLive),
}

// flightRising has an end of the run that is several times as busy as its start.
func flightRising(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	n, power := s.LogUniformInt(150, 20000), s.Uniform(1.5, 3.5)
	mean := min(s.LogUniform(0.002, 0.06), 2000/(power*float64(n))) * s.Seconds
	spread, size := s.Uniform(0.1, 1), sizes(s, 60, 20000)
	for _, at := range rising(s, n, power) {
		s.AllocFor(at, min(s.LogNormal(mean, spread), s.Seconds/7), size())
	}
}

// flightSlower has blocks that live longer and longer.
func flightSlower(s *behaviour.Stack) {
	n := s.LogUniformInt(150, 12000)
	power, size := s.Uniform(1, 3), sizes(s, 200, 60000)
	longest := min(s.LogUniform(0.02, 0.12), 1500/float64(n)) * s.Seconds
	for _, at := range rising(s, n, s.Uniform(1, 1.7)) {
		s.AllocFor(at, longest*s.Uniform(0.4, 1)*(0.05+0.95*math.Pow(at/s.Seconds, power)), size())
	}
}

// queueDrained serves in the order of arrival, evenly, from the start of the pile to its end.
func queueDrained(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	n := s.LogUniformInt(100, 3800)
	from, drained := s.Uniform(0, 0.25), s.Uniform(0.8, 0.95)
	peak := s.Uniform(0.5, 0.75)
	size := sizes(s, 100, 30000)
	late := from + s.Uniform(0.3, 0.9)*(peak-from)
	for i, at := range atTime(s, n, from, peak) {
		// Serving starts late, and the last is served when the queue is drained.
		served := s.Seconds * (late + (drained-late)*float64(i+1)/float64(n))
		s.Free(s.Alloc(at, size()), max(served, at+s.Exponential(s.Seconds/500)))
	}
	few := s.LogUniformInt(20, 600)
	churn(s, atTime(s, few, 0, 1), held(s, few, 50), size, nil)
}

// heavyTails are cut at the limit, so that the oldest are of any age up to it.
func heavyTails(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	n, tail := s.LogUniformInt(200, 12000), s.Uniform(0.4, 1.3)
	limit := s.Seconds / s.Uniform(7, 12)
	shortest, size := limit*s.LogUniform(1e-4, 0.02), sizes(s, 80, 8000)
	for _, at := range atWork(s, n, 0, 1) {
		s.AllocFor(at, min(shortest*math.Pow(1-s.Float64(), -1/tail), limit), size())
	}
}

// timesToLive are removed by a timer.
func timesToLive(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	n, size := s.LogUniformInt(200, 9000), sizes(s, 48, 600)
	sweep := s.Seconds * s.LogUniform(0.001, 0.02)
	longest := s.Seconds * s.Uniform(0.06, 0.12)
	lives := []float64{longest, longest * s.Uniform(0.1, 0.4), longest * s.LogUniform(0.005, 0.1)}
	for _, at := range rising(s, n, s.Uniform(1.2, 2.5)) {
		s.Free(s.Alloc(at, size()), behaviour.NextTick(at+lives[s.IntN(len(lives))], sweep))
	}
}

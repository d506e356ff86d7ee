package hidden

import (
	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// undecidable are what one run cannot tell.
var undecidable = []behaviour.Behaviour{
	behaviour.NewUndecidable("replication server: two to four outages leave some blocks each",
		"Each outage leaves blocks; one run cannot show whether the next one does or whether they are of a first use.",
		fewOutages),
	behaviour.NewUndecidable("image server: a cache of thumbnails that is not full when the run ends",
		"The cache has a limit which the run does not reach, so that nothing shows that there is one.", cacheNotFull),
	behaviour.NewUndecidable("billing server: a queue that is drained after the end of the run",
		"The queue is worked off at night; the run ends before and cannot show whether it is.", queueNotDrained),
	behaviour.NewUndecidable("banking portal: sessions that expire after a third of the run or later",
		"The run has fewer than four expiry times, which cannot show whether all sessions go or only those that do.",
		longExpiry),
}

// fewOutages leave blocks beside others that come and go.
func fewOutages(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	n, size, most := s.LogUniformInt(50, 6000), sizes(s, 60, 6000), s.LogUniform(5, 80)
	churn(s, atWork(s, n, 0, 1), held(s, n, 300), size, nil)
	outages := append(bouts(s, 1, 3, 0.02, 0.8), s.Seconds*s.Uniform(0.85, 0.98))
	for _, from := range outages {
		s.Burst(s.LogUniformInt(4, most), from, s.Seconds*0.01, size)
	}
}

// cacheNotFull loads each key once and evicts none.
func cacheNotFull(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	n := s.LogUniformInt(80, 3800)
	c, keys := newCache(s, sizes(s, 500, 30000), lastUse, 1), popular(s, n)
	for i, at := range atWork(s, n, 0, 1) {
		c.use(at, keys[i], n)
	}
}

// queueNotDrained is served slowly, in the order of arrival, from some time on.
func queueNotDrained(s *behaviour.Stack) {
	s.MaybePrivate(0.35)
	n, from := s.LogUniformInt(60, 3800), s.Uniform(0.1, 0.6)
	size, slow := sizes(s, 100, 10000), s.Uniform(1.8, 6)
	for _, at := range atTime(s, n, 0, 1) {
		behind := max(0, at-from*s.Seconds)
		s.AllocFor(at, slow*behind+s.Exponential(s.Seconds/500), size())
	}
}

// longExpiry frees only what came early in the run.
func longExpiry(s *behaviour.Stack) {
	n, expiry := s.LogUniformInt(50, 3800), s.Seconds*s.Uniform(0.3, 0.85)
	sweep, size := s.Seconds*s.LogUniform(0.001, 0.02), sizes(s, 100, 6000)
	for _, at := range atWork(s, n, 0, 1) {
		use := min(s.Exponential(s.Seconds/100), s.Seconds/15)
		s.Free(s.Alloc(at, size()), behaviour.NextTick(at+use+expiry, sweep))
	}
}

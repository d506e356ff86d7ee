package services

import (
	"math"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// leaksOfState lose memory through what the process keeps: tables, histories, caches.
var leaksOfState = []behaviour.Behaviour{
	behaviour.NewLeak("data acquisition: the sample array of each channel grows by a chunk and is never cut",
		"Samples are appended for a trend view that is not open; nothing ever removes old ones.", sampleArrays),
	behaviour.NewLeak("updater: a status text grows with every message that is appended to it",
		"Messages are added to one string for a log-on that never comes; it grows by a share each time.", statusText),
	behaviour.NewLeak("market data: a reconnect makes new subscription records over those of before",
		"The map's entries are overwritten by raw pointers to new records, and the old records are not deleted.",
		resubscribe),
	behaviour.NewLeak("simulator: removed vehicles are deleted through a base class without a virtual destructor",
		"Only the base part is destroyed, so the route that a derived class owns is not freed.", vehicleRoutes),
	behaviour.NewLeak("inference server: execution plans are kept under a key that holds the request's number",
		"Plans are meant to be found again by shape, but some keys hold a serial number and never match.", executionPlans),
	behaviour.NewLeak("virus scanner: full verdict cache, the loser of two simultaneous look-ups is dropped",
		"The cache is bounded, but an entry whose key is already there is not inserted and not freed.", duplicateVerdicts),
	behaviour.NewLeak("watchdog: records of processes that exit before they can be opened stay in the map",
		"A record is removed when the process handle is signalled, and such a process has no handle.", processRecords),
	behaviour.NewLeak("industrial gateway: each device session that ends by a time-out keeps its last frames",
		"A clean close frees the frame list; the keep-alive's time-out only closes the socket.", deviceFrames),
}

func sampleArrays(s *behaviour.Stack) {
	channels, start, chunk := s.UniformInt(1, 5), s.UniformInt(0, 64)*16, s.UniformInt(4, 512)*16
	growths := s.LogUniform(14, 600)
	for range channels {
		bytes := start + chunk
		b := s.Alloc(s.Seconds*s.Uniform(0, 0.002), bytes)
		full := s.Instants(growths, s.Seconds*0.002, s.Seconds)
		if s.Chance(0.5) { // sampled on change, thus as busy as the process is
			full = s.Requests(growths)
		}
		for _, at := range full {
			bytes += chunk
			b = s.Resize(b, max(at, s.Seconds*0.002), bytes)
		}
	}
}

func statusText(s *behaviour.Stack) {
	factor, ratio := s.Uniform(1.08, 1.3), s.LogUniform(20, 1000)
	bytes, lasts := s.LogUniform(64, 4096), s.LogUniform(0.01, 2)
	full := bytes * ratio
	b := s.Alloc(s.WhenDone(0.001), int(bytes))
	for first := bytes; bytes < full; {
		at := s.WhenDone(0.001 + 0.999*(bytes-first)/(full-first))
		bytes = math.Max(bytes*factor, bytes+16)
		b = s.Resize(b, at, int(bytes))
	}
	// The formatter's own buffers come from the same stack.
	s.Churn(requests(s, 20, 2000), lasts, s.Sizes(200, 0.5))
}

func resubscribe(s *behaviour.Stack) {
	instruments, lost := s.UniformInt(8, 120), s.LogUniform(0.15, 1)
	size := s.Size(s.LogUniform(96, 1500), 0)
	records := make([]behaviour.Block, instruments)
	for i := range records {
		records[i] = s.Alloc(s.Seconds*0.002*s.Float64(), size)
	}
	for _, drop := range windows(s, s.UniformInt(9, 25), 0.01*s.Seconds, s.Seconds, 0, 0.05) {
		for i := range records {
			at := drop.from + 0.002*float64(i)
			// Instruments without a pending quote take the path that frees; the two of the heartbeat always have one.
			if i >= 2 && !s.Chance(lost) {
				s.Free(records[i], at)
			}
			records[i] = s.Alloc(at, size)
		}
	}
}

func vehicleRoutes(s *behaviour.Stack) {
	vehicles := requests(s, 150, 2500)
	derived := rarely(s, len(vehicles), 0.02, 1)
	size, lives := s.LogUniform(48, 1000), s.LogUniform(s.Seconds/2000, s.Seconds/20)
	for _, at := range vehicles {
		ends := at + s.Exponential(lives)
		s.AllocFor(at, ends-at, 176)
		route := s.Alloc(at, 16*s.Size(size/16, 0.6))
		if !s.Chance(derived) {
			s.Free(route, ends)
		}
	}
}

func executionPlans(s *behaviour.Stack) {
	inputs, parts := requests(s, 80, 1800), s.UniformInt(1, 8)
	unique := min(s.LogUniform(0.03, 0.8), 2800/float64((1+len(inputs))*parts))
	unique = max(unique, 30/float64(1+len(inputs)))
	s.UseHeap(s.UniformInt(0, 2))
	shapes := make(map[int]bool)
	size, takes := s.LogUniform(64, 12000), s.LogUniform(0.005, 3)
	for _, at := range inputs {
		s.AllocFor(at, s.Exponential(takes), s.Size(size*4, 0.7))
		shape := s.UniformInt(0, 15)
		if s.Chance(unique) || !shapes[shape] {
			shapes[shape] = true
			for range parts {
				s.Alloc(at, s.Size(size, 1.1))
			}
		}
	}
}

func duplicateVerdicts(s *behaviour.Stack) {
	misses := requests(s, 400, 12000)
	verdicts := &cache{s: s, limit: limitOf(s, len(misses), 1500)}
	duplicate, hits := rarely(s, len(misses), 0.004, 0.06), s.UniformInt(0, 5)
	size := s.LogUniform(48, 500)
	for _, at := range misses {
		verdicts.hit(hits)
		verdicts.put(at, s.Size(size, 0.3), 0)
		if s.Chance(duplicate) {
			s.Alloc(at+0.01*s.Float64(), s.Size(size, 0.3))
		}
	}
}

func processRecords(s *behaviour.Stack) {
	s.UseHeap(s.UniformInt(0, 1))
	starts := requests(s, 200, 6000)
	lost := rarely(s, len(starts), 0.004, 0.12)
	lives := s.LogUniform(2, s.Seconds/20)
	for _, at := range starts {
		b := s.Alloc(at, 88+2*s.UniformInt(8, 120))
		if !s.Chance(lost) {
			s.Free(b, at+s.Exponential(lives))
		}
	}
}

func deviceFrames(s *behaviour.Stack) {
	sessions, frames := requests(s, 60, 1200), s.UniformInt(1, 16)
	timeouts := rarely(s, len(sessions), 0.03, 0.3)
	timeouts = max(30/float64(1+len(sessions)), min(timeouts, 2500/float64((1+len(sessions))*frames)))
	lasts := s.LogUniform(5, s.Seconds/20)
	for _, at := range sessions {
		ends, isClean := at+min(s.Exponential(lasts), s.Seconds/10), !s.Chance(timeouts)
		for range frames {
			b := s.Alloc(s.Uniform(at, ends), s.Size(260, 0.3))
			if isClean {
				s.Free(b, ends)
			}
		}
	}
}

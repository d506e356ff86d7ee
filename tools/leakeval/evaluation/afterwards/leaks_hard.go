package afterwards

import (
	"slices"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

var leaksHard = []behaviour.Behaviour{
	behaviour.NewLeak("call broker: one call in hundreds faults after it is unmarshalled and keeps its buffer",
		"The exception filter of the stub skips the routine that frees the arguments.", faultingCalls),
	behaviour.NewLeak("photo viewer: damaged pictures beside a full cache of thumbnails",
		"A thumbnail whose decoder fails halfway is in no cache slot, so no eviction ever reaches it.", damagedPictures),
	behaviour.NewLeak("tunnel service: each storm of reconnects leaves a few certificate chains",
		"When a handshake is cancelled by the next attempt the chain context has no owner left.", certificateChains),
	behaviour.NewLeak("update agent: signatures leak once the new manifest format is served",
		"The parser of the new format drops its signature blob where a component is not installed.", manifestSignatures),
	behaviour.NewLeak("mail server: idle sessions that the client resets are unlinked but not freed",
		"A reset during the idle command takes the session off the table without the final dereference.", idleSessions),
	behaviour.NewLeak("smart card helper: the sweep clears the list while a few entries are pending",
		"The sweep frees finished entries and then empties the whole list, those still pending included.", pendingEntries),
	behaviour.NewLeak("game server: scripted actors that refer to each other outlive their match",
		"Two reference-counted actors target each other when the match ends, and neither count gets to zero.", actorPairs),
}

func faultingCalls(s *behaviour.Stack) {
	instants := s.Requests(s.LogUniform(6000, 25_000))
	isLost := some(s, s.UniformInt(14, 60), 0, len(instants)-1)
	pass(s, instants, sizes(s, 64, 4000), lives(s, 0.0001, 0.01), isLost)
}

func damagedPictures(s *behaviour.Stack) {
	c := &cache{s: s, bound: int(s.LogUniform(40, 512))}
	instants := s.Requests(float64(c.bound) * s.Uniform(4, 15))
	isLost, bytes := some(s, s.UniformInt(14, 90), 0, len(instants)-1), sizes(s, 2000, 100_000)
	random := s.Chance(0.5)
	next := 0
	goes := func(n int) int {
		if random {
			return s.IntN(n)
		}
		next++
		return (next - 1) % n
	}
	for i, at := range instants {
		if isLost(i) {
			s.Alloc(at, bytes())
		} else {
			c.put(at, bytes(), goes)
		}
	}
	c.close()
}

func certificateChains(s *behaviour.Stack) {
	bytes, life := sizes(s, 500, 9000), lives(s, 0.0005, 0.005)
	tries := s.LogUniform(5, 60)
	// Ordinary renewals, one by one, are all freed.
	pass(s, s.Requests(s.LogUniform(30, 1500)), bytes, life, none)
	for _, begin := range spread(s, s.UniformInt(8, 16), 0, 0.97*s.Seconds) {
		instants := s.Instants(tries, begin, begin+s.Seconds*s.LogUniform(0.002, 0.015))
		pass(s, instants, bytes, life, some(s, s.UniformInt(2, 6), 0, len(instants)-1))
	}
}

func manifestSignatures(s *behaviour.Stack) {
	from := s.WhenDone(s.Uniform(0.15, 0.48))
	instants := s.Requests(s.LogUniform(400, 8000))
	first, _ := slices.BinarySearch(instants, from)
	isLost := some(s, s.UniformInt(15, 90), first, len(instants)-1)
	pass(s, instants, sizes(s, 128, 3000), lives(s, 0.0005, 0.02), isLost)
}

func idleSessions(s *behaviour.Stack) {
	s.UseHeap(s.UniformInt(0, 2))
	instants := s.Requests(s.LogUniform(500, 4000))
	bytes, idles := sizes(s, 400, 20_000), s.Uniform(0.08, 0.3)
	short, long := lives(s, 0.0005, 0.005), tails(s, s.Seconds*s.LogUniform(0.003, 0.02), s.Seconds/7)
	lost := min(s.LogUniform(24, 110)/(idles*float64(len(instants))), 0.6)
	for _, at := range instants {
		b := s.Alloc(at, bytes())
		if !s.Chance(idles) {
			s.Free(b, at+short())
		} else if !s.Chance(lost) {
			s.Free(b, at+long())
		}
	}
}

func pendingEntries(s *behaviour.Stack) {
	n, period := s.LogUniform(600, 8000), s.Seconds/s.LogUniform(10, 60)
	sweeps, bytes := s.Every(period, 0.1), sizes(s, 40, 700)
	// An entry is pending for a moment only; a sweep within that moment loses it.
	moment := period * s.LogUniform(28, 130) / n
	for _, at := range s.Requests(n) {
		b, sweep := s.Alloc(at, bytes()), after(s, sweeps, at)
		if sweep-at > moment || sweep > s.Seconds {
			s.Free(b, sweep)
		}
	}
}

func actorPairs(s *behaviour.Stack) {
	matches := s.UniformInt(16, 48)
	per, share := s.LogUniform(10, 120), s.Uniform(0.6, 1)
	length := s.Seconds / float64(matches) * s.LogUniform(0.3, 2)
	bytes := sizes(s, 200, 5000)
	for _, begin := range whenDone(s, spread(s, matches, 0, 0.97)) {
		end := begin + length*s.Uniform(0.6, 1.4)
		instants := s.Instants(per, begin, begin+min(end-begin, s.Seconds-begin)*s.Uniform(0.2, 0.9))
		isLost := none
		if s.Chance(share) {
			isLost = some(s, 2*s.UniformInt(1, 2), 0, len(instants)-1)
		}
		for i, at := range instants {
			if b := s.Alloc(at, bytes()); !isLost(i) {
				s.Free(b, end)
			}
		}
	}
}

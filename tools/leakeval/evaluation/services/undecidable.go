package services

import (
	"math"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// undecidable is what the run is too short to tell.
var undecidable = []behaviour.Behaviour{
	behaviour.NewUndecidable("virus scanner: verdict cache that is larger than the files met in the run",
		"Verdicts are kept until the cache is full; the run ends before, so nobody sees that it has a bound.", unfilledCache),
	behaviour.NewUndecidable("log shipper: the collector is away from some hour on until after the end",
		"Records wait to be sent and will be; the run ends in the outage and does not show the draining.", unendedOutage),
	behaviour.NewUndecidable("licence server: leases that are valid for longer than half of the run",
		"A lease is freed when it expires; too few expire in the run to show that the others will.", longLeases),
	behaviour.NewUndecidable("updater: two to four packages are installed, each adds blocks for good",
		"The blocks are either start-up of a component or lost by an installation; so few steps do not tell.", fewPackages),
	behaviour.NewUndecidable("telemetry: host and path names are interned, new ones come more and more seldom",
		"The vocabulary is finite but not exhausted, and the run cannot show where it ends.", openVocabulary),
	behaviour.NewUndecidable("backup: the catalogue of one set that is still being written at the end",
		"The whole catalogue is freed with the set; the run ends in the middle of it.", unendedSet),
}

func unfilledCache(s *behaviour.Stack) {
	misses := requests(s, 60, 3300)
	// Some entries go because their file changes.
	changed, lasts := s.Uniform(0, 0.4), s.LogUniform(s.Seconds/500, s.Seconds/5)
	size := s.LogUniform(48, 1500)
	for _, at := range misses {
		b := s.Alloc(at, s.Size(size, 0.4))
		if s.Chance(changed) {
			s.Free(b, at+s.Exponential(lasts))
		}
	}
}

func unendedOutage(s *behaviour.Stack) {
	gone := s.WhenDone(s.Uniform(0.1, 0.6))
	back := s.Seconds * s.Uniform(1.01, 1.5)
	size, takes := s.LogUniform(100, 5000), s.LogUniform(0.02, 20)
	for _, at := range requests(s, 80, 3500) {
		b := s.Alloc(at, s.Size(size, 0.6))
		if at < gone {
			s.Free(b, min(at+s.Exponential(takes), s.Seconds))
		} else {
			s.Free(b, back+s.Exponential(takes))
		}
	}
}

func longLeases(s *behaviour.Stack) {
	valid := s.Seconds * s.LogUniform(0.5, 3)
	parts, size := s.UniformInt(1, 3), s.LogUniform(60, 2000)
	given := s.Uniform(0, 0.4) // share of leases that are given back early
	for _, at := range requests(s, 40, 1000) {
		ends := at + valid
		if s.Chance(given) {
			ends = at + valid*s.Float64()*s.Float64()
		}
		for range parts {
			s.Free(s.Alloc(at, s.Size(size, 0.5)), ends)
		}
	}
}

func fewPackages(s *behaviour.Stack) {
	size, takes := s.LogUniform(40, 4000), s.LogUniform(0.5, s.Seconds/200)
	blocks := s.LogUniform(6, 500)
	for _, install := range windows(s, s.UniformInt(2, 4), s.Seconds*0.05, s.Seconds*0.97, 0.005, 0.1) {
		for _, at := range s.Instants(max(4, s.LogNormal(blocks, 0.4)), install.from, install.to) {
			b := s.Alloc(at, s.Size(size, 0.8))
			if s.Chance(0.5) {
				s.Free(b, at+s.Exponential(takes))
			}
		}
	}
	s.Churn(requests(s, 20, 2000), takes, s.Sizes(size, 0.8))
}

func openVocabulary(s *behaviour.Stack) {
	// By Heaps' law, the number of distinct words is a power of the number of words.
	power, takes := s.Uniform(0.5, 0.9), s.LogUniform(0.01, 2)
	for range s.Poisson(s.LogUniform(80, 3300)) {
		s.Alloc(s.WhenDone(math.Pow(s.Float64(), 1/power)), 24+2*s.Size(30, 0.5))
	}
	for _, at := range requests(s, 20, 6000) {
		s.AllocFor(at, s.Exponential(takes), 2*s.Size(30, 0.5))
	}
}

func unendedSet(s *behaviour.Stack) {
	begins := s.Uniform(0, 0.45)
	done := s.Seconds * s.Uniform(1.01, 2)
	size, takes := s.LogUniform(60, 700), s.LogUniform(0.01, 5)
	for _, at := range requests(s, 100, 3500) {
		b := s.Alloc(at, s.Size(size, 0.5))
		if s.Work(at) < begins || s.Chance(0.2) {
			s.Free(b, min(at+s.Exponential(takes), s.Seconds))
		} else {
			s.Free(b, done)
		}
	}
}

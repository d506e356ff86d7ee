package services

import (
	"math"

	"heapdrift/tools/leakeval/evaluation/behaviour"
)

// innocentCaches are caches and histories that reach their bound early in the run.
var innocentCaches = []behaviour.Behaviour{
	behaviour.NewInnocent("virus scanner: verdicts of files, the least recently used goes first",
		"The cache has a fixed number of entries and is full well within the first third.", verdictCache),
	behaviour.NewInnocent("crash collector: symbol pages in a cache with random replacement",
		"A full cache frees any page for a new one, so some pages stay very long but their number does not grow.",
		symbolPages),
	behaviour.NewInnocent("indexer: word statistics, the least frequently used entry goes first",
		"Frequent words stay for ever and rare ones replace each other within a fixed number of entries.", wordStatistics),
	behaviour.NewInnocent("telemetry: resolved host names until their time to live is over",
		"Each name is freed by a sweep soon after its time to live, which is short beside the run.", hostNames),
	behaviour.NewInnocent("configuration agent: the last few versions of the policy are kept for a rollback",
		"A new version pushes out the oldest one with all of its rules.", policyVersions),
	behaviour.NewInnocent("industrial gateway: the alarm journal is a ring of the last entries",
		"The ring is full early and each new alarm's texts replace the oldest one's.", alarmRing),
	behaviour.NewInnocent("trading: quotes by instrument, an instrument's new quote replaces its old one",
		"There is one record for each of a fixed list of instruments; quiet ones keep theirs for hours.", lastQuotes),
}

func verdictCache(s *behaviour.Stack) {
	misses := requests(s, 300, 12000)
	verdicts := &cache{s: s, limit: limitOf(s, len(misses), 1500)}
	hits, size := s.UniformInt(0, 6), s.LogUniform(48, 600)
	for _, at := range misses {
		verdicts.hit(hits)
		verdicts.put(at, s.Size(size, 0.3), 0)
	}
}

func symbolPages(s *behaviour.Stack) {
	s.UseHeap(s.UniformInt(0, 2))
	misses := requests(s, 200, 6000)
	pages := &cache{s: s, limit: limitOf(s, len(misses), 800)}
	size, spread := s.LogUniform(1000, 65536), s.Uniform(0, 1)
	for _, at := range misses {
		pages.put(at, s.Size(size, spread), s.IntN(pages.limit))
	}
}

func wordStatistics(s *behaviour.Stack) {
	words := requests(s, 400, 9000)
	limit := limitOf(s, len(words), 900)
	// Frequent words are met first and are never the least frequent ones again: only the rest turns over.
	frequent := int(float64(limit) * s.Uniform(0.2, 0.85))
	statistics := &cache{s: s, limit: limit}
	for _, at := range words {
		statistics.put(at, 32+2*s.Size(9, 0.4), frequent+s.IntN(limit-frequent))
	}
}

func hostNames(s *behaviour.Stack) {
	names := requests(s, 150, 8000)
	ttl := s.LogUniform(s.Seconds/300, s.Seconds/15)
	sweeps := s.Every(s.LogUniform(s.Seconds/1000, s.Seconds/40), 0.1)
	answers := s.UniformInt(1, 3)
	for _, at := range names {
		expires := behaviour.NextOrNever(sweeps, at+ttl*s.Uniform(0.3, 1))
		for range answers {
			s.Free(s.Alloc(at, 72+2*s.UniformInt(6, 60)), expires)
		}
	}
}

func policyVersions(s *behaviour.Stack) {
	changes := s.UniformInt(14, 90)
	kept, rules := s.UniformInt(1, max(1, changes/8)), s.LogUniform(10, 250)
	size := s.LogUniform(60, 900)
	var versions [][]behaviour.Block
	isTimed := s.Chance(0.5) // pushed at fixed times, or as administrators work
	for i := range changes {
		at := (float64(i) + s.Float64()) / float64(changes)
		if isTimed {
			at *= s.Seconds
		} else {
			at = s.WhenDone(at)
		}
		version := make([]behaviour.Block, s.Size(rules, 0.05))
		for j := range version {
			version[j] = s.Alloc(at, s.Size(size, 0.6))
		}
		versions = append(versions, version)
		if old := len(versions) - 1 - kept; old >= 0 {
			s.FreeAll(versions[old], at+0.1)
		}
	}
}

func alarmRing(s *behaviour.Stack) {
	alarms := requests(s, 150, 8000)
	ring := make([][]behaviour.Block, limitOf(s, len(alarms), 1200))
	texts, size := s.UniformInt(1, 3), s.LogUniform(30, 400)
	for i, at := range alarms {
		entry := &ring[i%len(ring)]
		s.FreeAll(*entry, at)
		*entry = (*entry)[:0]
		for range texts {
			*entry = append(*entry, s.Alloc(at, s.Size(size, 0.5)))
		}
	}
}

func lastQuotes(s *behaviour.Stack) {
	quotes := requests(s, 400, 20000)
	instruments := int(s.LogUniform(10, float64(len(quotes))/12))
	// Early in the day, each instrument has its opening quote; later some are busier than others by far.
	skew, size := s.Uniform(1, 4), s.LogUniform(64, 700)
	last := make([]behaviour.Block, min(instruments, 1500))
	opening := s.WhenDone(s.Uniform(0.02, 0.2))
	for i := range last {
		last[i] = s.Alloc(opening*s.Float64(), s.Size(size, 0.2))
	}
	for _, at := range quotes {
		if at > opening {
			i := int(float64(len(last)) * math.Pow(s.Float64(), skew))
			s.Free(last[i], at)
			last[i] = s.Alloc(at, s.Size(size, 0.2))
		}
	}
}

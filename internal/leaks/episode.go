package leaks

import (
	"cmp"
	"slices"
)

// A badEpisode is a stretch of a line, in one scenario, over which a signature was bad: from behind a clean build to
// the next. Builds are indexes on the line, −1 for none.
type badEpisode struct {
	scenario int64
	bad      int // the first build in which it leaked or grew
	leak     int // the first in which it leaked, or grew as fast as it leaked later
	leaks    bool
	after    int // the last clean build before
	bound    *CleanBound
	found    bool // it was there in the first build of the scenario, and no build before was clean
	first    int  // the first build of the scenario
	over     bool // a clean build ended it
}

// begin is the first build that was bad: growth that turns out to be slower than the leak was something else.
func (e *badEpisode) begin() int {
	if e.leaks && e.leak >= 0 {
		return e.leak
	}
	return e.bad
}

// episodes divides sightings, which are ordered by build. first is the first build with a result, by scenario.
func episodes(sightings []Sighting, first map[int64]int) []*badEpisode {
	type cleanBuild struct {
		at    int
		bound *CleanBound
	}
	var list []*badEpisode
	now, clean, seen := map[int64]*badEpisode{}, map[int64]cleanBuild{}, map[int64]int{}
	for i := range sightings {
		s := &sightings[i]
		if _, ok := seen[s.ScenarioID]; !ok && !s.Absent {
			seen[s.ScenarioID] = s.BuildIndex
		}
		switch {
		case s.isClean():
			clean[s.ScenarioID] = cleanBuild{s.BuildIndex, s.Bound}
			if e := now[s.ScenarioID]; e != nil {
				e.over = true
			}
			delete(now, s.ScenarioID)
		case s.Judgement.IsBad():
			e := now[s.ScenarioID]
			if e == nil {
				e = &badEpisode{scenario: s.ScenarioID, bad: s.BuildIndex, leak: -1, after: -1}
				if c, ok := clean[s.ScenarioID]; ok {
					e.after, e.bound = c.at, c.bound
				} else if at, ok := first[s.ScenarioID]; ok {
					e.found, e.first = seen[s.ScenarioID] <= at, at
				}
				now[s.ScenarioID] = e
				list = append(list, e)
			}
			if s.Began && e.bad > e.first { // what began behind the first build came in
				e.found = false
			}
			e.leaks = e.leaks || s.Judgement == JudgedLeaking
			if e.leak < 0 && (s.Judgement == JudgedLeaking || s.AsFastAsLeak) {
				e.leak = s.BuildIndex
			}
		}
	}
	return list
}

// firstEpisode is the one that began first, of those that leak where one does; of several the one with the narrower
// interval. nil is none.
func firstEpisode(list []*badEpisode) (best *badEpisode) {
	anyLeaks := slices.ContainsFunc(list, func(e *badEpisode) bool { return e.leaks })
	for _, e := range list {
		if e.leaks == anyLeaks && (best == nil || cmp.Or(e.begin()-best.begin(), best.after-e.after) < 0) {
			best = e
		}
	}
	return best
}

// lastEpisode is the one that goes on, else the one that began last; of several that go on, the first of those that
// leak. nil is none.
func lastEpisode(list []*badEpisode) (best *badEpisode) {
	better := func(a, b *badEpisode) bool {
		switch {
		case a.over != b.over:
			return !a.over
		case a.over:
			return a.begin() > b.begin()
		case a.leaks != b.leaks:
			return a.leaks
		}
		return a.begin() < b.begin()
	}
	for _, e := range list {
		if best == nil || better(e, best) {
			best = e
		}
	}
	return best
}

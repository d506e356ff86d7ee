package leaks

import "slices"

// A Sighting is what one build says of a signature in one scenario.
type Sighting struct {
	BuildIndex BuildIndex // index in the BuildOrder
	ScenarioID int64      // id
	Judgement  Judgement
	Certain    bool // a run shows it as a leak that may fail a gate
	Began      bool // compared with the runs before, it certainly began to leak
	// Absent says that the build does not show the signature although its callers ran (compare.FrameCounts.FindRan): a
	// signature that was bad before is fixed. That a signature is missing before it first leaks says nothing.
	Absent bool
	// AsFastAsLeak says of growth that about as much stays as in the runs in which it leaks.
	AsFastAsLeak bool
	// Bound is the rate that a clean build excludes; nil where unknown.
	Bound *CleanBound
}

// isClean reports whether the build was clean, or shows nothing of the leak although its callers ran.
func (s *Sighting) isClean() bool { return s.Judgement == JudgedClean || s.Absent }

// MarkedBuilds are the builds on the line that, beside the sightings, decide the state of a leak: indexes in the
// BuildOrder, −1 for none.
type MarkedBuilds struct {
	FixedIn    BuildIndex // the team says that the fix is in this build
	KnownUntil BuildIndex // from this build on the leak is tolerated no longer
	// FailedIn are the builds whose gate failed because of the leak, ascending.
	FailedIn []BuildIndex
	// Owned says that the leak has an owner.
	Owned bool
	// FirstByScenario is the first build with a result, by the id of the scenario: what leaks in it may have leaked before.
	FirstByScenario map[int64]BuildIndex
}

// A LeakHistory is the history of a leak along a line of builds, by its sightings and by the team's decisions. Builds
// are indexes in the BuildOrder, −1 for none.
type LeakHistory struct {
	// State is the state by the runs alone, without tolerance, which may end: see StateAt.
	State     State
	FirstBad  BuildIndex // the first build in which it leaked or grew
	LastClean BuildIndex // the last build before FirstBad that was clean in the same scenario
	// CleanBound is the rate that LastClean excludes; nil where unknown.
	CleanBound *CleanBound
	// After and Since bound when it came in last: After is the last clean build before, Since the first bad one.
	After, Since BuildIndex
	Found        bool       // no build before Since was clean: it may be as old as the scenario
	FailedIn     BuildIndex // the first build from Since on that failed for it
	LastBad      BuildIndex // the newest build in which it leaked or grew
	LastSeen     BuildIndex // the newest build that shows it
	FixedIn      BuildIndex // the build that has the fix, by runs or by the team
	RegressedIn  BuildIndex // the build in which it was bad again after a fix
	FixedByRuns  bool       // runs show that it is fixed, not only the team's word
	UntilOver    bool       // it was bad in KnownUntil or later: it is tolerated no longer
	Worst        Judgement  // the gravest of all sightings
	// Scenarios are the histories in the scenarios that it was bad in. If State is neither none nor fixed, at least one
	// of them is open; otherwise none is.
	Scenarios []ScenarioHistory
}

// Follow draws the conclusions of sightings, which are ordered by build. Only that order counts: evidence of an old
// build may arrive at any time.
//
// A signature is fixed when every scenario that it was bad in has a later build that is clean, or that shows nothing of
// it although its callers ran. Growth after that may be chance; a leak in a newer build is a regression.
func Follow(sightings []Sighting, marks MarkedBuilds) LeakHistory {
	f := follower{
		history: LeakHistory{FirstBad: -1, LastClean: -1, After: -1, Since: -1, FailedIn: -1, LastBad: -1,
			LastSeen: -1, FixedIn: -1,
			RegressedIn: -1},
		open: map[int64]bool{}, marks: marks,
	}
	for rest := sightings; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].BuildIndex == rest[0].BuildIndex {
			n++
		}
		f.build(rest[:n])
		rest = rest[n:]
	}
	if f.marks.FixedIn >= 0 && !f.fixed {
		f.fix(f.marks.FixedIn, false)
	}
	f.interval(sightings)
	f.conclude()
	if f.history.State == StateFixed {
		clear(f.open)
	}
	f.history.Scenarios = historyByScenario(sightings, f.open)
	return f.history
}

// A follower goes through the builds of a history in their order.
type follower struct {
	history   LeakHistory
	open      map[int64]bool // scenarios that were bad and not clean since
	marks     MarkedBuilds
	badBuilds int
	fixed     bool
}

// fix notes that the signature is fixed since a build.
func (f *follower) fix(build int, byRuns bool) {
	f.fixed, f.history.FixedIn, f.history.RegressedIn, f.history.FixedByRuns = true, build, -1, byRuns
	clear(f.open)
}

// build takes what the scenarios of one build say.
func (f *follower) build(here []Sighting) {
	build := here[0].BuildIndex
	if said := f.marks.FixedIn; said >= 0 && said < build {
		if !f.fixed {
			f.fix(said, false)
		}
		f.marks.FixedIn = -1
	}
	worst := JudgedUndecided
	for _, s := range here {
		worst = max(worst, s.Judgement)
	}
	if slices.ContainsFunc(here, func(s Sighting) bool { return !s.Absent }) {
		f.history.LastSeen = build
	}
	f.history.Worst = max(f.history.Worst, worst)
	if worst.IsBad() {
		f.history.LastBad = build
		f.badBuilds++
		f.history.UntilOver = f.history.UntilOver || f.marks.KnownUntil >= 0 && build >= f.marks.KnownUntil
	}
	if f.fixed && worst == JudgedLeaking {
		f.fixed, f.history.RegressedIn = false, build
	}
	if !f.fixed && f.closes(here) {
		f.fix(build, true)
	}
}

// closes notes which scenarios are bad, and reports whether the last bad one has become clean.
func (f *follower) closes(here []Sighting) bool {
	closed := false
	for _, s := range here {
		if s.Judgement.IsBad() {
			f.open[s.ScenarioID] = true
		} else if s.isClean() {
			closed = closed || f.open[s.ScenarioID]
			delete(f.open, s.ScenarioID)
		}
	}
	return closed && len(f.open) == 0
}

// conclude names the state after the last build.
func (f *follower) conclude() {
	switch {
	case f.badBuilds == 0:
		f.history.FixedIn, f.history.FixedByRuns = -1, false
	case f.fixed:
		f.history.State = StateFixed
	case f.history.RegressedIn >= 0:
		f.history.State = StateRegressed
	case f.history.FailedIn >= 0 || f.marks.Owned || f.marks.KnownUntil >= 0 && f.history.UntilOver:
		f.history.State = StateOngoing
	case f.history.Found:
		f.history.State = StateFound
	default:
		f.history.State = StateNew
	}
}

// interval finds when the signature was bad first, and when it came in last.
func (f *follower) interval(sightings []Sighting) {
	c := &f.history
	list := episodes(sightings, f.marks.FirstByScenario)
	if first := firstEpisode(list); first != nil {
		c.FirstBad, c.LastClean, c.CleanBound = first.begin(), first.after, first.bound
	}
	last := lastEpisode(list)
	if last == nil {
		return
	}
	c.Since, c.After, c.Found = last.begin(), last.after, last.found
	for _, failed := range f.marks.FailedIn {
		if failed >= c.Since {
			c.FailedIn = failed
			break
		}
	}
}

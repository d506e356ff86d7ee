package store

// What a build's runs of one scenario say of a signature.
type seen int8

const (
	undecided seen = iota // it is there, and the evidence does not tell whether it leaks
	clean                 // it is there, and does not leak
	growing
	leaking
)

func (s seen) bad() bool { return s >= growing }

// A sighting is what one build says of a signature in one scenario.
type sighting struct {
	build    int // place in the order of builds
	scenario int64
	seen     seen
}

// A said is the team's word as far as the state follows from it. Places are −1 for none.
type said struct {
	fixed int // it is fixed since this build
	until int // from this build on it is known no longer
}

// A followed is what follows from the sightings of a signature and from the team's word. Builds are places in their
// order, −1 for none.
type followed struct {
	state                                  State // but for known, which ends by itself
	firstBad, lastClean, lastBad, lastSeen int
	fixedIn, regressedIn                   int
	fixedByRuns, untilOver                 bool
	worst                                  seen
}

// follow draws the conclusions of sightings, which are ordered by build. Only that order counts: evidence of an old build
// may arrive at any time.
//
// A signature is fixed when every scenario it was bad in has a clean build since. What only grows after that may be
// chance; a leak in a newer build is a regression.
func follow(sightings []sighting, word said) followed {
	f := followed{firstBad: -1, lastClean: -1, lastBad: -1, lastSeen: -1, fixedIn: -1, regressedIn: -1}
	open := map[int64]bool{} // scenarios that were bad and not clean since
	badBuilds, fixed, all := 0, false, sightings
	fix := func(build int, byRuns bool) {
		fixed, f.fixedIn, f.regressedIn, f.fixedByRuns = true, build, -1, byRuns
		clear(open)
	}
	said := word.fixed
	for len(sightings) > 0 {
		n := 1
		for n < len(sightings) && sightings[n].build == sightings[0].build {
			n++
		}
		here, build := sightings[:n], sightings[0].build
		sightings = sightings[n:]
		if said >= 0 && said < build {
			if !fixed {
				fix(said, false)
			}
			said = -1
		}
		worst := undecided
		for _, s := range here {
			worst = max(worst, s.seen)
		}
		f.lastSeen, f.worst = build, max(f.worst, worst)
		if worst.bad() {
			f.lastBad = build
			badBuilds++
			f.untilOver = f.untilOver || word.until >= 0 && build >= word.until
		}
		if fixed && worst == leaking {
			fixed, f.regressedIn = false, build
		}
		if fixed {
			continue
		}
		closed := false
		for _, s := range here {
			if s.seen.bad() {
				open[s.scenario] = true
			} else if s.seen == clean {
				closed = closed || open[s.scenario]
				delete(open, s.scenario)
			}
		}
		if closed && len(open) == 0 {
			fix(build, true)
		}
	}
	if said >= 0 && !fixed {
		fix(said, false)
	}
	f.firstBad, f.lastClean = firstBad(all)
	switch {
	case badBuilds == 0:
		f.fixedIn, f.fixedByRuns = -1, false
	case fixed:
		f.state = StateFixed
	case f.regressedIn >= 0:
		f.state = StateRegressed
	case badBuilds > 1:
		f.state = StateOngoing
	default:
		f.state = StateNew
	}
	return f
}

// firstBad finds the build in which a signature was bad first and, in the same scenario, the last one before it that was
// clean. Growth that turns out to be a leak counts from where it began; growth that came to its end does not where there
// is a leak as well.
func firstBad(sightings []sighting) (bad, lastClean int) {
	type episode struct{ bad, lastClean int }
	var best [2]*episode // of leaks, and of all
	now, cleanAt := map[int64]*episode{}, map[int64]int{}
	better := func(a, b *episode) bool {
		return b == nil || a.bad < b.bad || a.bad == b.bad && a.lastClean > b.lastClean
	}
	for _, s := range sightings {
		switch {
		case s.seen == clean:
			cleanAt[s.scenario] = s.build
			delete(now, s.scenario)
		case s.seen.bad():
			if now[s.scenario] == nil {
				e := &episode{s.build, -1}
				if at, ok := cleanAt[s.scenario]; ok {
					e.lastClean = at
				}
				now[s.scenario] = e
			}
			for i := range best {
				if (i == 1 || s.seen == leaking) && better(now[s.scenario], best[i]) {
					best[i] = now[s.scenario]
				}
			}
		}
	}
	for _, e := range best {
		if e != nil {
			return e.bad, e.lastClean
		}
	}
	return -1, -1
}

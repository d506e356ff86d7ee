package leaks

// MostPooled is how many runs are judged together at most, unless the build of the run has more itself. What is older may have been another program.
const MostPooled = 8

// A PoolRun is a run of a scenario that may be judged together with others: its evidence lost nothing, and is enough for growth to be judged.
type PoolRun struct {
	Run   int64
	Build string
	Place Place // of the build
}

// PoolRuns are such runs of one scenario, those of the oldest build first and those of one build by name.
type PoolRuns []PoolRun

// build finds the runs of the build of a place: [from, to), and where they would be for none.
func (p PoolRuns) build(place Place) (from, to int) {
	for from < len(p) && ComparePlaces(p[from].Place, place) < 0 {
		from++
	}
	for to = from; to < len(p) && ComparePlaces(p[to].Place, place) == 0; {
		to++
	}
	return from, to
}

// older is where the runs of the build begin that stand before others, and not before the first of a window.
func (p PoolRuns) older(first, before int) int {
	from := before - 1
	for from > first && p[from-1].Build == p[before-1].Build {
		from--
	}
	return from
}

// Window finds the runs that those of a build are judged together with, as far as they show the same leak: all of the build itself, and as many of
// the newest before it as make up MostPooled.
func (p PoolRuns) Window(place Place) (from, to int) {
	from, to = p.build(place)
	return max(0, min(from, to-MostPooled)), to
}

// Around finds the runs that are to be judged anew when a result of a build comes, changes or goes: the build's own, and newer ones whose window may
// reach it.
func (p PoolRuns) Around(place Place) (from, to int) {
	from, to = p.build(place)
	behind := to
	for to < len(p) {
		first, next := p.Window(p[to].Place)
		if first > behind {
			break
		}
		to = next
	}
	return from, to
}

package leaks

// MostPooled is how many runs are judged together at most, unless the run's own build has more. Older runs may be of a
// rather different program.
const MostPooled = 8

// A PoolRun is a run of a scenario that may be judged together with others: its evidence lost nothing, and is enough
// for growth to be judged.
type PoolRun struct {
	Run   int64
	Build string
	Place Place // of the build
}

// PoolRuns are such runs of one scenario, those of the oldest build first and those of one build by name.
type PoolRuns []PoolRun

// build finds the runs of the build at a place: [from, to). Without runs, the range is empty and lies where they would
// be.
func (p PoolRuns) build(place Place) (from, to int) {
	for from < len(p) && ComparePlaces(p[from].Place, place) < 0 {
		from++
	}
	for to = from; to < len(p) && ComparePlaces(p[to].Place, place) == 0; {
		to++
	}
	return from, to
}

// older is where the runs of the previous build begin, but not before the first run of a window.
func (p PoolRuns) older(first, before int) int {
	from := before - 1
	for from > first && p[from-1].Build == p[before-1].Build {
		from--
	}
	return from
}

// Window finds the runs that the runs of a build may be judged together with: all of the build itself, and the newest
// before it, up to MostPooled.
func (p PoolRuns) Window(place Place) (from, to int) {
	from, to = p.build(place)
	return max(0, min(from, to-MostPooled)), to
}

// Around finds the runs that are to be judged anew when a result of a build comes, changes or goes: the build's own,
// and newer ones whose window may reach it.
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

package leaks

import (
	"cmp"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
)

// SuspectClasses are the classes of findings that leak, or grow where the evidence does not decide.
var SuspectClasses = suspects()

func suspects() (list []analysis.Class) {
	for _, c := range score.Classes {
		if c.IsSuspect() {
			list = append(list, c)
		}
	}
	return list
}

// ClassFilters are the classes that lists may be filtered by, in the order of menus.
var ClassFilters = []string{
	string(analysis.ClassLeak), string(analysis.ClassGrowingBlock), string(analysis.ClassUnreferenced),
	string(analysis.ClassLeftAtExit),
	string(analysis.ClassGrowing), string(analysis.ClassCache), string(analysis.ClassOneTime),
	string(analysis.ClassTransient), string(analysis.ClassStable), string(analysis.ClassUnknown),
}

// AllClasses is a class filter that lists signatures of every class. Without a filter, lists have the signatures that
// leaked or grew in any run.
const AllClasses = "all"

// A Figure has the numbers of one finding, or of the gravest of several.
type Figure struct {
	Class       analysis.Class
	Score       *float64 // probability of a leak; nil where nothing can be said
	Certain     bool     // a leak that may fail a gate
	Outstanding analysis.Amount
	Growth      *analysis.Amount // nil where there is nothing to compare with
	Rate        *score.Rate      // nil where it does not grow
}

// CompareGravity puts the graver figure first: by class, then the certain one, the higher score, the larger growth, and
// the one that holds more.
func CompareGravity(a, b *Figure) int {
	return cmp.Or(
		cmp.Compare(b.Class.Gravity(), a.Class.Gravity()), compareBools(b.Certain, a.Certain),
		analysis.CompareScores(b.Score, a.Score),
		cmp.Compare(growthOf(b.Growth), growthOf(a.Growth)), cmp.Compare(b.Outstanding.Bytes, a.Outstanding.Bytes))
}

// CompareUrgency puts the more urgent figure first: certain ones, then leaks, then those that grow faster where both
// rates compare, then the graver. Rates of different units do not compare, nor do those of short runs with others.
func CompareUrgency(a, b *Figure) int {
	if order := cmp.Or(compareBools(b.Certain, a.Certain),
		compareBools(b.Class == analysis.ClassLeak, a.Class == analysis.ClassLeak)); order != 0 {
		return order
	}
	if x, y := a.stateRate(), b.stateRate(); x != nil && y != nil && score.AreAlike(x, y) {
		if order := cmp.Compare(y.Bytes, x.Bytes); order != 0 {
			return order
		}
	}
	return CompareGravity(a, b)
}

// TellsMore reports whether figure a of a leak is the better one to state its growth by, in place of its figure b of
// another run: a has growth per unit, b only that of a short run.
func TellsMore(a, b *Figure) bool {
	x, y := a.stateRate(), b.stateRate()
	return a.Class == b.Class && a.Certain == b.Certain && x != nil && !x.InRun() && y != nil && y.InRun()
}

// stateRate states the rate of a figure; nil where it has none.
func (f *Figure) stateRate() *score.StatedGrowth {
	if f.Rate == nil {
		return nil
	}
	g := f.Rate.State(nil)
	return &g
}

// noGrowth is less than every growth: findings without a comparison are sorted behind those that shrank.
const noGrowth = -1 << 63

func growthOf(growth *analysis.Amount) int64 {
	if growth == nil {
		return noGrowth
	}
	return growth.Bytes
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

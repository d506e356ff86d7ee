package leaks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/sorting"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/analysis/compare"
)

// ActorRename is the actor in the audit, in place of a person, where a signature became part of another because a
// function seems to have been renamed.
const ActorRename = "a function that was renamed"

// How alike a leak that came and another one that went must be at least to be one leak under two names: the size of
// their blocks, and their pace, which differs from run to run. Where the names have nothing in common, it takes more.
const (
	renamedSize = 0.8
	renamedPace = 0.25

	unlikeNamesSize = 0.95
	unlikeNamesPace = 0.5
)

// mayBeRenamed is how alike size and pace must be on average for a gate to say what a new leak may have been called.
const mayBeRenamed = 0.5

// A RenamedLeak is a leak whose signature changed From one To another with the build of a run.
type RenamedLeak struct{ From, To string }

// hasSameCallers reports whether two signatures differ in the frame to blame alone, and are called by the same
// functions.
func hasSameCallers(a, b []string) bool {
	module := func(frame string) string { name, _, _ := strings.Cut(frame, "!"); return name }
	return len(a) > 1 && len(a) == len(b) && slices.Equal(a[1:], b[1:]) && module(a[0]) == module(b[0])
}

// PossibleRenames returns the findings of a case that may be another leak under a new name: certain leaks that seem to
// have come in, and for which no build has failed.
func PossibleRenames(c *GateCase) []*compare.Finding {
	if c.BaselineNamed {
		return nil
	}
	var list []*compare.Finding
	for i := range c.Head.Findings {
		f := &c.Head.Findings[i]
		o, known := c.Origins[f.Signature]
		if known && f.Class == analysis.ClassLeak && f.Certain && !o.Found && !o.Regressed && o.FailedIn == "" {
			list = append(list, f)
		}
	}
	return list
}

// RenamedLeaks pairs the leaks of a case that came in with similar ones that are gone.
func RenamedLeaks(c *GateCase) []RenamedLeak {
	var list []RenamedLeak
	for _, r := range c.likeGone() {
		if r.isSure() {
			list = append(list, RenamedLeak{r.gone.Signature, r.came.Signature})
		}
	}
	return list
}

// A likeGone is a leak that came in, and one that is gone and has the same callers.
type likeGone struct {
	gone, came *compare.Finding
	size, pace float64 // how alike they are, 0 to 1
}

// isSure reports whether both are surely one leak: beside the callers, size and pace are alike, and so is the name of
// the class or of the function. Where a function is fixed and another one with its callers begins to leak, only they
// tell.
func (l *likeGone) isSure() bool {
	if blame.MayBeSameFunction(l.gone.Frames[0], l.came.Frames[0]) {
		return l.size >= renamedSize && (l.pace >= renamedPace || l.came.RateCount <= 0) // or nobody knows how fast it is
	}
	return l.size >= unlikeNamesSize && l.pace >= unlikeNamesPace
}

// likeGone pairs what came in with leaks that are gone, have the same callers, and are like it: the likest first, each
// once.
func (c *GateCase) likeGone() []likeGone {
	var list []likeGone
	came := PossibleRenames(c)
	for _, runs := range c.goneRuns() {
		for _, f := range came {
			if g := runs[0]; g.Kind != f.Kind || !hasSameCallers(g.Frames, f.Frames) {
				continue
			}
			size, pace := compare.AmountSimilarity(f, runs)
			if l := (likeGone{runs[0], f, size, pace}); l.isSure() || size+pace >= 2*mayBeRenamed {
				list = append(list, l)
			}
		}
	}
	sorting.Stable(list, func(a, b likeGone) int {
		return cmp.Or(compareBools(b.isSure(), a.isSure()), cmp.Compare(b.size+b.pace, a.size+a.pace),
			cmp.Compare(a.gone.Signature, b.gone.Signature), cmp.Compare(a.came.Signature, b.came.Signature))
	})
	taken := map[string]bool{}
	return slices.DeleteFunc(list, func(l likeGone) bool {
		if taken[l.gone.Signature] || taken[l.came.Signature] {
			return true
		}
		taken[l.gone.Signature], taken[l.came.Signature] = true, true
		return false
	})
}

// goneRuns are the leaks that are gone, each as the runs showed it that found it to leak.
func (c *GateCase) goneRuns() (list [][]*compare.Finding) {
	at := map[string]int{}
	for i := range c.Gone {
		g := &c.Gone[i]
		if g.Class != analysis.ClassLeak {
			continue
		}
		k, known := at[g.Signature]
		if !known {
			k = len(list)
			at[g.Signature], list = k, append(list, nil)
		}
		list[k] = append(list[k], g)
	}
	return list
}

// formerly says of a finding that fails the gate which leak it may be under another name; "" for none.
func (d *decider) formerly(f *compare.Finding) string {
	for _, l := range d.like {
		if l.came.Signature == f.Signature {
			return fmt.Sprintf("; it may be %s, which is gone, under a new name: merge them if so", nameOf(l.gone))
		}
	}
	return ""
}

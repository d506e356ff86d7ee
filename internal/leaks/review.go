package leaks

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"heapdrift/ingest/quantity"
	"heapdrift/ingest/sorting"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/analysis/compare"
)

// An UnacceptedLeak is a leak of a run that nobody has accepted, as a team reviews it.
type UnacceptedLeak struct {
	Signature, Title string
	Module, File     string // of the blamed frame; "" where it has none
	Line             int
	// Tests are those during which a list with the leak was printed, the first analysis.MaxTests; MoreTests counts the others.
	Tests     []string
	MoreTests int
	Certain   bool
	Held      analysis.Amount // when the evidence ends; of a leak at exit, what was left
}

// A Review is what a team may accept in a run.
type Review struct {
	Leaks []UnacceptedLeak // those that hold most first
	Known int              // leaks of the run that are known already

	known []UnacceptedLeak // the known ones, which patterns may name, too
}

// ReviewOf lists the leaks in a build's result that nobody has accepted.
func ReviewOf(side *compare.BuildResult) Review {
	var r Review
	for i := range side.Findings {
		f := &side.Findings[i]
		switch {
		case !f.Class.IsLeak():
		case IsTolerated(f):
			r.Known++
			r.known = append(r.known, unaccepted(f))
		default:
			r.Leaks = append(r.Leaks, unaccepted(f))
		}
	}
	sorting.Stable(r.Leaks, func(a, b UnacceptedLeak) int {
		return cmp.Or(cmp.Compare(b.Held.Bytes, a.Held.Bytes), strings.Compare(a.Title, b.Title))
	})
	return r
}

func unaccepted(f *compare.Finding) UnacceptedLeak {
	l := UnacceptedLeak{Signature: f.Signature, Title: f.Title, Certain: f.Certain, Held: f.Outstanding}
	if f.Blame != nil {
		l.Module, l.File, l.Line = f.Blame.Module, f.Blame.File, int(f.Blame.Line)
	}
	for _, listed := range f.Listed {
		l.Tests, l.MoreTests = append(l.Tests, listed.Tests...), max(l.MoreTests, listed.MoreTests)
	}
	slices.Sort(l.Tests)
	l.Tests = slices.Compact(l.Tests)
	return l
}

// Place names where the leak is: the module and the file, as far as they are known.
func (l *UnacceptedLeak) Place() string { return placeOf(l.Module, l.File) }

func placeOf(module, file string) string {
	switch {
	case file == "":
		return module
	case module == "":
		return baseName(file)
	}
	return module + " · " + baseName(file)
}

// PlaceGroupName is how pages and push call the group of leaks of a module and a file.
func PlaceGroupName(module, file string) string {
	return cmp.Or(placeOf(module, file), "No module and no file")
}

// TestGroupName is how pages and push call the group of leaks of a test, of several, or of none.
func TestGroupName(test string, several bool) string {
	if several {
		return "Several tests"
	}
	return cmp.Or(test, "Outside of tests")
}

// baseName is the name of a file without its folder, on any system.
func baseName(file string) string { return path.Base(strings.ReplaceAll(file, `\`, "/")) }

// Test is the test that shows the leak; "" where its lists were printed outside of tests, or during several.
func (l *UnacceptedLeak) Test() string {
	if len(l.Tests) == 1 && l.MoreTests == 0 {
		return l.Tests[0]
	}
	return ""
}

// SeveralTests reports whether more than one test shows the leak.
func (l *UnacceptedLeak) SeveralTests() bool { return len(l.Tests)+l.MoreTests > 1 }

// A LeakGroup are the leaks of a review in one place, or in one test. Each leak is in one group of either sort.
type LeakGroup struct {
	Module, File string // of groups by place
	Test         string // of groups by test; "" outside of tests, and of several tests
	Several      bool   // leaks that more than one test shows
	Leaks        []UnacceptedLeak
	Certain      int // of the leaks
	Held         analysis.Amount
}

// Possible counts the leaks of which it is not certain that the program lost them.
func (g *LeakGroup) Possible() int { return len(g.Leaks) - g.Certain }

// groupKey is what the leaks of a group have in common.
type groupKey struct {
	module, file, test string
	several            bool
}

// ByPlace groups the leaks by module and file.
func (r *Review) ByPlace() []LeakGroup {
	return r.by(func(l *UnacceptedLeak) groupKey { return groupKey{module: l.Module, file: l.File} })
}

// ByTest groups the leaks by test. Those that several tests show are a group of their own: the function that all of
// these tests call is one leak.
func (r *Review) ByTest() []LeakGroup {
	return r.by(func(l *UnacceptedLeak) groupKey { return groupKey{test: l.Test(), several: l.SeveralTests()} })
}

// by groups leaks, the groups that hold most first.
func (r *Review) by(keyOf func(*UnacceptedLeak) groupKey) []LeakGroup {
	var groups []LeakGroup
	at := map[groupKey]int{}
	for i := range r.Leaks {
		l := &r.Leaks[i]
		key := keyOf(l)
		k, ok := at[key]
		if !ok {
			k = len(groups)
			at[key] = k
			groups = append(groups, LeakGroup{Module: key.module, File: key.file, Test: key.test, Several: key.several})
		}
		g := &groups[k]
		g.Leaks, g.Held = append(g.Leaks, *l), g.Held.Plus(l.Held)
		if l.Certain {
			g.Certain++
		}
	}
	sorting.Stable(groups, func(a, b LeakGroup) int {
		return cmp.Or(cmp.Compare(b.Held.Bytes, a.Held.Bytes), cmp.Compare(len(b.Leaks), len(a.Leaks)),
			strings.Compare(placeOf(a.Module, a.File)+a.Test, placeOf(b.Module, b.File)+b.Test))
	})
	return groups
}

// Total is the whole review as one group.
func (r *Review) Total() LeakGroup {
	all := r.by(func(*UnacceptedLeak) groupKey { return groupKey{} })
	if len(all) == 0 {
		return LeakGroup{}
	}
	return all[0]
}

// MaxReviewExceptions is how many patterns may name leaks that a review leaves out.
const MaxReviewExceptions = 1000

// Without splits the leaks of a review into those that no pattern names, and those that one does. A pattern names a
// module, a file, a test or a signature; * stands for any text. A leak of several tests is left out where a pattern
// names one of them, and a leak that does not name all of its tests where a pattern may name one of the others.
func (r *Review) Without(patterns []string) (rest, left Review) {
	rest.Known, left.Known = r.Known, r.Known
	unnamed := slices.ContainsFunc(patterns, r.mayNameATest)
	for i := range r.Leaks {
		l := &r.Leaks[i]
		if l.MoreTests > 0 && unnamed || slices.ContainsFunc(patterns, l.isNamedBy) {
			left.Leaks = append(left.Leaks, *l)
		} else {
			rest.Leaks = append(rest.Leaks, *l)
		}
	}
	return rest, left
}

// NamingNothing are the patterns that name no leak of the run, whether it is known or not: mistakes, where there is
// something to accept.
func (r *Review) NamingNothing(patterns []string) []string {
	if len(r.Leaks) == 0 {
		return nil
	}
	var nothing []string
	for _, pattern := range patterns {
		names := func(l UnacceptedLeak) bool { return l.isNamedBy(pattern) }
		if !slices.ContainsFunc(r.Leaks, names) && !slices.ContainsFunc(r.known, names) {
			nothing = append(nothing, pattern)
		}
	}
	return nothing
}

// mayNameATest reports whether a pattern may name a test that no leak of the review names: any may, except the exact
// name of a file or a signature of the review.
func (r *Review) mayNameATest(pattern string) bool {
	return pattern != "" && !slices.ContainsFunc(r.Leaks, func(l UnacceptedLeak) bool {
		return slices.ContainsFunc([]string{l.Signature, l.File, baseName(l.File)}, func(name string) bool {
			return strings.EqualFold(name, pattern)
		})
	})
}

// isNamedBy reports whether a pattern names the leak.
func (l *UnacceptedLeak) isNamedBy(pattern string) bool {
	names := append([]string{l.Signature, l.Module, l.File}, l.Tests...)
	if l.File != "" {
		names = append(names, baseName(l.File))
	}
	return slices.ContainsFunc(names, func(name string) bool { return name != "" && blame.MatchGlob(pattern, name) })
}

// Signatures are those of the leaks.
func (r *Review) Signatures() []string {
	list := make([]string, len(r.Leaks))
	for i := range r.Leaks {
		list[i] = r.Leaks[i].Signature
	}
	return list
}

// Sentence says how the review stands after leaks of a build were accepted: how many are known, and how many are not.
// It is "" where none is known.
func (r *Review) Sentence(build string) string {
	if r.Known == 0 {
		return ""
	}
	text := fmt.Sprintf("%s known as of build %s", quantity.Count(int64(r.Known)), build)
	if n := len(r.Leaks); n > 0 {
		text += fmt.Sprintf(", %s not accepted", quantity.Count(int64(n)))
	}
	return text + ". The gate is on new leaks."
}

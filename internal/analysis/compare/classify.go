package compare

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"heapdrift/ingest/figures"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
)

// sureness is how sure it has to be that a leak became faster or slower, by score.Noticeable at least.
const sureness = 0.99

// Compare says what became of every signature that leaks or grows on a side.
func Compare(base, head *BuildResult) *Comparison {
	c := &Comparison{}
	before, after := pair(base.Findings, head.Findings)
	shared := sharedBy(before, after)
	for i := range head.Findings {
		h := &head.Findings[i]
		if !h.Class.IsSuspect() {
			continue
		}
		row := Row{Base: before[h], Head: h}
		switch {
		case row.Base == nil:
			unknown := symbolsMissing(base, h, head, after)
			row.Change, row.Why, row.Unknown = New, cmp.Or(unknown, absentIn(base)), unknown != ""
		case !row.Base.Class.IsSuspect():
			row.Change, row.Why = New, fmt.Sprintf("in %s it was %s", base.Name(), classWord(row.Base.Class))
		case shared[row.Base] || shared[h]:
			row.chance = 1
			row.Change, row.Why = Persisting,
				"it leaks or grows on both sides; the evidence of one, without inlined calls, shows several as one"
		default:
			row.Change, row.Why, row.chance, row.Unrated = speed(row.Base, h)
		}
		if row.Change == New && !base.Decides() {
			row.Why += "; its evidence alone decides nothing"
		}
		c.Rows = append(c.Rows, row)
	}
	c.doubt()
	for i := range base.Findings {
		b := &base.Findings[i]
		h := after[b]
		if !b.Class.IsSuspect() || h != nil && h.Class.IsSuspect() {
			continue
		}
		row := Row{Base: b, Head: h}
		if h == nil {
			row.Change, row.Why = absent(b, head, symbolsMissing(head, b, base, before))
		} else {
			row.Change, row.Why = ended(h, head)
		}
		if row.Change == Fixed && (b.Open || h != nil && h.Open || !head.isAfter(base.Rank)) {
			row.Change = Clean
		}
		if (row.Change == Fixed || row.Change == Clean) && !head.Decides() {
			row.Why += "; its evidence alone decides nothing"
		}
		c.Rows = append(c.Rows, row)
	}
	slices.SortStableFunc(c.Rows, func(x, y Row) int {
		return cmp.Or(cmp.Compare(order[x.Change], order[y.Change]), cmp.Compare(weight(y), weight(x)),
			cmp.Compare(x.signature(), y.signature()))
	})
	c.Renames = Renames(c.Rows)
	c.Sentence = sentence(base, head, c.Rows)
	return c
}

var order = map[Change]int{New: 0, Grown: 1, Persisting: 2, Shrunk: 3, Clean: 4, Fixed: 5, NotExercised: 6}

// pair finds for each finding the one of the other side that is the same leak: by signature, else by that which
// evidence without inlined calls gives. To such evidence several findings of the other side may be one.
func pair(base, head []Finding) (before, after map[*Finding]*Finding) {
	before, after = map[*Finding]*Finding{}, map[*Finding]*Finding{}
	bases, heads := bySignature(base), bySignature(head)
	for i := range head {
		if b := bases[head[i].Signature]; b != nil {
			before[&head[i]], after[b] = b, &head[i]
		}
	}
	outlined(base, heads, after, before)
	outlined(head, bases, before, after)
	return before, after
}

// sharedBy says which findings are the partners of several.
func sharedBy(pairs ...map[*Finding]*Finding) map[*Finding]bool {
	shared := map[*Finding]bool{}
	for _, partners := range pairs {
		taken := map[*Finding]bool{}
		for _, f := range partners {
			shared[f] = shared[f] || taken[f]
			taken[f] = true
		}
	}
	return shared
}

func bySignature(list []Finding) map[string]*Finding {
	found := make(map[string]*Finding, len(list))
	for i := range list {
		found[list[i].Signature] = &list[i]
	}
	return found
}

// outlined joins those of a list that have no partner yet with that of the other side which evidence without inlined
// calls has in their place. That one's partner is the gravest of them.
func outlined(list []Finding, others map[string]*Finding, partners, back map[*Finding]*Finding) {
	for i := range list {
		f := &list[i]
		other := others[f.Outline]
		if f.Outline == "" || other == nil || partners[f] != nil ||
			back[other] != nil && back[other].Signature == other.Signature {
			continue
		}
		partners[f] = other
		if known := back[other]; known == nil || f.Class.IsSuspect() && !known.Class.IsSuspect() {
			back[other] = f
		}
	}
}

func (r *Row) signature() string { return r.Either().Signature }

// Either is the finding of the head, or of the base where the head has none.
func (r *Row) Either() *Finding {
	if r.Head != nil {
		return r.Head
	}
	return r.Base
}

// weight orders rows of one change: by growth on the side where there is one.
func weight(r Row) int64 {
	if g := r.Either().Growth; g != nil {
		return g.Bytes
	}
	return r.Either().Outstanding.Bytes
}

// classWord is how a sentence calls a class that is no leak.
func classWord(c analysis.Class) string {
	switch c {
	case analysis.ClassCache:
		return "a cache that fills up"
	case analysis.ClassOneTime:
		return "allocated once"
	case analysis.ClassTransient:
		return "freed again"
	case analysis.ClassUnknown:
		return "not decided"
	}
	return string(c)
}

// Name is what sentences call the side.
func (s *BuildResult) Name() string { return cmp.Or(s.Label, "build "+s.Build) }

// Decides reports whether a run of the side has evidence that decides something.
func (s *BuildResult) Decides() bool {
	return len(s.Statuses) == 0 || s.Suffices ||
		slices.ContainsFunc(s.Statuses, func(status analysis.Status) bool { return status != analysis.StatusInconclusive })
}

// isAfter reports whether the build of the side is newer than the one with a rank; where builds have no order it is.
func (s *BuildResult) isAfter(rank []byte) bool {
	return s.Rank == nil || rank == nil || bytes.Compare(s.Rank, rank) > 0
}

// absentIn says why a side does not show a signature.
func absentIn(s *BuildResult) string {
	if s.Trace {
		return fmt.Sprintf("the trace of %s has no allocation of it", s.Name())
	}
	return fmt.Sprintf("the evidence of %s does not show it", s.Name())
}

// symbolsMissing says why nobody knows whether a side shows a finding of another side of another build; "" where it
// shows that it does not. Partners are those of the side's own findings.
func symbolsMissing(s *BuildResult, f *Finding, other *BuildResult, partners map[*Finding]*Finding) string {
	if s.Build == other.Build || !s.mayShow(f, partners) {
		return ""
	}
	do := "upload"
	if s.Label != "" { // nothing is uploaded where builds have no names
		do = "give"
	}
	return fmt.Sprintf("whether %s has it is not known: symbols are missing, and without them a signature holds "+
		"for one build only; %s the symbols of both builds", s.Name(), do)
}

// mayShow reports whether the side may show the finding of another build under another signature: the finding's
// signature is provisional, or that of a finding of the side which has no partner and blames the same module.
func (s *BuildResult) mayShow(f *Finding, partners map[*Finding]*Finding) bool {
	if isProvisional(f.Frames) {
		return true
	}
	for i := range s.Findings {
		own := &s.Findings[i]
		if partners[own] == nil && own.Module() == f.Module() && isProvisional(own.Frames) {
			return true
		}
	}
	return false
}

// speed says whether a leak of both sides became faster or slower, how likely it seems so by chance alone, and whether
// nothing can be said of that.
func speed(base, head *Finding) (change Change, why string, chance float64, unrated bool) {
	if base.RateUnit == "" || base.RateUnit != head.RateUnit || base.Exposure <= 0 || head.Exposure <= 0 {
		return Persisting, "it leaks or grows on both sides; how fast is not known on both", 1,
			base.RateUnit != head.RateUnit
	}
	b, h := exposure(base), exposure(head)
	rates := fmt.Sprintf("%s blocks per %s, before %s", figures.Number(head.RateCount), head.RateUnit,
		figures.Number(base.RateCount))
	if base.Unbounded || head.Unbounded {
		return Persisting, fmt.Sprintf("%s; fewer than %d snapshots do not tell whether that is faster or slower", rates,
			score.SnapshotsToJudge), 1, true
	}
	grown, shrunk := score.ProbabilityOfFaster(b, h), score.ProbabilityOfFaster(h, b)
	switch {
	case grown >= sureness:
		return Grown, rates, 1 - grown, false
	case shrunk >= sureness:
		return Shrunk, rates, 1 - shrunk, false
	}
	return Persisting, rates, 1 - max(grown, shrunk), false
}

func exposure(f *Finding) score.Exposure {
	return score.Exposure{Count: math.Round(f.RateCount * f.Exposure), Over: f.Exposure, Dispersion: f.Dispersion}
}

// falseShare is which part of the changes of speed may be chance: among many leaks some seem faster.
const falseShare = 0.05

// doubt takes back what is likely one of the many changes of speed that chance makes among many leaks.
func (c *Comparison) doubt() {
	var rows []*Row
	var chances []float64
	for i := range c.Rows {
		if r := &c.Rows[i]; r.Base != nil && r.Change != New {
			rows, chances = append(rows, r), append(chances, r.chance)
		}
	}
	for i, found := range score.Discoveries(chances, falseShare) {
		if !found {
			rows[i].Change = Persisting
		}
	}
}

// ended says what became of a leak that the head shows, and which neither leaks nor grows there.
func ended(head *Finding, side *BuildResult) (Change, string) {
	if head.Class == analysis.ClassUnknown {
		return NotExercised, fmt.Sprintf("the evidence of %s does not tell whether it grows", side.Name())
	}
	return Fixed, fmt.Sprintf("in %s it is %s", side.Name(), classWord(head.Class))
}

// absent says what became of a leak that the head does not show; unknown says why the head may show it all the same.
func absent(base *Finding, side *BuildResult, unknown string) (Change, string) {
	caller := side.Ran(base.Frames)
	switch {
	case caller != nil && !side.isAfter(base.FirstRank):
		return NotExercised, fmt.Sprintf("%s; that tells something only of builds after %s, the first in which it was bad",
			absentIn(side), base.FirstBad)
	case caller != nil:
		return Fixed, caller.textFor(side.Name())
	case unknown != "":
		return NotExercised, unknown
	}
	return NotExercised, absentIn(side) + ", nor anything that proves that what called it ran"
}

// Ran returns the frame by which code of a leak ran in a run of the side; nil for none. Only where the side shows
// nothing of the leak does that mean that it is fixed.
func (s *BuildResult) Ran(frames []string) *Caller {
	for _, seen := range s.Seen {
		if caller := seen.Ran(frames); caller != nil {
			return caller
		}
	}
	return nil
}

// words are the changes as a sentence counts them.
var words = map[Change]string{
	New: "new", Grown: "grown", Persisting: "persisting", Shrunk: "shrunk", Clean: "clean here and not fixed",
	Fixed: "fixed", NotExercised: "not exercised",
}

// sentence says it in one.
func sentence(base, head *BuildResult, rows []Row) string {
	counts := map[Change]int{}
	for i := range rows {
		counts[rows[i].Change]++
	}
	var parts []string
	for _, c := range []Change{New, Grown, Persisting, Shrunk, Clean, Fixed, NotExercised} {
		if n := counts[c]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, words[c]))
		}
	}
	if parts == nil {
		parts = []string{"nothing leaks or grows on either side"}
	}
	against := cmp.Or(base.Label, base.Build)
	if head.Label != "" {
		return fmt.Sprintf("%s%s against %s: %s.", strings.ToUpper(head.Label[:1]), head.Label[1:], against,
			strings.Join(parts, ", "))
	}
	return fmt.Sprintf("Build %s against %s: %s.", head.Build, against, strings.Join(parts, ", "))
}

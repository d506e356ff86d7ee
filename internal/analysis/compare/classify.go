package compare

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"heapdrift/ingest/quantity"
	"heapdrift/ingest/sorting"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
)

// sureness is how sure it has to be that a leak became faster or slower, by score.Noticeable at least.
const sureness = 0.99

// Compare classifies the change of every signature that leaks or grows in the base or the head.
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
		case row.Base == nil || !row.Base.Class.IsSuspect() && !base.listsTools(h):
			unknown := cmp.Or(symbolsMissing(base, h, head, after), base.listMissing(h))
			row.Change, row.Why, row.Unknown = ChangeNew, cmp.Or(unknown, absentIn(base)), unknown != ""
		case !row.Base.Class.IsSuspect():
			row.Change, row.Why = ChangeNew, classWord(row.Base.Class)+" in "+base.Name()
		case shared[row.Base] || shared[h]:
			row.chance = 1
			row.Change, row.Why = ChangePersisting,
				"leaks or grows on both sides; without inlined calls, one side shows several leaks as one"
		default:
			row.Change, row.Why, row.chance, row.Unrated = speed(row.Base, h)
		}
		if row.Change == ChangeNew && !base.Decides() {
			row.Why += fmt.Sprintf("; %s is inconclusive", base.Name())
		}
		c.Rows = append(c.Rows, row)
	}
	c.doubt()
	c.addEnded(base, head, before, after)
	sorting.Stable(c.Rows, func(x, y Row) int {
		return cmp.Or(cmp.Compare(order[x.Change], order[y.Change]), cmp.Compare(weight(y), weight(x)),
			cmp.Compare(x.signature(), y.signature()))
	})
	c.Renames = Renames(c.Rows)
	c.Sentence = sentence(base, head, c.Rows)
	return c
}

// addEnded adds the signatures that leak or grow in base alone.
func (c *Comparison) addEnded(base, head *BuildResult, before, after map[*Finding]*Finding) {
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
			row.Change, row.Why = ended(b, h, head)
		}
		if row.Change == ChangeFixed && (b.Open || h != nil && h.Open || !head.isAfter(base.Rank)) {
			row.Change = ChangeClean
		}
		if (row.Change == ChangeFixed || row.Change == ChangeClean) && !head.Decides() {
			row.Why += fmt.Sprintf("; %s is inconclusive", head.Name())
		}
		c.Rows = append(c.Rows, row)
	}
}

var order = map[Change]int{
	ChangeNew: 0, ChangeGrown: 1, ChangePersisting: 2, ChangeShrunk: 3,
	ChangeClean: 4, ChangeFixed: 5, ChangeNotExercised: 6,
}

// pair finds for each finding the same leak in the other build's result: by signature, else by the signature that
// evidence without inlined calls has. Such evidence may show several findings of the other build as one.
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

// sharedBy marks the findings that are the partner of several.
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

// outlined pairs the findings of a list that have no partner yet with the finding that evidence without inlined calls
// has in their place. The partner of that finding is the gravest of them.
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

func (r *Row) signature() string { return r.HeadOrBase().Signature }

// HeadOrBase is the finding of the head, or that of the base where the head has none.
func (r *Row) HeadOrBase() *Finding {
	if r.Head != nil {
		return r.Head
	}
	return r.Base
}

// weight orders rows of one change: by growth in the build where there is one.
func weight(r Row) int64 {
	if g := r.HeadOrBase().Growth; g != nil {
		return g.Bytes
	}
	return r.HeadOrBase().Outstanding.Bytes
}

// classWord names a class other than leak before "in build 2".
func classWord(c analysis.Class) string {
	switch c {
	case analysis.ClassCache:
		return "a cache"
	case analysis.ClassOneTime:
		return "allocated once"
	case analysis.ClassTransient:
		return "freed again"
	case analysis.ClassUnknown:
		return "undecided"
	}
	return strings.ReplaceAll(string(c), "-", " ")
}

// Name is how sentences name the build: its Label, or "build " and its name.
func (s *BuildResult) Name() string { return cmp.Or(s.Label, "build "+s.Build) }

// Decides reports whether a run of the build is enough to judge growth, or is not inconclusive. It is true without
// runs.
func (s *BuildResult) Decides() bool {
	return len(s.Statuses) == 0 || s.Suffices ||
		slices.ContainsFunc(s.Statuses,
			func(status analysis.VerdictStatus) bool { return status != analysis.StatusInconclusive })
}

// isAfter reports whether the build is newer than the one with a rank. It is true where builds have no
// order.
func (s *BuildResult) isAfter(rank []byte) bool {
	return s.Rank == nil || rank == nil || bytes.Compare(s.Rank, rank) > 0
}

// absentIn says that a build does not show a signature.
func absentIn(s *BuildResult) string {
	if s.Trace {
		return "not in the trace of " + s.Name()
	}
	return "not in the evidence of " + s.Name()
}

// symbolsMissing says why it is unknown whether a build has a finding that the other build shows; "" where the
// build certainly lacks the finding. partners are those of the build's own findings.
func symbolsMissing(s *BuildResult, f *Finding, other *BuildResult, partners map[*Finding]*Finding) string {
	if s.Build == other.Build || !s.mayShow(f, partners) {
		return ""
	}
	do := "upload"
	if s.Label != "" { // nothing is uploaded where builds have no names
		do = "give"
	}
	return fmt.Sprintf("%s the symbols of both builds: without symbols, signatures hold for one build only, "+
		"and %s may have this leak", do, s.Name())
}

// mayShow reports whether the build may show the finding of another build under another signature. That is so if the
// finding's signature is provisional, or if the build has a provisional one without a partner that blames the same
// module.
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

// speed says whether a leak of both builds became faster or slower, and the probability that this is chance. unrated
// means that the rates cannot be compared.
func speed(base, head *Finding) (change Change, why string, chance float64, unrated bool) {
	if base.RateUnit == "" || base.RateUnit != head.RateUnit || base.Exposure <= 0 || head.Exposure <= 0 {
		return ChangePersisting, "leaks or grows on both sides; the rates cannot be compared", 1,
			base.RateUnit != head.RateUnit
	}
	b, h := exposure(base), exposure(head)
	rates := fmt.Sprintf("%s blocks per %s, was %s", quantity.Number(head.RateCount), head.RateUnit,
		quantity.Number(base.RateCount))
	if base.Unbounded || head.Unbounded {
		return ChangePersisting, fmt.Sprintf("%s; a change of rate needs %d snapshots on each side", rates,
			score.SnapshotsToJudge), 1, true
	}
	grown, shrunk := score.ProbabilityOfFaster(b, h), score.ProbabilityOfFaster(h, b)
	switch {
	case grown >= sureness:
		return ChangeGrown, rates, 1 - grown, false
	case shrunk >= sureness:
		return ChangeShrunk, rates, 1 - shrunk, false
	}
	return ChangePersisting, rates, 1 - max(grown, shrunk), false
}

func exposure(f *Finding) score.Exposure {
	return score.Exposure{Count: math.Round(f.RateCount * f.Exposure), Over: f.Exposure, Dispersion: f.Dispersion}
}

// falseShare is the share of changes of speed that may be chance: among many leaks some seem faster.
const falseShare = 0.05

// doubt removes the changes of speed that are likely chance, as many leaks have some.
func (c *Comparison) doubt() {
	var rows []*Row
	var chances []float64
	for i := range c.Rows {
		if r := &c.Rows[i]; r.Base != nil && r.Change != ChangeNew {
			rows, chances = append(rows, r), append(chances, r.chance)
		}
	}
	for i, found := range score.Discoveries(chances, falseShare) {
		if !found {
			rows[i].Change = ChangePersisting
		}
	}
}

// ended classifies a leak of the base that the head shows without a leak or growth. Memory that is held while a program
// runs may be left at its end.
func ended(base, head *Finding, side *BuildResult) (Change, string) {
	if base.AtExit && head.Listed == nil {
		if gone := side.WhyGone(base.Frames, shownBy(base)); gone != nil {
			return ChangeFixed, gone.textFor(side.Name())
		}
		return ChangeNotExercised, "no list of leaks at exit of " + side.Name() + " would show it"
	}
	if head.Class == analysis.ClassUnknown {
		return ChangeNotExercised, "growth undecided in " + side.Name()
	}
	return ChangeFixed, classWord(head.Class) + " in " + side.Name()
}

// absent classifies a leak of the base that the head does not show. unknown says why the head may have the leak under
// another signature, "" where it cannot.
func absent(base *Finding, side *BuildResult, unknown string) (Change, string) {
	caller := side.WhyGone(base.Frames, shownBy(base))
	switch {
	case caller != nil && !side.isAfter(base.FirstRank):
		return ChangeNotExercised, fmt.Sprintf("%s; only builds after %s, which leaked first, can show a fix", absentIn(side), base.FirstBad)
	case caller != nil:
		return ChangeFixed, caller.textFor(side.Name())
	case unknown != "":
		return ChangeNotExercised, unknown
	}
	return ChangeNotExercised, absentIn(side) + ", nor are its callers"
}

// WhyGone returns what shows, in a run of the build, that a leak is gone, as FrameCounts.WhyGone does; nil for nothing.
// The leak is fixed only if the build does not show it.
func (s *BuildResult) WhyGone(frames []string, by ShownBy) *RanFrame {
	for _, seen := range s.Seen {
		if caller := seen.WhyGone(frames, by); caller != nil {
			return caller
		}
	}
	return nil
}

// words are the changes as a sentence counts them.
var words = map[Change]string{
	ChangeNew: "new", ChangeGrown: "grown", ChangePersisting: "persisting", ChangeShrunk: "shrunk",
	ChangeClean: "clean but not fixed",
	ChangeFixed: "fixed", ChangeNotExercised: "not exercised",
}

// sentence counts the rows by change.
func sentence(base, head *BuildResult, rows []Row) string {
	counts := map[Change]int{}
	for i := range rows {
		counts[rows[i].Change]++
	}
	var parts []string
	for _, c := range []Change{
		ChangeNew, ChangeGrown, ChangePersisting, ChangeShrunk, ChangeClean, ChangeFixed, ChangeNotExercised,
	} {
		if n := counts[c]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, words[c]))
		}
	}
	if parts == nil {
		parts = []string{"no site leaks or grows on either side"}
	}
	against := cmp.Or(base.Label, base.Build)
	if head.Label != "" {
		return fmt.Sprintf("%s%s against %s: %s.", strings.ToUpper(head.Label[:1]), head.Label[1:], against,
			strings.Join(parts, ", "))
	}
	return fmt.Sprintf("Build %s against %s: %s.", head.Build, against, strings.Join(parts, ", "))
}

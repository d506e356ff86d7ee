package analysis

import (
	"cmp"
	"fmt"
	"slices"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis/score"
)

// join gives a finding the signature of another, and the text that goes with it.
func (f *lineFinding) join(to *Finding, by JoinedBy) {
	alone := f.Finding
	f.Joined = []JoinedLine{{Signature: alone.Signature, Title: alone.Title, Place: f.place(), By: by, Alone: &alone}}
	f.Signature, f.Title, f.Blame, f.Origin, f.Frames, f.Fine, f.Leaf, f.Outline, f.Provisional = to.Signature, to.Title,
		to.Blame, to.Origin, to.Frames, to.Fine, to.Leaf, to.Outline, to.Provisional
	f.Owner, f.Known, f.Group = cmp.Or(to.Owner, f.Owner), cmp.Or(to.Known, f.Known), cmp.Or(to.Group, f.Group)
}

// mergeJoined makes findings of one draft that were given one signature one finding: several lines of a function may
// allocate what one call stack shows.
func mergeJoined(list []*draftFinding) []*draftFinding {
	at := map[string]*draftFinding{}
	return slices.DeleteFunc(list, func(f *draftFinding) bool {
		if f.Joined == nil {
			return false
		}
		into := at[f.Signature]
		if into == nil {
			at[f.Signature] = f
			return false
		}
		left := into.LeftAtExit.plus(f.LeftAtExit)
		into.LeftAtExit, into.Certain = left, into.Certain || f.Certain
		into.Outstanding, into.Sites = into.Outstanding.Plus(f.Outstanding), into.Sites+f.Sites
		into.ByKind[0].Outstanding = into.Outstanding
		into.Joined = append(into.Joined, f.Joined...)
		into.Clauses = left.clauses()
		return true
	})
}

// plus are the blocks of two findings of one tool together.
func (l *LeftAtExit) plus(o *LeftAtExit) *LeftAtExit {
	sum := &LeftAtExit{Unsearched: l.Unsearched.Plus(o.Unsearched), Unreferenced: l.Unreferenced.Plus(o.Unreferenced),
		Indirect: l.Indirect.Plus(o.Indirect), Possible: l.Possible.Plus(o.Possible),
		Reachable: l.Reachable.Plus(o.Reachable), BeforeTests: l.BeforeTests.Plus(o.BeforeTests),
		Tools: union(l.Tools, o.Tools), Programs: union(l.Programs, o.Programs), MoreTests: max(l.MoreTests, o.MoreTests)}
	for _, test := range slices.Concat(l.Tests, o.Tests) {
		switch {
		case slices.Contains(sum.Tests, test):
		case len(sum.Tests) < MaxTests:
			sum.Tests = append(sum.Tests, test)
		default:
			sum.MoreTests++
		}
	}
	return sum
}

// explainJoined says of findings what joins the evidence without call stacks to them.
func (d *draft) explainJoined() {
	for _, f := range d.findings {
		for _, j := range f.Joined {
			text := "Listed without a call stack as " + j.Title
			if j.By == ByAddress {
				text += ": the same blocks, by their addresses."
			} else {
				text += ": blocks of this size from the same line, " + j.Place + "."
			}
			f.Clauses = append(f.Clauses, score.Clause{Rule: "joined-line", Holds: new(true), Text: text})
		}
	}
}

// whyDoubted says why lines are not joined.
var whyDoubted = [lineDoubtCount]string{
	ofSeveralStacks: "several call stacks allocate there",
	ofOtherSizes:    "the call stack there has blocks of another size",
	ofMoreBlocks:    "only some of these blocks are known to have the call stack",
	ofOtherLines:    "no call stack is known for other lines of the same name",
}

// lineDoubts are the findings that are not joined though a call stack may be theirs, by why.
type lineDoubts [lineDoubtCount]struct {
	count int64
	first string
}

func (l *lineDoubts) add(doubt lineDoubt, f *lineFinding) {
	if l[doubt].count++; l[doubt].count == 1 {
		l[doubt].first = cmp.Or(f.place(), f.Title)
	}
	f.SeveralStacks = doubt == ofSeveralStacks || doubt == ofOtherLines
}

// warn warns of what is not joined.
func (l *lineDoubts) warn(d *draft, kind string) {
	for doubt, at := range l {
		if at.count == 0 {
			continue
		}
		where := at.first
		if at.count > 1 {
			where += " and " + quantity.Plural(at.count-1, "more line")
		}
		d.chosen.warnings = append(d.chosen.warnings, Warning{Code: capture.Unsupported, Count: at.count,
			Message: fmt.Sprintf("%s: blocks of %s are not joined with a call stack: %s.", kind, where, whyDoubted[doubt])})
	}
}

package analysis

import (
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis/score"
)

// LeftAtExit counts the blocks of a finding that a process had not freed when it ended, by what the tool that lists
// them found to point to them.
type LeftAtExit struct {
	Unsearched   Amount `json:"unsearched,omitzero"`   // the tool looked for no pointers
	Unreferenced Amount `json:"unreferenced,omitzero"` // nothing points to them
	Indirect     Amount `json:"indirect,omitzero"`     // only unreferenced blocks do
	Possible     Amount `json:"possible,omitzero"`     // something points into them
	Reachable    Amount `json:"reachable,omitzero"`    // the program could still have freed them
	// BeforeTests are those of Unsearched that were there before the first test ran: a static may free them after the list.
	BeforeTests Amount `json:"before_tests,omitzero"`
	// Tests are the tests that ran when the tool printed the list, in order, at most MaxTests; MoreTests counts the
	// others.
	Tests     []string `json:"tests,omitempty"`
	MoreTests int      `json:"more_tests,omitempty"`
	// Tools are the kinds of evidence that list them, Programs the programs whose lists were printed outside of tests,
	// as in ExitLists.
	Tools    []string `json:"tools,omitempty"`
	Programs []string `json:"programs,omitempty"`
}

// MaxTests is how many tests a finding lists, and namedTests how many its reasons name.
const (
	MaxTests   = 100
	namedTests = 10
)

// neverFreed are the blocks of which the tool says for certain that the program lost them.
func (l *LeftAtExit) neverFreed() Amount {
	return l.Unsearched.Minus(l.BeforeTests).Plus(l.Unreferenced).Plus(l.Indirect)
}

// Lost sums the blocks that no pointer, or only a possible one, was found to: Unsearched, Unreferenced, Indirect and
// Possible, or freed later.
func (l *LeftAtExit) Lost() Amount { return l.neverFreed().Plus(l.BeforeTests).Plus(l.Possible) }

// class is the class of blocks that were left. What a tool found a pointer to is no leak by that tool, and nothing says
// whether it grows.
func (l *LeftAtExit) class() Class {
	if l.Lost() == (Amount{}) {
		return ClassUnknown
	}
	return ClassLeftAtExit
}

// isList reports whether a part lists what was left when a process ended.
func (p *part) isList() bool { return p.Shape == capture.ShapeExit }

// programsOfLists are the names of the programs that lists of what was left at exit tell; nil of other evidence.
func programsOfLists(parts []part) map[string]bool {
	names := map[string]bool{}
	for i := range parts {
		if !parts[i].isList() {
			return nil
		}
		if name := strings.ToLower(parts[i].Process.Name); name != "" {
			names[name] = true
		}
	}
	return names
}

// atExit sums what is left of a site, by what points to it; nil of evidence that does not tell.
func (m *mergedSite) atExit() *LeftAtExit {
	if m.left == nil {
		return nil
	}
	of := func(r capture.Reach) Amount { return Amount{m.left[r].Count, m.left[r].Bytes} }
	return &LeftAtExit{Unsearched: of(capture.ReachUnsearched), Unreferenced: of(capture.ReachNone),
		Indirect: of(capture.ReachLost), Possible: of(capture.ReachPossible), Reachable: of(capture.ReachHeld),
		BeforeTests: m.beforeTests}
}

// leave counts what was left of a site in a list, of which lines may tell more by the place of the site.
func (m *mergedSite) leave(p int, site *capture.Site, lines []capture.Line, at int) {
	if m.left == nil {
		m.left = new([capture.ReachCount]capture.Usage)
	}
	m.left[site.Reach] = m.left[site.Reach].Add(site.Usage[0])
	if lines != nil {
		m.beforeTests = m.beforeTests.Plus(Amount{lines[at].BeforeTests.Count, lines[at].BeforeTests.Bytes})
	}
	if n := len(m.lists); n == 0 || m.lists[n-1] != int32(p) {
		m.lists = append(m.lists, int32(p))
	}
}

// judgeLeft makes a finding one of blocks that were left at exit, where a list says so. One list does not show growth.
func (f *Finding) judgeLeft(s *series, sites []*judgedSite) {
	var left LeftAtExit
	var lists []int32
	for _, site := range sites {
		l := site.atExit()
		if l == nil {
			return
		}
		left.Unsearched, left.Unreferenced = left.Unsearched.Plus(l.Unsearched), left.Unreferenced.Plus(l.Unreferenced)
		left.Indirect, left.Possible = left.Indirect.Plus(l.Indirect), left.Possible.Plus(l.Possible)
		left.Reachable, left.BeforeTests = left.Reachable.Plus(l.Reachable), left.BeforeTests.Plus(l.BeforeTests)
		lists = append(lists, site.lists...)
	}
	left.nameLists(s, lists)
	f.LeftAtExit, f.Verdict, f.Certain = &left, left.class(), left.neverFreed() != (Amount{})
	f.Clauses = append(f.Clauses, left.clauses()...)
}

// nameTests lists the tests of lists, each once.
func (l *LeftAtExit) nameTests(s *series, lists []int32) {
	seen := map[string]bool{}
	slices.Sort(lists)
	for _, p := range slices.Compact(lists) {
		switch test := s.parts[p].Test; {
		case test == "" || seen[test]:
		case len(l.Tests) == MaxTests:
			seen[test] = true
			l.MoreTests++
		default:
			seen[test] = true
			l.Tests = append(l.Tests, test)
		}
	}
}

// clauses say what the class rests on.
func (l *LeftAtExit) clauses() []score.Clause {
	var said []string
	for _, part := range []struct {
		of   Amount
		what string
	}{
		{l.Unsearched.Minus(l.BeforeTests), "the tool does not look for pointers to them"},
		{l.BeforeTests, "allocated before the first test, a static may free them after this list"},
		{l.Unreferenced, "nothing pointed to them"},
		{l.Indirect, "only unreferenced blocks pointed to them"},
		{l.Possible, "something pointed into them, nothing to their start"},
		{l.Reachable, "the program still had pointers to them"},
	} {
		if part.of != (Amount{}) {
			held := quantity.Bytes(part.of.Bytes)
			if part.of.Count > 0 { // Dr. Memory does not count indirect blocks
				held += " in " + blocks(part.of.Count)
			}
			said = append(said, held+": "+part.what)
		}
	}
	text := "Not freed when the process ended. " + strings.Join(said, "; ") + "."
	if len(l.Tests) > 0 {
		named := min(len(l.Tests), namedTests)
		text += " Printed during " + strings.Join(l.Tests[:named], ", ")
		if more := len(l.Tests) - named + l.MoreTests; more > 0 {
			text += fmt.Sprintf(" and %s", quantity.Plural(more, "more test"))
		}
		text += "."
	}
	return []score.Clause{{Rule: "left-at-exit", Holds: new(l.class() == ClassLeftAtExit), Text: text},
		{Rule: "growth", Text: "One list does not show whether it grows: record the program, or push 3 runs of this build with different work (--work)."}}
}

// takeLeft adds to a finding what a list of another tool says of it: blocks that were never freed are more than growth
// that ended. Of several tools that list the same blocks, the amounts are those of the first.
func (f *Finding) takeLeft(other *Finding) {
	if other.LeftAtExit == nil {
		return
	}
	if l := f.LeftAtExit; l != nil {
		l.Tools, l.Programs = union(l.Tools, other.LeftAtExit.Tools), union(l.Programs, other.LeftAtExit.Programs)
		for _, test := range other.LeftAtExit.Tests {
			switch {
			case slices.Contains(l.Tests, test):
			case len(l.Tests) < MaxTests:
				l.Tests = append(l.Tests, test)
			default:
				l.MoreTests++
			}
		}
		return
	}
	f.LeftAtExit = other.LeftAtExit
	f.Clauses = append(f.Clauses, other.Clauses...)
	if other.Verdict.Gravity() > f.Verdict.Gravity() {
		f.Verdict, f.Certain = other.Verdict, other.Certain
	}
}

// A leftTally sums the findings of the class left at exit that no rule knows.
type leftTally struct {
	certain  int // of which the tool says for certain that the blocks were lost
	possible int
	total    Amount
	pointed  bool // something points into blocks of those
	early    bool // blocks of those were there before the first test
	tests    map[string]bool
	more     bool     // tests that no finding names
	top      *Finding // that holds most
}

func (t *leftTally) add(f *Finding) {
	if f.Certain {
		t.certain++
	} else {
		t.possible++
		t.pointed = t.pointed || f.LeftAtExit.Possible != (Amount{})
		t.early = t.early || f.LeftAtExit.BeforeTests != (Amount{})
	}
	held := f.LeftAtExit.Lost()
	t.total = t.total.Plus(held)
	if t.top == nil || held.Bytes > t.top.LeftAtExit.Lost().Bytes {
		t.top = f
	}
	for _, test := range f.LeftAtExit.Tests {
		if t.tests == nil {
			t.tests = map[string]bool{}
		}
		t.tests[test] = true
	}
	t.more = t.more || f.LeftAtExit.MoreTests > 0
}

// sentence says what was left, by whom, and from where.
func (t *leftTally) sentence(name string) string {
	s := fmt.Sprintf("%s left %s in %s at exit, never freed", name, quantity.Bytes(t.total.Bytes), blocks(t.total.Count))
	if n := t.certain + t.possible; n == 1 {
		s += ", from " + t.top.Where()
	} else {
		held := t.top.LeftAtExit.Lost()
		s += fmt.Sprintf(", from %s; the most, %s in %s, from %s", quantity.Plural(n, "site"),
			quantity.Bytes(held.Bytes), blocks(held.Count), t.top.Where())
	}
	switch n := len(t.tests); {
	case n == 0:
	case t.more:
		s += fmt.Sprintf("; printed during more than %s", quantity.Plural(n, "test"))
	case n == 1:
		for test := range t.tests {
			s += "; printed during " + test
		}
	default:
		s += "; printed during " + quantity.Plural(n, "test")
	}
	return s
}

// doubt says why the program may not have lost the blocks of which none is certain.
func (t *leftTally) doubt() string {
	switch {
	case !t.early:
		return "the program had pointers into all of them"
	case !t.pointed:
		return "they were allocated before the first test, and a static may free them after the list"
	}
	return "the program had pointers into them, or a static may free them after the list"
}

// decideLeft draws the conclusion of a list of what was left. The tool has decided already: what it lists as lost was
// never freed, and growth need not be seen. A list that is whole and has nothing of that sort shows no leak; a sample
// of the blocks may have missed it.
func (d *draft) decideLeft(v *EvidenceVerdict, t *tally, lossy *Warning) {
	name := nameOf(d.report)
	if n := len(programsOfLists(d.parts)); n > 1 {
		name = quantity.Plural(n, "program")
	}
	switch {
	case t.left.certain > 0:
		v.Status, v.Leaks, v.Causes = StatusLeak, t.left.certain, t.left.certain
		v.Sentence = t.left.sentence(name)
	case t.left.possible > 0:
		v.Sentence = t.left.sentence(name) + "; " + t.left.doubt() + ", so no leak is proven"
	case lossy != nil || cutShort(d.judged):
		v.Next = &Next{Evidence: NextComplete, Sentence: "Give the log of the whole run; the warnings list the losses."}
		v.Sentence = name + ": the list of blocks that were left at exit is not whole; " + inSentence(v.Next.Sentence)
	case d.samplesList():
		v.Next = &Next{Evidence: NextComplete,
			Sentence: "Give a profile of all blocks, or one that samples with a lower rate."}
		v.Sentence = name + ": the list of blocks that were left at exit is a sample without a leak; " +
			inSentence(v.Next.Sentence)
	default:
		v.Status = StatusNoLeak
		v.Sentence = name + " left no block at exit that it had lost"
		if held := d.report.Totals.Heap.Outstanding; held.Count > 0 && t.known == 0 {
			v.Sentence += fmt.Sprintf("; it still had pointers to %s in %s", quantity.Bytes(held.Bytes), blocks(held.Count))
		}
	}
	if t.known > 0 {
		v.Sentence += "; " + quantity.Plural(t.known, "known site") + " not counted"
	}
	v.Sentence += "."
}

package leaks

import (
	"fmt"
	"slices"
	"strings"

	"heapdrift/internal/analysis"
)

// An EvidenceKind is a kind of evidence that may show a leak.
type EvidenceKind struct {
	Name     string   // "UMDH snapshots"
	Singular string   // in a sentence, without an article: "UMDH log"
	Kinds    []string // kinds of its files (evidence.Kind) and of its captures (capture.Kind)
	// Expected says that a page has a row for this kind also where such evidence does not show the leak, or does not
	// exist.
	Expected bool
	// PointerSearchRank orders the kinds of evidence that search for pointers to blocks by how certainly they are of
	// the run's process; 0 for a kind that does not. Where a run says that nothing points to blocks, its evidence with
	// the highest rank has searched.
	PointerSearchRank int
}

// An EvidenceRun is a run of a build, and what it says of a leak.
type EvidenceRun struct {
	RunID                 int64
	Name, Build, Scenario string
	Kinds                 []string // of the captures that were read
	Unread                []string // kinds of its evidence that is not read yet, or cannot be
	Status                analysis.VerdictStatus
	// Shows says that the run shows the leak; the fields below describe the leak in this run.
	Shows       bool
	Figure      Figure                // of the run by itself, without other runs of the scenario
	ByKind      []analysis.KindResult // the report's own evidence first; nil where nothing was kept of a leak that is none
	Unreachable *analysis.Amount      // its blocks that no pointer was found to; nil where nobody looked
	SpanNS      int64                 // length of the report's own evidence; 0 where unknown
}

// A KindSummary is what one kind of evidence shows of a leak in a build.
type KindSummary struct {
	EvidenceKind
	Runs   int // runs of the build with such evidence that was read
	Unread int // other runs whose evidence of this kind is not read yet, or cannot be
	// GravestRun is the run that the summary rests on: the gravest of several, the first of equals; nil where no such
	// evidence shows the leak.
	GravestRun    *EvidenceRun
	Figure               // as that evidence has it by itself; Rate and Certain are known of the report's own only
	Ended         bool   // the process ended: amounts are those before that
	SpanNS        int64  // time over which it grew; 0 where unknown
	BytesPerBlock *int64 // nil where it holds no block
	Judged        Judgement
	// Unreachable counts its blocks that no pointer was found to; nil where this evidence did not search.
	Unreachable *analysis.Amount
}

// SummarizeKinds collects, by kind of evidence, what the runs of a build show of a leak. Runs come newest first. Kinds
// that are not expected are left out where no run has such evidence of the leak.
func SummarizeKinds(kinds []EvidenceKind, runs []EvidenceRun) []KindSummary {
	var list []KindSummary
	for _, kind := range kinds {
		t := KindSummary{EvidenceKind: kind}
		for i := range runs {
			r := &runs[i]
			if !kind.has(r.Kinds...) {
				if kind.has(r.Unread...) {
					t.Unread++
				}
				continue
			}
			t.Runs++
			if said := kind.in(r, kind.PointerSearchRank > 0 && kind.PointerSearchRank == surestSearch(kinds, r)); said != nil &&
				(t.GravestRun == nil || CompareGravity(&said.Figure, &t.Figure) < 0) {
				said.EvidenceKind, said.Runs, said.Unread = kind, t.Runs, t.Unread
				t = *said
			}
		}
		if t.GravestRun != nil || kind.Expected {
			list = append(list, t)
		}
	}
	return list
}

// has reports whether one of some kinds is of this one.
func (k *EvidenceKind) has(kinds ...string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool { return slices.Contains(k.Kinds, kind) })
}

// surestSearch is the highest rank (PointerSearchRank) among a run's evidence that looks for pointers to blocks; 0
// where none looks.
func surestSearch(kinds []EvidenceKind, r *EvidenceRun) (surest int) {
	for i := range kinds {
		if kinds[i].has(r.Kinds...) {
			surest = max(surest, kinds[i].PointerSearchRank)
		}
	}
	return surest
}

// in is what evidence of the kind says in a run, in which it may have looked for pointers to blocks; nil for nothing.
func (k *EvidenceKind) in(r *EvidenceRun, searched bool) *KindSummary {
	if !r.Shows {
		return nil
	}
	for i := range r.ByKind {
		w := &r.ByKind[i]
		if !k.has(w.Kind) {
			continue
		}
		t := &KindSummary{GravestRun: r, Figure: Figure{Class: w.Verdict, Score: w.Score}}
		t.Outstanding, t.Ended = w.HeldBeforeExit()
		if w.Growth != nil {
			t.Growth = new(w.GrowthBeforeExit())
		}
		if i == 0 {
			t.Rate, t.Certain, t.SpanNS = r.Figure.Rate, r.Figure.Certain, r.SpanNS
		}
		return t.judged(r, searched)
	}
	// Of what is no leak nothing but the figures is kept. Where all evidence of the run is of this kind, they are its
	// own.
	if len(r.ByKind) == 0 && !slices.ContainsFunc(r.Kinds, func(kind string) bool { return !k.has(kind) }) {
		t := &KindSummary{GravestRun: r, Figure: r.Figure, SpanNS: r.SpanNS}
		return t.judged(r, searched)
	}
	if searched && r.Unreachable != nil { // it knows of no stacks, and of blocks that other evidence knows the stacks of
		t := &KindSummary{GravestRun: r, Figure: Figure{Class: analysis.ClassUnknown}}
		return t.judged(r, searched)
	}
	return nil
}

// judged completes what a kind of evidence says in a run.
func (t *KindSummary) judged(r *EvidenceRun, searched bool) *KindSummary {
	t.Judged = JudgementOf(t.Class, r.Status)
	if searched {
		t.Unreachable = r.Unreachable
	}
	if n := t.Outstanding.Count; n > 0 {
		t.BytesPerBlock = new(t.Outstanding.Bytes / n)
	}
	return t
}

// MissingText says why a kind of evidence shows nothing of the leak; "" where it shows something.
func (t *KindSummary) MissingText() string {
	if t.GravestRun != nil {
		return ""
	}
	if t.Runs == 0 && t.Unread == 0 {
		return fmt.Sprintf("No %s has been uploaded for this build.", t.Singular)
	}
	var parts []string
	switch {
	case t.Runs == 1:
		parts = append(parts, fmt.Sprintf("1 run of this build has a %s, which does not show this leak.", t.Singular))
	case t.Runs > 1:
		parts = append(parts,
			fmt.Sprintf("%d runs of this build have a %s; none shows this leak.", t.Runs, t.Singular))
	}
	switch {
	case t.Unread == 1:
		parts = append(parts, fmt.Sprintf("1 run has a %s that is not read yet, or cannot be read.", t.Singular))
	case t.Unread > 1:
		parts = append(parts, fmt.Sprintf("%d runs have a %s that is not read yet, or cannot be read.", t.Unread, t.Singular))
	}
	return strings.Join(parts, " ")
}

// AgreementText says in a sentence whether the kinds of evidence that show a leak agree on it.
func AgreementText(list []KindSummary) string {
	var leaks, grows, lost, clean, open []string
	for i := range list {
		switch t := &list[i]; {
		case t.GravestRun == nil:
		case t.Judged == JudgedLeaking:
			leaks = append(leaks, t.Name)
		case t.Unreachable != nil && t.Unreachable.Count > 0:
			lost = append(lost, t.Name)
		case t.Judged.IsBad():
			grows = append(grows, t.Name)
		case t.Judged == JudgedClean:
			clean = append(clean, t.Name)
		default:
			open = append(open, t.Name)
		}
	}
	groups := []struct {
		names []string
		says  string
		bad   bool
	}{
		{leaks, "leak", true}, {grows, "growing", true}, {lost, "unreferenced", true},
		{clean, "no leak", false}, {open, "undecided", false},
	}
	var parts []string
	var says string // the last of them
	all, bad := 0, 0
	for _, g := range groups {
		if len(g.names) == 0 {
			continue
		}
		all += len(g.names)
		if g.bad {
			bad += len(g.names)
		}
		parts, says = append(parts, g.says+" ("+joinedWords(g.names)+")"), g.says
	}
	switch {
	case all == 0:
		return "no evidence of this build shows the leak"
	case all == 1:
		return "one kind of evidence shows the leak"
	case len(parts) == 1:
		return fmt.Sprintf("%d kinds of evidence agree: %s", all, says)
	case bad > 0 && len(clean) > 0:
		return "the kinds of evidence disagree: " + strings.Join(parts, ", ")
	case bad == all:
		return fmt.Sprintf("%d kinds of evidence show the leak: %s", all, strings.Join(parts, ", "))
	}
	return strings.Join(parts, ", ")
}

// joinedWords lists words: "a, b and c".
func joinedWords(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

package store_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// withPools skips a test if package score has no table for judging runs together. Log odds of 4 pass every threshold,
// log odds of −8 none.
func withPools(t testing.TB) {
	t.Helper()
	sure := &score.Evidence{LogOdds: 4}
	if p, ok := score.JudgeTogether([]*score.Evidence{sure, sure}); !ok || !p.Certain {
		t.Skip("package score has no table of poolings")
	}
}

// judged is a finding of A with log odds.
func judged(class analysis.Class, odds float64) finding {
	return finding{signature: "A", class: class, bytes: 7, odds: &odds, callers: serve}
}

// found is the finding of a signature in a run.
func (l *lab) found(place, signature string) store.Finding {
	l.Helper()
	page, _, err := l.now().ListFindings(l.Context(), store.FindingQuery{RunID: l.runs[place], All: true, Limit: 100})
	if err != nil {
		l.Fatal(err)
	}
	for _, f := range page {
		if f.Signature == signature {
			return f
		}
	}
	l.Fatalf("run %s does not show %s", place, signature)
	return store.Finding{}
}

// verdict is the verdict of a gate that fails on leaks.
func (l *lab) verdict(place string) leaks.RunVerdict {
	l.Helper()
	view := l.now()
	run := must[store.Run](l)(view.FindRun(l.Context(), l.runs[place]))
	return must[leaks.RunVerdict](l)(view.FindVerdict(l.Context(), &run,
		store.GateQuestion{FailOn: []leaks.FailOn{leaks.FailOnLeak}}))
}

// Growth that no run alone decides is a certain leak by three runs, in each of them, and pages read that judgement.
func TestRunsAddUp(t *testing.T) {
	withPools(t)
	l := newLab(t)
	other := finding{signature: "B", class: leak, bytes: 1}
	l.run("1", leaksReport(judged(grows, 4), other))
	if f := l.found("1", "A"); f.Class != grows || f.Pooled != nil || f.Alone != nil {
		t.Errorf("alone: %+v", f)
	}
	l.run("2", leaksReport(judged(grows, 4), other))
	l.run("3", leaksReport(judged(grows, 4), other))
	want, _ := score.JudgeTogether([]*score.Evidence{{LogOdds: 4}, {LogOdds: 4}, {LogOdds: 4}})
	f := l.found("3", "A")
	if f.Class != leak || !f.Certain || f.Score == nil || *f.Score != want.Score || f.Alone == nil ||
		f.Alone.Class != grows || f.Pooled == nil || f.Pooled.PooledResult != want {
		t.Errorf("%+v", f)
	}
	if len(f.Clauses) != 2 || f.Clauses[0].Rule != "pooled" ||
		!strings.HasPrefix(f.Clauses[0].Text,
			"Pooled over 3 runs of builds 1, 2 and 3: growing in each") {
		t.Errorf("%+v", f.Clauses)
	}
	if a := l.signature("A"); a.Latest.Class != leak || !a.Latest.Certain || a.State != leaks.StateFound ||
		a.Worst != string(leak) {
		t.Errorf("%+v", a)
	}
	// Of three runs two were judged by then: the first stands alone, since no older run confirms it.
	if f := l.found("1", "A"); f.Class != grows || f.Pooled != nil {
		t.Errorf("the first of them: %+v", f)
	}
	v := l.verdict("3")
	if v.Gate != leaks.GateFailed || v.Why != "2 leaks" {
		t.Errorf("%s because %s", v.Gate, v.Why)
	}
	// Runs of another scenario, or with losses, are not judged together with these.
	l.run("4/other", leaksReport(judged(grows, 4)))
	if f := l.found("4/other", "A"); f.Pooled != nil {
		t.Errorf("in another scenario: %+v", f.Pooled)
	}
	lost := leaksReport(judged(grows, 4))
	lost.Warnings = []analysis.Warning{{Code: capture.EventsLost, Count: 1}}
	lost.Verdict.Status = analysis.StatusInconclusive
	l.run("5", lost)
	if f := l.found("5", "A"); f.Pooled != nil || f.Class != grows {
		t.Errorf("with losses: %+v", f)
	}
	l.run("6", leaksReport(judged(grows, 4)))
	if f := l.found("6", "A"); f.Pooled == nil || fmt.Sprint(f.Pooled.Builds) != "[1 2 3 6]" {
		t.Errorf("behind a run with losses: %+v", f.Pooled)
	}
	// A result that was replaced does not count.
	l.run("2", leaksReport(other))
	if f := l.found("3", "A"); f.Pooled == nil || fmt.Sprint(f.Pooled.Builds) != "[1 3]" {
		t.Errorf("without the second: %+v", f.Pooled)
	}
	l.run("1", leaksReport(other))
	if f := l.found("3", "A"); f.Pooled != nil || f.Alone != nil || f.Class != grows || f.Certain {
		t.Errorf("alone again: %+v", f)
	}
}

// A certain leak of one run that other runs of its build do not confirm is called growing, fails no gate, and comes
// behind leaks in the list.
func TestLeakThatIsNotBorneOut(t *testing.T) {
	withPools(t)
	l := newLab(t)
	clean := finding{signature: "A", class: stable, callers: serve}
	other := judged(grows, 4)
	other.signature = "B"
	report := leaksReport(judged(leak, 4), other)
	l.run("1/soak/a", report)
	if v := l.verdict("1/soak/a"); v.Gate != leaks.GateFailed {
		t.Errorf("alone: %s because %s", v.Gate, v.Why)
	}
	l.run("1/soak/b", leaksReport(clean))
	l.run("1/soak/c", leaksReport(clean))
	f := l.found("1/soak/a", "A")
	if f.Class != grows || f.Certain || f.Alone == nil || f.Alone.Class != leak || !f.Alone.Certain ||
		f.Clauses[0].Text != "Leaks in this run; 2 other runs of the scenario do not confirm it." {
		t.Errorf("%+v", f)
	}
	if v := l.verdict("1/soak/a"); v.Gate != leaks.GateInconclusive ||
		v.Why != "app!FB could be a leak (60 %)" || v.Status != string(analysis.StatusLeak) {
		t.Errorf("%s because %s, %s", v.Gate, v.Why, v.Status)
	}
	page, _, err := l.now().ListFindings(t.Context(), store.FindingQuery{RunID: l.runs["1/soak/a"], Limit: 9})
	if err != nil || len(page) != 2 || page[0].Signature != "B" {
		t.Errorf("the gravest is not first: %v %+v", err, page)
	}
	if s := l.signature("A"); s.Worst != string(grows) || s.State != leaks.StateFound {
		t.Errorf("%+v", s)
	}
	if f := l.found("1/soak/b", "A"); f.Class != stable || f.Pooled != nil {
		t.Errorf("a clean run: %+v", f)
	}
}

// Runs before a fix and runs behind it are judged apart, whether the team names the fix or a build shows nothing of the
// leak; the team may take its word back.
func TestPoolsEndAtAFix(t *testing.T) {
	withPools(t)
	l := newLab(t)
	rest := finding{signature: "R", class: stable, callers: serve}
	builds := func(place string) string {
		if p := l.found(place, "A").Pooled; p != nil {
			return fmt.Sprint(p.Builds)
		}
		return ""
	}
	for _, place := range []string{"5", "4", "2", "1"} {
		l.run(place, leaksReport(judged(leak, 4), rest))
	}
	if got := builds("5"); got != "[1 2 4 5]" {
		t.Error(got)
	}
	l.run("3", leaksReport(rest))
	if got := builds("5"); got != "[4 5]" {
		t.Errorf("behind a build that shows nothing: %s", got)
	}
	l.change("A", leaks.TriageChange{Fixed: new("5")})
	if got := builds("5"); got != "" {
		t.Errorf("with the fix: %s", got)
	}
	l.change("A", leaks.TriageChange{Reopen: true, Version: -1})
	if got := builds("5"); got != "[4 5]" {
		t.Errorf("reopened: %s", got)
	}
}

// The runs of merged signatures are judged together, until the signatures are split.
func TestPoolsOfMergedSignatures(t *testing.T) {
	withPools(t)
	l := newLab(t)
	former := judged(leak, 4)
	former.signature, former.callers = "Former", []string{"app!Old", "app!main"} // or it was renamed
	l.run("1", leaksReport(former))
	l.run("2", leaksReport(judged(leak, 4)))
	if err := l.MergeSignature(t.Context(), "demo", "Former", "A", "ann"); err != nil {
		t.Fatal(err)
	}
	if p := l.found("2", "A").Pooled; p == nil || p.Runs != 2 {
		t.Errorf("merged: %+v", p)
	}
	if err := l.MergeSignature(t.Context(), "demo", "Former", "", "ann"); err != nil {
		t.Fatal(err)
	}
	if p := l.found("2", "A").Pooled; p != nil {
		t.Errorf("apart: %+v", p)
	}
}

// If builds change places, other runs are older, and runs are judged together anew.
func TestPoolsFollowTheOrder(t *testing.T) {
	withPools(t)
	l := newLab(t)
	l.run("b9", leaksReport(judged(leak, 4)))
	l.run("b10", leaksReport(judged(leak, 4)))
	if a, b := l.found("b9", "A").Pooled, l.found("b10", "A").Pooled; a != nil || b == nil {
		t.Errorf("%+v %+v", a, b)
	}
	addEvidence(t, l.Store, leaks.UploadTarget{Project: "demo", Build: "b9", Sequence: new(int64(1))}, "a.txt")
	if a, b := l.found("b9", "A").Pooled, l.found("b10", "A").Pooled; a == nil ||
		fmt.Sprint(a.Builds) != "[b10 b9]" || b != nil {
		t.Errorf("%+v %+v", a, b)
	}
}

// A finding that no run alone suspects may be a leak by several runs. Then it is one in every respect, and runs that
// came before are searched for its callers.
func TestPoolConvicts(t *testing.T) {
	withPools(t)
	l := newLab(t)
	l.run("2", leaksReport(judged(cache, 4)))
	l.run("3", leaksReport(finding{signature: "R", class: stable, callers: serve},
		finding{signature: "S", class: stable, callers: serve}))
	l.run("1", leaksReport(judged(cache, 4)))
	f := l.found("2", "A")
	if f.Class != leak || !f.Certain || f.Alone.Class != cache {
		t.Errorf("%+v", f)
	}
	if got, want := state(l.signature("A")), "fixed bad 2..2 clean  seen 2 fixed 3 regressed "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The evidence of findings far from a leak is not kept.
func TestEvidenceThatIsKept(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(
		finding{signature: "leak", class: leak, odds: new(-7.0)}, finding{signature: "near", class: cache, odds: new(-5.9)},
		finding{signature: "far", class: cache, odds: new(-6.0)},
		finding{signature: "none", class: grows}, finding{signature: "unasked", class: grows, odds: new(math.Inf(-1))}))
	kept := query(l, pgx.RowTo[string],
		`select s.text from findings f join signatures s on s.id = f.signature_id where f.evidence is not null order by 1`)
	if want := []string{"leak", "near"}; !reflect.DeepEqual(kept, want) {
		t.Errorf("%v, want %v", kept, want)
	}
}

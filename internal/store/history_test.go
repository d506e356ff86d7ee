package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

func TestHistoryOfOneLeak(t *testing.T) {
	l := newLab(t)
	l.run("100/soak", leaksReport(finding{signature: "A", class: stable}, finding{signature: "B", class: stable}))
	l.run("101/soak", leaksReport(finding{signature: "B", class: stable})) // does not exercise A
	l.run("102/soak", leaksReport(finding{signature: "A", class: leak, bytes: 500},
		finding{signature: "B", class: stable}))
	if got := state(l.signature("A")); got != "new bad 102..102 clean 100 seen 102 fixed  regressed " {
		t.Error(got)
	}
	l.run("103/soak", leaksReport(finding{signature: "A", class: leak, bytes: 700}))
	l.run("103/smoke", leaksReport(finding{signature: "A", class: stable}))
	if got := state(l.signature("A")); got != "new bad 102..103 clean 100 seen 103 fixed  regressed " {
		t.Error(got)
	}
	h := must[*store.History](t)(l.now().FindHistory(t.Context(), "demo", "A"))
	var lines []string
	for _, o := range h.Outcomes {
		growth := int64(0)
		if o.Growth != nil {
			growth = o.Growth.Bytes
		}
		lines = append(lines, fmt.Sprintf("%s %s %s runs=%d seen=%d exercised=%v clean=%v bad=%v %d", o.Build, o.Scenario,
			o.Class, o.Runs, o.RunsShowing, o.Exercised, o.IsClean(), o.IsBad(), growth))
	}
	want := `100 soak stable runs=1 seen=1 exercised=true clean=true bad=false 0
101 soak  runs=1 seen=0 exercised=false clean=false bad=false 0
102 soak leak runs=1 seen=1 exercised=true clean=false bad=true 500
103 smoke stable runs=1 seen=1 exercised=true clean=true bad=false 0
103 soak leak runs=1 seen=1 exercised=true clean=false bad=true 700`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(h.Builds) != 4 || h.Builds[0].Name != "100" || strings.Join(h.Scenarios, " ") != "smoke soak" {
		t.Errorf("%+v %v", h.Builds, h.Scenarios)
	}
	x := h.Explained
	if x == nil || x.RunID != l.runs["103/soak"] || len(x.Clauses) != 1 || x.Clauses[0].Text != "grew" ||
		len(x.ByKind) != 1 || x.Rate == nil || x.Rate.Bytes != 700 {
		t.Errorf("%+v", x)
	}
	a := h.Signature
	if a.Title != "malloc | app!FA" || a.Blame == nil || a.Blame.Function != "FA" ||
		strings.Join(a.Frames, " ") != "app!FA" || a.Leaf != "leaf" || a.Fine != "fine" || a.Kind != "heap" ||
		a.Latest.Class != leak || a.Latest.Growth.Bytes != 700 || !a.Latest.Certain ||
		*a.Latest.Score != 0.95 || a.Worst != "leak" {
		t.Errorf("%+v", a)
	}
	if _, err := l.now().FindHistory(t.Context(), "demo", "nobody"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

// A run that cannot tell whether there is a leak does not make a signature clean.
func TestInconclusiveIsNotClean(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(finding{signature: "A", class: leak}))
	short := leaksReport(finding{signature: "A", class: stable})
	short.Verdict.Status, short.Verdict.SnapshotsMissing = analysis.StatusInconclusive, 3
	l.run("2", short)
	if got := state(l.signature("A")); got != "found bad 1..1 clean  seen 2 fixed  regressed " {
		t.Error(got)
	}
	l.run("3", leaksReport(finding{signature: "A", class: cache}))
	if got := state(l.signature("A")); got != "fixed bad 1..1 clean  seen 3 fixed 3 regressed " {
		t.Error(got)
	}
}

func TestRegressionIsOfNewerBuildsOnly(t *testing.T) {
	l := newLab(t)
	l.run("10", leaksReport(finding{signature: "A", class: leak}))
	l.run("20", leaksReport(finding{signature: "A", class: stable}))
	l.run("15", leaksReport(finding{signature: "A", class: leak})) // measured later, and older
	if got := state(l.signature("A")); got != "fixed bad 10..15 clean  seen 20 fixed 20 regressed " {
		t.Error(got)
	}
	l.run("30", leaksReport(finding{signature: "A", class: leak}))
	if got := state(l.signature("A")); got != "regressed bad 10..30 clean  seen 30 fixed 20 regressed 30" {
		t.Error(got)
	}
	audit := must[[]store.AuditRow](t)(l.now().ListSignatureChanges(t.Context(), "demo", "A", store.AuditPage{Limit: 10}))
	if len(audit) != 2 || string(audit[0].After) != `{"state": "regressed"}` || audit[0].Actor != "" ||
		audit[0].Action != "state" {
		t.Errorf("%+v", audit)
	}
}

// A result that a new analysis replaces takes its consequences along.
func TestStateFollowsTheResults(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(finding{signature: "A", class: leak}))
	l.run("2", leaksReport(finding{signature: "A", class: leak}))
	l.run("2", leaksReport(finding{signature: "A", class: stable}))
	if got := state(l.signature("A")); got != "fixed bad 1..1 clean  seen 2 fixed 2 regressed " {
		t.Error(got)
	}
	l.run("2", leaksReport(finding{signature: "B", class: stable}))
	if got := state(l.signature("A")); got != "found bad 1..1 clean  seen 1 fixed  regressed " {
		t.Error(got)
	}
	l.run("1", leaksReport(finding{signature: "A", class: stable}))
	if got := state(l.signature("A")); got != " bad .. clean  seen 1 fixed  regressed " {
		t.Error(got)
	}
}

// A signature that no result has any more is not listed by the class that a result gave it.
func TestSignatureThatNoResultHas(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(finding{signature: "A", class: leak, bytes: 7}))
	if got := listed(l.list(store.SignatureQuery{Class: string(leak)})); got != "A" {
		t.Fatal(got)
	}
	l.run("1", leaksReport(finding{signature: "B", class: stable}))
	if got := listed(l.list(store.SignatureQuery{Class: string(leak)})); got != "" {
		t.Errorf("leaks: %s", got)
	}
	if got := l.signature("A"); got.State != "" || got.LastSeen != "" {
		t.Errorf("%+v", got)
	}
}

func TestBuildThatMovesChangesHistory(t *testing.T) {
	l := newLab(t)
	l.run("old", leaksReport(finding{signature: "A", class: leak}))
	l.run("new", leaksReport(finding{signature: "A", class: stable}, finding{signature: "B", class: stable}))
	if got := l.signature("A").State; got != leaks.StateFixed {
		t.Error(got)
	}
	// The build of the first run turns out to be the newer one.
	nine := int64(9)
	addEvidence(t, l.Store, leaks.UploadTarget{Project: "demo", Build: "old", Sequence: &nine}, "a.txt")
	if got := state(l.signature("A")); got != "new bad old..old clean new seen old fixed  regressed " {
		t.Error(got)
	}
}

// The order in which runs arrive and are analysed again does not matter for the states.
func TestOrderOfUploadsDoesNotCount(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	rng := rand.New(rand.NewPCG(3, 4))
	classes := []analysis.Class{leak, leak, grows, stable, cache, analysis.ClassUnknown, ""}
	type upload struct {
		place  string
		report *analysis.Report
	}
	shared := newLab(t)
	for round := range 2 {
		var uploads []upload
		for build := range 5 {
			for _, scenario := range []string{"soak", "smoke"} {
				var list []finding
				for _, signature := range []string{"A", "B", "C"} {
					if class := classes[rng.IntN(len(classes))]; class != "" {
						list = append(list, finding{signature: signature, class: class, bytes: rng.Int64N(1000)})
					}
				}
				r := leaksReport(list...)
				if rng.IntN(5) == 0 {
					r.Verdict.Status = analysis.StatusInconclusive
				}
				uploads = append(uploads, upload{fmt.Sprintf("%d/%s", build, scenario), r})
			}
		}
		var first string
		for try := range 3 {
			l := shared.emptied(t)
			l.run("0/other", leaksReport())
			marked := false
			for i, u := range uploads {
				if rng.IntN(3) == 0 { // at first something else is found
					l.run(u.place, leaksReport(finding{signature: "B", class: leak}, finding{signature: "D", class: grows}))
				}
				l.run(u.place, u.report)
				if !marked && i >= try && l.exists("A") { // the team's word comes at any time
					build := "0"
					l.change("A", leaks.TriageChange{Fixed: &build, Version: -1})
					marked = true
				}
			}
			var lines []string
			for _, signature := range []string{"A", "B", "C", "D"} {
				if !l.exists(signature) {
					continue
				}
				s := l.signature(signature)
				if signature == "D" && s.State == "" {
					continue // was never more than a passing thought
				}
				growth := int64(-1)
				if s.Latest.Growth != nil {
					growth = s.Latest.Growth.Bytes
				}
				lines = append(lines, signature, state(s), string(s.Latest.Class), s.Worst, fmt.Sprint(growth))
			}
			got := strings.Join(lines, "\n")
			if first == "" {
				first = got
			}
			if got != first {
				t.Fatalf("round %d, try %d:\n%s\nand first:\n%s", round, try, got, first)
			}
			rng.Shuffle(len(uploads), func(i, k int) { uploads[i], uploads[k] = uploads[k], uploads[i] })
		}
	}
}

func (l *lab) exists(signature string) bool {
	_, err := l.now().FindSignature(l.Context(), "demo", signature)
	return err == nil
}

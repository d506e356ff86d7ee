package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// seenBy is a report of a leak that kinds of evidence show, the report's own kind first.
func seenBy(signature string, class analysis.Class, kinds ...string) *analysis.Report {
	r := leaksReport(finding{signature: signature, class: class, bytes: 500})
	r.Findings[0].ByKind = nil
	for _, kind := range kinds {
		r.Findings[0].ByKind = append(r.Findings[0].ByKind, analysis.KindResult{Kind: kind, Verdict: class})
	}
	return r
}

func TestEvidenceOfALeak(t *testing.T) {
	l := newLab(t)
	l.run("99/old", seenBy("A", leak, "minidump"))
	l.run("100/old", seenBy("A", leak, "etl", "minidump"))
	silent := l.run("101/silent", leaksReport(finding{signature: "B", class: stable}))
	clean := l.run("101/clean", seenBy("A", stable, "umdh-snapshot"))
	lost := seenBy("A", leak, "umdh-snapshot", "etl")
	lost.Unreachable = []analysis.UnreachedFinding{{Signature: "B", Unreachable: analysis.Amount{Count: 9, Bytes: 9}},
		{Signature: "A", Unreachable: analysis.Amount{Count: 3, Bytes: 48}}}
	lost.Snapshots = []analysis.Snapshot{{AtNS: 5}, {AtNS: 65}}
	shown := l.run("101/soak", lost)
	l.run("102/soak", leaksReport(finding{signature: "B", class: stable}))
	l.sql(`insert into evidence (run_id, name, sha256, bytes, kind) values ($1, 'b.dmp', 'x', 1, 'minidump')`, shown)
	l.sql(`insert into evidence (run_id, name, sha256, bytes, kind, state) values ($1, 'b.etl', 'y', 1, 'etl', 'failed')`, shown) // not read yet, or not to be read

	id := l.signature("A").ID
	runs, others, err := l.now().ListLeakEvidence(t.Context(), id, shown)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range runs {
		got = append(got, fmt.Sprintf("%d %s/%s shows %v, %s of %s, without %s", r.RunID, r.Build, r.Scenario, r.Shows,
			r.Figure.Class, strings.Join(r.Kinds, " "), strings.Join(r.Unread, " ")))
	}
	want := []string{
		fmt.Sprintf("%d 101/soak shows true, leak of umdh-snapshot, without etl minidump", shown),
		fmt.Sprintf("%d 101/clean shows true, stable of umdh-snapshot, without ", clean),
		fmt.Sprintf("%d 101/silent shows false,  of umdh-snapshot, without ", silent),
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if first := runs[0]; len(first.ByKind) != 2 || first.Unreachable == nil || first.Unreachable.Count != 3 ||
		first.SpanNS != 60 || first.Figure.Rate == nil {
		t.Errorf("%+v", first)
	}
	if runs[1].Unreachable != nil || runs[2].ByKind != nil {
		t.Errorf("%+v, %+v", runs[1], runs[2])
	}
	newest := store.OtherEvidence{Kind: "minidump", Build: "100", Scenario: "old", Name: runs[0].Name}
	for _, o := range others {
		if o.RunID = 0; o.Kind == newest.Kind && o != newest {
			t.Errorf("the newest dump of other builds: %+v", o)
		}
	}
	if len(others) != 2 {
		t.Errorf("%d kinds of evidence in other builds: %+v", len(others), others)
	}
}

// What a run says of a leak is what it says by itself, also where several runs are judged together.
func TestEvidenceHasItsOwnFigures(t *testing.T) {
	l := newLab(t)
	shown := l.run("100/soak/1", seenBy("A", leak, "umdh-snapshot"))
	l.sql(`update findings set own = '{"class": "growing", "score": 0.6, "certain": false}' where run_id = $1`, shown)
	id := l.signature("A").ID
	runs, _, err := l.now().ListLeakEvidence(t.Context(), id, shown)
	if err != nil || len(runs) != 1 {
		t.Fatalf("%+v, %v", runs, err)
	}
	if f := runs[0].Figure; f.Class != grows || f.Score == nil || *f.Score != 0.6 || f.Certain {
		t.Errorf("%+v", f)
	}
	findings, _, err := l.now().ListFindings(t.Context(), store.FindingQuery{RunID: shown, Limit: 1})
	if err != nil || len(findings) != 1 {
		t.Fatalf("%+v, %v", findings, err)
	}
	if own := findings[0].ByItself(); !findings[0].Certain || own.Class != grows || *own.Score != 0.6 || own.Certain {
		t.Errorf("%+v by itself is %+v", findings[0].Figure, own)
	}
	findings[0].Alone = nil
	if own := findings[0].ByItself(); own.Class != leak || !own.Certain {
		t.Errorf("judged alone, it is %+v", own)
	}
}

// Of a build with very many runs only as many as a page needs are read, those that show the leak first.
func TestEvidenceIsBounded(t *testing.T) {
	l := newLab(t)
	shown := l.run("100/soak/1", seenBy("A", leak, "umdh-snapshot"))
	l.sql(`insert into runs (build_id, scenario_id, name, analysed_at) select build_id, scenario_id, 'x' || i, now() from runs, generate_series(1, 200) i where id = $1`, shown)
	id := l.signature("A").ID
	runs, _, err := l.now().ListLeakEvidence(t.Context(), id, shown)
	if err != nil || len(runs) != 40 ||
		!slices.ContainsFunc(runs, func(r leaks.EvidenceRun) bool { return r.RunID == shown && r.Shows }) {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

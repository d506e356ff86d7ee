package export_test

import (
	"bytes"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/export"
	"heapdrift/internal/golden"
)

// comparedReport is a report that was compared with two baselines, and whose gate is inconclusive.
func comparedReport() *analysis.Report {
	r := report()
	r.Findings[0].Change, r.Findings[0].Known = "new", ""
	r.Verdict.Status, r.Verdict.Sentence = analysis.StatusInconclusive, "The gate says why. This run alone: app.exe leaks."
	r.Compared = &analysis.Compared{
		Runs: []analysis.BaselineRun{
			{Name: "b1.json", Kind: analysis.BaselineReport, Status: analysis.StatusNoLeak, Suffices: true, Sentence: "No leak."},
			{Name: "b2/*.txt", Kind: analysis.BaselineEvidence, Status: analysis.StatusInconclusive, Sentence: "Too little."}},
		Gate: "inconclusive", Exit: 4, FailOn: []string{"new", "grown"}, Why: "the gate says why",
		Sentence: "This run against the 2 baselines: 1 new.",
		Reasons:  []analysis.GateReason{{Effect: "doubts", Code: "undecided", Signature: "sig1:1", Sentence: "app could be a new leak"}},
		Changes: []analysis.FindingChange{
			{Signature: "sig1:1", Title: r.Findings[0].Title, Change: "new", Why: "it | was stable", History: "in none of 2 baselines",
				Class: analysis.ClassGrowing, Score: new(0.5), Was: analysis.ClassStable, Doubtful: true},
			{Signature: "sig1:3", Title: r.Findings[2].Title, Change: "new", Why: "the runs together say so",
				Class: analysis.ClassLeak, Score: new(0.9), Certain: true, Fails: true},
			{Signature: "sig1:2", Title: r.Findings[1].Title, Change: "fixed", Why: "it fills up", Class: analysis.ClassCache,
				Was: analysis.ClassLeak},
			{Signature: "sig1:8", Title: "app!Gone", Change: "fixed", Why: "its caller ran", Was: analysis.ClassLeak},
			{Signature: "sig1:9", Title: "app!Idle", Change: "not-exercised", Why: "it did not run", Was: analysis.ClassLeak},
		},
		Standing:   []analysis.StandingLeak{{Signature: "sig1:7", Sentence: "app!Old: leak, unless it fills"}},
		Warnings:   []analysis.BaselineWarning{{Code: "baseline-inconclusive", Run: "b2/*.txt", Message: "it does not suffice"}},
		OwnVerdict: analysis.OwnVerdict{Status: analysis.StatusLeak, Leaks: 1, Sentence: "app.exe leaks."},
	}
	return r
}

// Every format for people and CI systems says what became of the findings since the baseline.
func TestComparedReport(t *testing.T) {
	for _, name := range []string{"text", "markdown", "junit", "sarif", "json"} {
		f, err := export.FindFormat(name)
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, "testdata/compared"+f.Extension, writeReport(t, name, comparedReport(), export.Options{}))
	}
	top := writeReport(t, "text", comparedReport(), export.Options{Top: 1})
	if !strings.Contains(top, "\n4 more changes; show all with --top 0 or --format json.\n") || strings.Contains(top, "app!Gone") {
		t.Errorf("with one change shown:\n%s", top)
	}
	if top := writeReport(t, "markdown", comparedReport(), export.Options{Top: 4}); !strings.Contains(top, "\n1 more change.\n") {
		t.Errorf("with four changes shown:\n%s", top)
	}
}

// What a later comparison needs of a report is in its JSON.
func TestComparedReportReadsBack(t *testing.T) {
	text := writeReport(t, "json", comparedReport(), export.Options{})
	r, err := analysis.ReadJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if again := writeReport(t, "json", r, export.Options{}); again != text {
		t.Errorf("got\n%s\nwant\n%s", again, text)
	}
	if alone := r.OwnVerdict(); alone != comparedReport().Compared.OwnVerdict {
		t.Errorf("%+v", alone)
	}
	if bytes.Contains([]byte(writeReport(t, "json", report(), export.Options{})), []byte(`"baseline"`)) {
		t.Error("a report without a baseline has the field")
	}
}

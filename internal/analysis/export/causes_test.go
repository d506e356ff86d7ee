package export_test

import (
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/export"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/golden"
)

// causedReport is a report with a cause of two findings, between them one that stands alone.
func causedReport() *analysis.Report {
	r := report()
	leak, alone := r.Findings[0], r.Findings[1]
	other := leak
	other.Signature, other.Title, other.Score, other.Rate, other.ByKind = "sig1:4", "app!Session::Name", new(0.004), nil, nil
	leak.CauseNumber, other.CauseNumber = 1, 1
	r.Findings = []analysis.Finding{leak, alone, other, r.Findings[2]}
	r.Causes = []analysis.LostTogether{{
		Number: 1, Title: "lost objects of app!Session::Open", Ratio: "1 : 5", Objects: 19, Verdict: analysis.ClassLeak,
		Amounts: analysis.Amounts{Outstanding: analysis.Amount{Count: 200, Bytes: 2000000},
			Growth: &analysis.Amount{Count: 190, Bytes: 1996000}},
		Rate: &analysis.LostTogetherRate{Unit: "hour", Count: 11400, Bytes: 119760000},
		Members: []analysis.LostTogetherPart{{Signature: "sig1:1", Title: leak.Title, Blocks: 1, BytesPerBlock: 10000, Type: "Session"},
			{Signature: "sig1:4", Title: other.Title, Blocks: 5, BytesPerBlock: 24}},
	}}
	return r
}

// Findings of one cause stand together where the first of them is, and the cause says what they are parts of.
func TestCauses(t *testing.T) {
	for _, name := range []string{"text", "markdown"} {
		f, err := export.FindFormat(name)
		if err != nil {
			t.Fatal(err)
		}
		golden.Check(t, "testdata/causes"+f.Extension, writeReport(t, name, causedReport(), export.Options{}))
	}
}

// The findings of a cause count as one of those shown; where there is no room for it, none of them is.
func TestTopOfCauses(t *testing.T) {
	for _, top := range []int{0, 1, 2} {
		text := writeReport(t, "text", causedReport(), export.Options{Top: top})
		if got := strings.Count(text, "sig1:1") == 1 && strings.Count(text, "sig1:4") == 1; !got {
			t.Errorf("top %d: not both of the cause are there:\n%s", top, text)
		}
		if alone := strings.Contains(text, "sig1:2"); alone != (top != 1) {
			t.Errorf("top %d: the finding alone is there: %t", top, alone)
		}
		findings, _, _ := strings.Cut(text, "\n#1 ") // the table of sites counts what it leaves out in the same words
		if left := strings.Contains(findings, "1 more site;"); left != (top == 1) {
			t.Errorf("top %d: %s", top, text)
		}
	}
	r := causedReport()
	r.Findings[0], r.Findings[1] = r.Findings[1], r.Findings[0]
	text := writeReport(t, "text", r, export.Options{Top: 1})
	if strings.Contains(text, "sig1:1") || strings.Contains(text, "sig1:4") || !strings.Contains(text, "4 more sites;") {
		t.Errorf("a cause that has no room is there, or its 2 findings do not count with 2 sites each:\n%s", text)
	}
}

// Only what is there is written: a cause without growth or rate, and classes with a score from half a percent on.
func TestPartsOfFindings(t *testing.T) {
	r := causedReport()
	r.Causes[0].Growth, r.Causes[0].Rate = nil, nil
	text, markdown := writeReport(t, "text", r, export.Options{}), writeReport(t, "markdown", r, export.Options{})
	if !strings.Contains(text, "stacks hold 1.91 MB in 200 blocks\n") || !strings.Contains(markdown, " | – | – | |\n") {
		t.Errorf("%s\n%s", text, markdown)
	}
	for s, want := range map[float64]string{0.0049: "\n    leak  ", 0.005: "\n    leak 0.01  "} {
		r := causedReport()
		r.Findings[0].Score, r.Findings[2].Score = new(s), new(s)
		if text := writeReport(t, "text", r, export.Options{}); strings.Count(text, want) != 2 {
			t.Errorf("a score of %g is not %q in\n%s", s, want, text)
		}
	}
}

// Every note of a finding stands on its line.
func TestNotesOfFindings(t *testing.T) {
	r := report()
	f := &r.Findings[0]
	f.Change, f.Owner, f.Known, f.Group, f.Provisional = "new since b1", "team_a", "a cache", "maps", true
	f.Clauses = []score.Clause{{Text: "one holds", Holds: new(true)}, {Text: "one does not", Holds: new(false)}, {Text: "one may"}}
	f.ByKind = nil
	text := writeReport(t, "text", r, export.Options{Top: 1})
	for _, line := range []string{"new since b1", "owner team_a", "known: a cache", "group maps",
		"provisional: symbols will give it another signature", "✓ one holds", "✗ one does not", "? one may"} {
		if !strings.Contains(text, "\n    "+line+"\n") {
			t.Errorf("%q is not in\n%s", line, text)
		}
	}
	f.Clauses = nil
	if markdown := writeReport(t, "markdown", r, export.Options{}); strings.Contains(markdown, "<details>") {
		t.Errorf("reasons of nothing:\n%s", markdown)
	}
}

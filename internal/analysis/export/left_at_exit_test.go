package export_test

import (
	"encoding/json"
	"encoding/xml"
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/export"
)

// atExit is a report of lists at exit: a leak, one that something may still point to, and one that is known.
func atExit() *analysis.Report {
	found := func(signature, function, known string, left analysis.LeftAtExit, certain bool) analysis.Finding {
		return analysis.Finding{Signature: signature, Title: "app!" + function, Verdict: analysis.ClassLeftAtExit, Certain: certain,
			Known: known, LeftAtExit: &left, Blame: &analysis.Blame{Module: "app", Function: function, File: "src/" + function + ".cpp", Line: 7}}
	}
	return &analysis.Report{Process: analysis.Process{Name: "app.exe"},
		Verdict: analysis.EvidenceVerdict{Status: analysis.StatusLeak, Sentence: "app.exe left 24 B in 1 block at exit, never freed."},
		Findings: []analysis.Finding{
			found("sig1:lost", "Put", "", analysis.LeftAtExit{Unsearched: analysis.Amount{Count: 2, Bytes: 2048}, Tests: []string{"Cache.Evicts"}}, true),
			found("sig1:possible", "Push", "", analysis.LeftAtExit{Possible: analysis.Amount{Count: 1, Bytes: 8}}, false),
			found("sig1:known", "Pool", "statics", analysis.LeftAtExit{Unreferenced: analysis.Amount{Count: 3, Bytes: 300}}, true),
		}}
}

// A leak at exit says what was left, where leaks that grow say by how much.
func TestLeftAtExitInSARIF(t *testing.T) {
	t.Parallel()
	var log struct {
		Runs []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID       string
				RuleIndex    int
				Level        string
				Message      struct{ Text string }
				Suppressions []struct{ Justification string }
				Fingerprints map[string]string `json:"partialFingerprints"`
			}
		}
	}
	if err := json.Unmarshal([]byte(writeReport(t, "sarif", atExit(), export.Options{})), &log); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range log.Runs[0].Results {
		if log.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("rule %s at %d", r.RuleID, r.RuleIndex)
		}
		signature := r.Fingerprints["leakSignature/v1"]
		want, ok := map[string][3]string{
			"sig1:lost":     {"LEAK001", "error", "left-at-exit, 2.00 KB in 2 blocks at exit"},
			"sig1:possible": {"LEAK003", "warning", "left-at-exit, 8 B in 1 block at exit"},
			"sig1:known":    {"LEAK001", "note", "left-at-exit, 300 B in 3 blocks at exit, known: statics"},
		}[signature]
		if !ok || r.RuleID != want[0] || r.Level != want[1] || !strings.Contains(r.Message.Text, want[2]) ||
			(len(r.Suppressions) == 1) != (signature == "sig1:known") {
			t.Errorf("%+v, want %v", r, want)
		}
		seen[signature] = true
	}
	if len(seen) != 3 {
		t.Errorf("%v", seen)
	}
}

func TestLeftAtExitInJUnit(t *testing.T) {
	t.Parallel()
	type testCase struct {
		Name    string `xml:"name,attr"`
		Failure *struct {
			Message string `xml:"message,attr"`
			Text    string `xml:",chardata"`
		} `xml:"failure"`
		Skipped *struct {
			Message string `xml:"message,attr"`
		} `xml:"skipped"`
	}
	var suites struct {
		Cases []testCase `xml:"testsuite>testcase"`
	}
	text := writeReport(t, "junit", atExit(), export.Options{})
	if err := xml.Unmarshal([]byte(text), &suites); err != nil {
		t.Fatal(err)
	}
	of := func(name string) *testCase {
		i := slices.IndexFunc(suites.Cases, func(c testCase) bool { return strings.Contains(c.Name, name) })
		if i < 0 {
			t.Fatalf("no case %s in\n%s", name, text)
		}
		return &suites.Cases[i]
	}
	if c := of("app!Put"); c.Failure == nil || !strings.Contains(c.Failure.Message, "app!Put: left-at-exit, 2.00 KB in 2 blocks at exit") ||
		!strings.Contains(c.Failure.Text, "src/Put.cpp:7") {
		t.Errorf("%+v", c.Failure)
	}
	if c := of("app!Push"); c.Failure != nil || c.Skipped == nil { // something may have pointed to it
		t.Errorf("%+v", c)
	}
	if c := of("app!Pool"); c.Failure != nil || c.Skipped == nil || !strings.Contains(c.Skipped.Message, "300 B in 3 blocks at exit, known: statics") {
		t.Errorf("%+v", c)
	}
}

package store_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// sayTests are the rows of a page.
func sayTests(page *store.RunTestPage) string {
	var said []string
	for i := range page.Rows {
		t := &page.Rows[i]
		said = append(said, fmt.Sprintf("%s %s %d/%d/%d %v", t.Test, t.State(), t.Leaks, t.New, t.Known, t.Strip))
	}
	return strings.Join(said, "; ")
}

// The tests of a run stand by the states of their leaks, and have a history over the builds of the branch.
func TestTestsOfARun(t *testing.T) {
	l := newLab(t)
	// lists are those of tests: each of the words names a test and its leaks.
	lists := func(words ...string) *analysis.Report {
		var tests []string
		left := map[string][]string{} // tests by leak
		r := listOf("crt-leaks", []string{"Z"})
		for _, word := range words {
			test, signatures, _ := strings.Cut(word, ":")
			tests = append(tests, test)
			for _, s := range strings.Split(signatures, "") {
				left[s] = append(left[s], test)
			}
			r.ExitTests = append(r.ExitTests, analysis.ExitTest{Test: test, Leaks: len(signatures), Certain: len(signatures),
				Lost: analysis.Amount{Count: int64(len(signatures)), Bytes: int64(8 * len(signatures))}, Whole: true})
		}
		all := listOf("crt-leaks", tests, strings.Split("ABN", "")...)
		r.ExitLists = all.ExitLists
		for i := range all.Findings {
			if f := &all.Findings[i]; left[f.Signature] != nil {
				f.LeftAtExit.Tests = left[f.Signature]
				r.Findings = append(r.Findings, *f)
			}
		}
		r.Sites, r.Stacks = all.Sites, all.Stacks
		return r
	}
	l.run("1", lists("T:AB", "U:A", "V:"))
	picks := []store.PickedSignature{{Signature: "A", Version: -1}}
	if err := l.UpdateTriages(t.Context(), "demo", picks, leaks.TriageChange{Actor: "ci", Known: &leaks.Toleration{Reason: "old"}}); err != nil {
		t.Fatal(err)
	}
	l.run("2", lists("T:AB", "U:A", "V:N", "W:"))
	l.run("2/other", lists("V:A"))
	page := must[*store.RunTestPage](t)(l.now().ListRunTests(t.Context(), store.RunTestQuery{RunID: l.runs["2"], Limit: 9, Strip: 9}))
	const want = "V new 1/1/0 [clean new]; T open 2/0/1 [open open]; U known 1/0/1 [known known]; W clean 0/0/0 [ clean]"
	if got := sayTests(page); got != want || page.Total != 4 || fmt.Sprint(page.Builds) != "[1 2]" || page.Counts[leaks.TestOpen] != 1 {
		t.Errorf("%s\nwant %s; %+v", got, want, page)
	}
	for want, query := range map[string]store.RunTestQuery{
		"U known 1/0/1 []": {State: leaks.TestKnown, Limit: 9}, "T open 2/0/1 []": {Text: "t", Limit: 9},
		"T open 2/0/1 [] U": {Limit: 1, Offset: 1}, "": {Offset: 7, Limit: 9},
	} {
		query.RunID = l.runs["2"]
		page := must[*store.RunTestPage](t)(l.now().ListRunTests(t.Context(), query))
		if got := sayTests(page); got != strings.TrimSuffix(want, " U") {
			t.Errorf("%+v: %s, want %s", query, got, want)
		}
	}
	for test, want := range map[string]string{"T": "A B", "V": "A N", "X": ""} {
		var got []string
		for _, s := range l.list(store.SignatureQuery{Test: test, Class: leaks.AllClasses}).Rows {
			got = append(got, s.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("leaks of %s: %v, want %s", test, got, want)
		}
	}
	// A test is not known while an open leak names it, whatever the number of its leaks.
	fewer := lists("T:AB", "U:A")
	fewer.ExitTests[0].Leaks = 1
	l.run("3", fewer)
	page = must[*store.RunTestPage](t)(l.now().ListRunTests(t.Context(), store.RunTestQuery{RunID: l.runs["3"], Limit: 9}))
	if got := sayTests(page); got != "T open 1/0/1 []; U known 1/0/1 []" {
		t.Errorf("fewer leaks than findings: %s", got)
	}
	// A new result replaces the tests.
	l.run("2", lists("W:"))
	page = must[*store.RunTestPage](t)(l.now().ListRunTests(t.Context(), store.RunTestQuery{RunID: l.runs["2"], Limit: 9}))
	if got := sayTests(page); got != "W clean 0/0/0 []" {
		t.Errorf("analysed again: %s", got)
	}
}

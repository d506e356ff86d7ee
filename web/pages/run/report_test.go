package run

import (
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
)

// The sentence of a verdict has in bold what matters most: who leaks how much, of a trace that decides nothing what is
// left of all that was allocated.
func TestSentenceStressesWhatMatters(t *testing.T) {
	const leaking = "app.exe leaks 2.69 MB in 11,580 blocks from 2 sites; the most, 2.12 MB in 5,790 blocks, from app!Cache::Insert (cache.cpp:14), 127 MB per hour."
	for name, test := range map[string]struct {
		trace  bool
		status analysis.VerdictStatus
		text   string
		want   string
	}{
		"leaks, snapshots": {false, analysis.StatusLeak, leaking,
			"*app.exe leaks 2.69 MB in 11,580 blocks from 2 sites*; the most, 2.12 MB in 5,790 blocks, from `app!Cache::Insert` (cache.cpp:14), 127 MB per hour."},
		"leaks, trace": {true, analysis.StatusLeak, leaking,
			"*app.exe leaks 2.69 MB in 11,580 blocks from 2 sites*; the most, 2.12 MB in 5,790 blocks, from `app!Cache::Insert` (cache.cpp:14), 127 MB per hour."},
		"trace without a leak": {true, analysis.StatusNoLeak,
			"app.exe allocated 30 MB in 400 blocks over 61 s; at the end 25.2 MB more was held than at the start, the most, 24 MB in 12 blocks, from app!Cache::Insert; no leak found.",
			"app.exe allocated 30 MB in 400 blocks over 61 s; *at the end 25.2 MB more was held than at the start*, the most, 24 MB in 12 blocks, from `app!Cache::Insert`; no leak found."},
		"undecided trace": {true, analysis.StatusInconclusive,
			"app.exe allocated 30 MB in 400 blocks over 61 s; no site keeps growing; the evidence does not suffice (events-lost).",
			"app.exe allocated 30 MB in 400 blocks over 61 s; *no site keeps growing*; the evidence does not suffice (events-lost)."},
		"one clause": {true, analysis.StatusLeak, "app.exe leaks 64 B in 1 block from app!main.", "*app.exe leaks 64 B in 1 block from app!main.*"},
	} {
		r := &reportView{Report: &analysis.Report{Verdict: analysis.EvidenceVerdict{Status: test.status, Sentence: test.text}},
			suspects: []store.Finding{{FindingIdentity: store.FindingIdentity{
				Blame: &analysis.Blame{Module: "app", Function: "Cache::Insert"}}}}}
		if test.trace {
			r.Trace = &analysis.Trace{}
		}
		got := ""
		for _, p := range r.sentence() {
			mark := map[string]string{"strong": "*", "code": "`"}[p.style]
			got += mark + p.text + mark
		}
		if got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, test.want)
		}
	}
}

package analysis_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// What a sample shows is judged by the blocks that were recorded: counts of thousands may stand for two or three.
func TestSampled(t *testing.T) {
	const rate = 512 << 10
	series := func(sampling int64, recorded ...int64) []*capture.Capture {
		list := make([]*capture.Capture, len(recorded))
		for i, n := range recorded {
			list[i] = app.snapshot(row{id: 1, stack: app.in(0x20), count: 8192 * n, bytes: 8192 * 64 * n})
			list[i].Sampling = sampling
		}
		return list
	}
	for name, test := range map[string]struct {
		captures []*capture.Capture
		text     string
		codes    string
	}{
		"all blocks": {series(0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3), "From 8,192 to 24,576 blocks", ""},
		"a sample":   {series(rate, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3), "From 1 to 3 recorded blocks", "sampled"},
	} {
		r := analyze(t, inputs(test.captures...))
		if len(r.Findings) != 1 || codes(r) != test.codes || !strings.Contains(fmt.Sprint(r.Findings[0].Clauses), test.text) {
			t.Errorf("%s: %q, %+v", name, codes(r), r.Findings)
			continue
		}
		f := &r.Findings[0]
		if f.Growth.Count != 16384 || f.Verdict != "growing" && f.Verdict != "one-time" {
			t.Errorf("%s: %s by %+v", name, f.Verdict, f.Growth)
		}
		if test.codes != "" && (r.Warnings[0].Count != 3 || !strings.Contains(r.Warnings[0].Message, "512 KB") ||
			!strings.Contains(r.Warnings[0].Message, "2.66 MB")) {
			t.Errorf("%s: %+v", name, r.Warnings)
		}
	}
}

// A sampled list of what was left at exit shows leaks, and is no proof that there are none.
func TestSampledAtExit(t *testing.T) {
	lost := leftSite{"Cache::Add", capture.ReachUnsearched, 8192, 8192 * 64}
	held := leftSite{"Init", capture.ReachHeld, 8192, 8192 * 64}
	sampled := func(sites ...leftSite) *capture.Capture {
		c := leftAtExit("jemalloc-heap", "app", "", sites...)
		c.Sampling = 512 << 10
		return c
	}
	vld := leftAtExit("vld", "app.exe", "")
	for name, test := range map[string]struct {
		lists    []*capture.Capture
		status   analysis.VerdictStatus
		suffices bool
		tools    string
		sentence string
	}{
		"all blocks":          {[]*capture.Capture{leftAtExit("jemalloc-heap", "app", "")}, analysis.StatusNoLeak, true, "jemalloc-heap", "left no block"},
		"nothing":             {[]*capture.Capture{sampled()}, analysis.StatusInconclusive, false, "", "is a sample"},
		"still in use":        {[]*capture.Capture{sampled(held)}, analysis.StatusInconclusive, false, "", "is a sample"},
		"a leak":              {[]*capture.Capture{sampled(lost)}, analysis.StatusLeak, false, "", "app left 512 KB in 8,192 blocks"},
		"beside a whole list": {[]*capture.Capture{sampled(), vld}, analysis.StatusInconclusive, false, "vld", "is a sample"},
	} {
		r := analyze(t, []analysis.Input{{Files: []analysis.File{{Name: "a"}}, Captures: test.lists}})
		var tools []string
		for _, l := range r.ExitLists {
			tools = append(tools, l.Tool)
		}
		if r.Verdict.Status != test.status || r.Suffices() != test.suffices || strings.Join(tools, " ") != test.tools ||
			r.ListsExit != (test.tools != "") || !strings.Contains(r.Verdict.Sentence, test.sentence) {
			t.Errorf("%s: %s, suffices %t, lists of %q: %s", name, r.Verdict.Status, r.Suffices(), tools, r.Verdict.Sentence)
		}
	}
}

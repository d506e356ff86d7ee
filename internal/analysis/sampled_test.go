package analysis_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
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

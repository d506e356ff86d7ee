package run

import (
	"testing"

	"heapdrift/internal/analysis"
)

func TestFreeSide(t *testing.T) {
	n := func(count int64) analysis.Amount { return analysis.Amount{Count: count} }
	for _, test := range []struct {
		lives *analysis.Lifetimes
		want  string
	}{
		{nil, "Record a trace to see how many of these blocks are freed, and at what age: snapshots record no frees."},
		{&analysis.Lifetimes{}, "No block of this site was allocated or freed in the trace."},
		{&analysis.Lifetimes{AIFI: n(1)}, "The block in the trace was freed."},
		{&analysis.Lifetimes{UnknownFrees: 1}, "The trace has only frees of this stack, of blocks allocated before the trace."},
		{&analysis.Lifetimes{AIFO: n(1)}, "The block in the trace was not freed."},
		{&analysis.Lifetimes{AIFO: n(5000), AOFO: n(790)}, "None of the 5,790 blocks in the trace was freed."},
		{&analysis.Lifetimes{AIFI: n(7), AtExit: n(7)}, "None of the 7 blocks in the trace was freed."},
		{&analysis.Lifetimes{AIFI: n(319)}, "Each of the 319 blocks in the trace was freed."},
		{&analysis.Lifetimes{AIFI: n(10), AIFO: n(2), AOFI: n(3), AtExit: n(4)},
			"9 of the 15 blocks in the trace were freed. The freeing stacks are not recorded."},
	} {
		if got := freeSide(test.lives, "block"); got != test.want {
			t.Errorf("%+v: %s", test.lives, got)
		}
	}
}

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
		{nil, "Snapshots record no frees: a trace says how many of these blocks are freed, and at which age."},
		{&analysis.Lifetimes{}, "The trace saw none of it allocated or freed."},
		{&analysis.Lifetimes{AIFI: n(1)}, "The one that the trace saw was freed."},
		{&analysis.Lifetimes{UnknownFrees: 1}, "The trace has frees of this stack only, of what was allocated before it."},
		{&analysis.Lifetimes{AIFO: n(1)}, "The one that the trace saw was not freed."},
		{&analysis.Lifetimes{AIFO: n(5000), AOFO: n(790)}, "None of the 5,790 blocks that the trace saw was freed."},
		{&analysis.Lifetimes{AIFI: n(7), AtExit: n(7)}, "None of the 7 blocks that the trace saw was freed."},
		{&analysis.Lifetimes{AIFI: n(319)}, "Each of the 319 blocks that the trace saw was freed."},
		{&analysis.Lifetimes{AIFI: n(10), AIFO: n(2), AOFI: n(3), AtExit: n(4)},
			"9 of the 15 blocks that the trace saw were freed. The stacks that freed them are not kept."},
	} {
		if got := freeSide(test.lives, "block"); got != test.want {
			t.Errorf("%+v: %s", test.lives, got)
		}
	}
}

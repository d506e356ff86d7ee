package analysis_test

import (
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// sized is blocks of one size in the heap of heapOf.
func sized(size, count int64, percent float64) capture.BlockGroup {
	return capture.BlockGroup{By: capture.BySize, Heap: 0x1000, Size: size,
		Usage: capture.Usage{Count: count, Bytes: size * count}, Percent: percent}
}

// bare is a heap as !heap -s counts it, without its busy blocks.
func bare(committed, virtualBlocks int64) []capture.HeapFacts {
	return []capture.HeapFacts{{Handle: 0x1000, Kind: "NT heap", Reserved: 1 << 20, Committed: committed,
		Blocks: capture.Usage{Count: virtualBlocks}}}
}

func TestHeadlines(t *testing.T) {
	leaked := capture.Sample{Title: "VERIFIER STOP 900", Address: 0x20, Note: "a heap allocation was leaked", Leaked: true}
	doubtful := sized(1<<40, 4, 99.9)
	doubtful.Doubtful = true
	for _, test := range []struct {
		name string
		in   []capture.Memory
		want string // "" for none of what the others say
	}{
		{"one size", []capture.Memory{{Groups: []capture.BlockGroup{sized(8036, 30406, 94.45)}}},
			"The process: blocks of 8,036 B hold 94 % of the busy bytes of heap 0x1000 (233 MB in 30,406 blocks); to detect leaks, take a full dump"},
		{"nearly all", []capture.Memory{{Groups: []capture.BlockGroup{sized(8036, 30406, 99.99)}, Heaps: bare(1<<30, 0)}},
			"hold 99.99 % of the busy bytes of heap 0x1000 (233 MB in 30,406 blocks, 1.00 GB committed);"},
		{"half", []capture.Memory{{Groups: []capture.BlockGroup{sized(100, 1, 50)}}}, "blocks of 100 B hold 50 % of"},
		{"just below", []capture.Memory{{Groups: []capture.BlockGroup{sized(100, 1, 49.99)}}}, ""},
		{"counted against the heap", []capture.Memory{{Groups: []capture.BlockGroup{sized(100, 30, 0)}, Heaps: bare(4096, 0)}},
			"blocks of 100 B hold 73 % of the committed bytes of heap 0x1000"},
		{"blocks outside of what is committed",
			[]capture.Memory{{Groups: []capture.BlockGroup{sized(100, 30, 0)}, Heaps: bare(4096, 3)}}, ""},
		{"what cannot be", []capture.Memory{{Groups: []capture.BlockGroup{doubtful}}}, ""},
		{"virtual blocks", []capture.Memory{{Heaps: bare(73728, 11)}, {Heaps: bare(73728, 43)}},
			"heap 0x1000 grew from the first snapshot to the last: committed 0 B, virtual blocks +32 (11 to 43);"},
		{"committed", []capture.Memory{{Heaps: bare(4096, 0)}, {Heaps: bare(12288, 0)}},
			"heap 0x1000 grew from the first snapshot to the last: committed +8.00 KB;"},
		{"listed sizes", []capture.Memory{{Heaps: bare(4096, 0), Groups: []capture.BlockGroup{sized(16, 10, 20)}},
			{Heaps: bare(4096, 0), Groups: []capture.BlockGroup{sized(16, 20, 20)}}}, "committed 0 B, listed sizes +160 B;"},
		{"sizes without heaps", []capture.Memory{{Groups: []capture.BlockGroup{sized(16, 10, 20)}},
			{Groups: []capture.BlockGroup{sized(16, 20, 20)}}}, "blocks of 16 B in 0x1000 grew by 160 B in 10 blocks"},
		{"nothing grew", []capture.Memory{{Heaps: bare(4096, 2)}, {Heaps: bare(4096, 2)}},
			"no heap grew from the first snapshot to the last"},
		{"leaks of Application Verifier",
			[]capture.Memory{{Samples: []capture.Sample{leaked, leaked, {Title: "other", Address: 0x30}}}},
			"Application Verifier reports 1 leak;"},
	} {
		var list []*capture.Capture
		for _, m := range test.in {
			list = append(list, facts(m))
		}
		v := analyze(t, inputs(list...)).Verdict
		found := strings.Contains(v.Sentence, test.want)
		if test.want == "" {
			found = strings.Contains(v.Sentence, "lists no allocations")
		}
		if !found || v.Status != analysis.StatusInconclusive {
			t.Errorf("%s: %s %q, want %q", test.name, v.Status, v.Sentence, test.want)
		}
	}
}

// An amount that was not counted is not zero, and a log that names no process may be of any.
func TestUnknownIsNotZero(t *testing.T) {
	one, two := facts(capture.Memory{Heaps: bare(4096, 11)}), facts(capture.Memory{Heaps: bare(4096, 43)})
	two.Process.PID = 7
	g := analyze(t, inputs(one, two)).Memory[1].Heaps[0].Growth
	if g == nil || g.Busy != nil || g.Sizes != nil || g.Blocks == nil || *g.Blocks != (capture.Usage{Count: 32}) {
		t.Errorf("%+v", g)
	}
	counted := facts(capture.Memory{Heaps: heapOf(4096, 1600)})
	if g := analyze(t, inputs(one, counted)).Memory[1].Heaps[0].Growth; g.Busy != nil {
		t.Errorf("grew by %+v since nobody counted", g.Busy)
	}
}

// Reported leaks with one title and one stack are one row; each leak without a stack is a row of its own.
func TestReportedLeaks(t *testing.T) {
	c := facts(capture.Memory{})
	stack := c.Stacks.AddStack([]capture.FrameID{c.Stacks.AddText(capture.FrameText{Module: "plugin",
		Function: "Load", Offset: 0x10}, 0)})
	c.Memory.Samples = []capture.Sample{
		{Title: "VERIFIER STOP 900", Address: 0x10, Size: 100, Stack: stack, Leaked: true},
		{Title: "VERIFIER STOP 900", Address: 0x20, Size: 50, Stack: stack, Leaked: true},
		{Title: "VERIFIER STOP 900", Address: 0x30, Leaked: true}, {Title: "VERIFIER STOP 901", Leaked: true},
		{Title: "!heap -l", Address: 0x40, Unreachable: true},
	}
	r := analyze(t, inputs(c))
	if len(r.Reported) != 3 || r.Reported[0].Amount != (analysis.Amount{Count: 2, Bytes: 150}) ||
		r.Reported[0].Where != "plugin!Load" || strings.Join(r.Reported[0].Addresses, " ") != "0x10 0x20" {
		t.Errorf("%+v", r.Reported)
	}
	if !strings.Contains(r.Verdict.Sentence, "Application Verifier reports 4 leaks of 150 B, 2 from plugin!Load") {
		t.Error(r.Verdict.Sentence)
	}
}

package export_test

import (
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/export"
)

// Formats for people show leaks that Application Verifier reports, and facts of a heap.
func TestReportedLeaksAndHeaps(t *testing.T) {
	r := &analysis.Report{
		Verdict: analysis.EvidenceVerdict{Status: analysis.StatusInconclusive,
			Sentence: "The process: Application Verifier reports 12 leaks."},
		Snapshots: []analysis.Snapshot{{File: "a.log"}},
		Reported: []analysis.ReportedLeaks{
			{Title: "VERIFIER STOP 900", Where: "plugin!Load<int>", Amount: analysis.Amount{Count: 11, Bytes: 2048},
				Addresses: []string{"0x10", "0x20"}, Note: "A heap allocation was leaked."},
			{Title: "VERIFIER STOP 901", Amount: analysis.Amount{Count: 1}, Note: "A handle | was leaked."},
		},
		Memory: []analysis.Memory{{File: "a.log", Memory: capture.Memory{
			Source: "WinDbg !heap -s",
			Heaps: []capture.HeapFacts{
				{Handle: 0x1000, Kind: "NT heap", Committed: 4096, Blocks: capture.Usage{Count: 43},
					Growth: &capture.HeapGrowth{Blocks: &capture.Usage{Count: 32}}},
				{Handle: 0x2000, Kind: "NT heap", Committed: 4096, Blocks: capture.Usage{Count: 2, Bytes: 2048}, Doubtful: true},
			},
			Groups: []capture.BlockGroup{{By: capture.BySize, Heap: 0x1000, Size: 16, Usage: capture.Usage{Count: 2, Bytes: 32},
				Percent: 94.45}},
		}}},
	}
	r.Reported[0].Stack = r.AddStack(&analysis.Frame{Module: "plugin", Function: "Load<int>", Offset: "0x10"})
	for format, want := range map[string][]string{
		"text": {
			"leaks that Application Verifier reports\n    VERIFIER STOP 900, from plugin!Load<int>, 2.00 KB, 11 times, at 0x10, 0x20 and others\n        A heap allocation was leaked.\n        plugin!Load<int>+0x10\n    VERIFIER STOP 901\n",
			"since the first: committed 0 B, virtual blocks +32 (11 to 43)\n",
			"2 virtual blocks of 2.00 KB  (a size that cannot be)", "94.45 % of the heap",
			"snapshot 1 a.log  unknown             lists no allocations\n",
		},
		"markdown": {"| VERIFIER STOP 900: A heap allocation was leaked. | `plugin!Load<int>` | 0x10, 0x20 | 2.00 KB | 11 |",
			`A handle \| was leaked.`},
	} {
		got := writeReport(t, format, r, export.Options{Top: 20})
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%s: no %q in\n%s", format, text, got)
			}
		}
	}
	if got := writeReport(t, "text", r, export.Options{Top: 1}); !strings.Contains(got, "1 more reported leak; --top 0") {
		t.Errorf("what is left out is not counted:\n%s", got)
	}
}

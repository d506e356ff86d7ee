package export_test

import (
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/export"
	"heapdrift/internal/analysis/footprint"
)

func TestMemoryOverTimeAsText(t *testing.T) {
	size := func(n int64) *int64 { return &n }
	r := &analysis.Report{Snapshots: []analysis.Snapshot{{}},
		MemoryHistory: &footprint.MemoryHistory{Measure: footprint.MeasurePrivate, Timed: true, Instants: []footprint.Instant{
			{File: "a.dmp", TakenAt: "2026-03-06T12:00:00", Total: size(100 << 20), Unexplained: size(20 << 20)},
			{File: "b.log", Blocks: size(5 << 20), OtherLife: true},
			{File: "c.dmp", TakenAt: "2026-03-06T13:00:00", AtNS: 3600e9, Total: size(160 << 20), Unexplained: size(30 << 20)},
		}, Outlooks: []footprint.Outlook{{Resource: footprint.ResourceCommit, Why: "the evidence does not show its limit",
			BytesPerHour: 60 << 20}}}}
	text := writeReport(t, "text", r, export.Options{})
	for _, want := range []string{"memory over time, private bytes",
		"2026-03-06T12:00:00     100 MB     20.0 MB          –  a.dmp",
		"–                            –           –    5.00 MB  b.log, another process",
		"Private bytes by the system's count grew by 60.0 MB over 60 minutes: unexplained +10.0 MB.", "Unexplained: 30.0 MB of 160 MB",
		"No forecast for the commit of the machine: the evidence does not show its limit. Growth: 60.0 MB per hour"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
}

// The text says how much address space a 32-bit program may use, and how much is free inside heaps.
func TestHeapFreeAsText(t *testing.T) {
	r := &analysis.Report{Snapshots: []analysis.Snapshot{{}},
		Memory: []analysis.Memory{{File: "a.dmp", Memory: capture.Memory{
			Space: &capture.Space{Bits: 32, Limit: 2 << 30,
				Uses: []capture.UseTotal{{Name: capture.UseHeap, Reserved: 300 << 20, Committed: 100 << 20}}},
			Heaps: []capture.HeapFacts{{Handle: 0x1000, Kind: "NT heap", Committed: 100 << 20, Walked: 1,
				Free: capture.Usage{Count: 1, Bytes: 25 << 20}, LargestFree: 1 << 20}},
		}}}}
	text := writeReport(t, "text", r, export.Options{})
	for _, want := range []string{"the 32-bit program may use 2.00 GB of address space; 300 MB are taken",
		"1 heap commits 100 MB; 25.0 MB of that are free (25.0 %). Largest free block: 1.00 MB."} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
}

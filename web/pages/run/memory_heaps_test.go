package run

import (
	"testing"

	"heapdrift/ingest/capture"
)

// Logs name heaps without their kind.
func TestNoteOfAHeap(t *testing.T) {
	for want, h := range map[string]capture.HeapFacts{
		"":                            {},
		"NT heap":                     {Kind: "NT heap"},
		"LFH, default":                {FrontEnd: "LFH", Note: "default"},
		"implausible size":            {Doubtful: true},
		"heap, implausible size, CRT": {Kind: "heap", Doubtful: true, Name: "CRT"},
	} {
		if got := heapNote(&h); got != want {
			t.Errorf("%+v: %q, want %q", h, got, want)
		}
	}
}

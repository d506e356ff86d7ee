package analysis_test

import (
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// A trace has a time before the exit if it records an exit later than its own beginning and that of the process.
func TestBeforeExitAtItsLimits(t *testing.T) {
	at := func(ns int64) *int64 { return &ns }
	for _, test := range []struct {
		name          string
		began, exited *int64
		to            int64 // −1 for none
	}{
		{"alive", nil, nil, -1},
		{"at the trace's beginning", nil, at(0), -1},
		{"behind it", nil, at(1), 0},
		{"as the process began", at(150), at(150), -1},
		{"behind that", at(150), at(151), 150},
		{"at the trace's end", nil, at(900), 899},
		{"later", nil, at(901), -1},
	} {
		trace := &analysis.Trace{ToNS: 900, BeganNS: test.began, ExitedNS: test.exited}
		got, ok := trace.WindowBeforeExit()
		if ok != (test.to >= 0) || ok && got != (capture.Window{To: test.to}) {
			t.Errorf("%s: %+v, %v", test.name, got, ok)
		}
	}
}

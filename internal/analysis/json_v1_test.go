package analysis

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
)

// A report of the layout before keeps what tools say of its memory, with the stack of each claim and sample.
func TestMemoryOfTheLayoutBefore(t *testing.T) {
	stack := func(function string) string {
		return fmt.Sprintf(`"stack": [{"module": "app", "function": %q}]`, function)
	}
	r, err := ReadJSON(strings.NewReader(`{"schema": "` + Schema1 + `", "memory": [
		{"source": "DebugDiag", "claims": [{"where": "app!a", ` + stack("a") + `, "samples": [{"size": 8, ` + stack("b") + `}]},
			{"where": "app!c", ` + stack("c") + `}], "samples": [{"size": 16, ` + stack("d") + `}]},
		{"source": "WinDbg"}],
		"reported_leaks": [{"title": "VERIFIER STOP 900", ` + stack("e") + `}]}`))
	if err != nil {
		t.Fatal(err)
	}
	function := func(ref StackRef) string {
		frames := r.Stacks.Frames(ref)
		if len(frames) != 1 {
			return fmt.Sprintf("%d frames", len(frames))
		}
		return frames[0].Function
	}
	var got []string
	for i := range r.Memory {
		m := &r.Memory[i]
		got = append(got, m.Source)
		for k := range m.Claims {
			got = append(got, m.Claims[k].Where, function(m.Claims[k].Stack))
			for _, s := range m.Claims[k].Samples {
				got = append(got, fmt.Sprint(s.Size), function(s.Stack))
			}
		}
		for _, s := range m.Samples {
			got = append(got, fmt.Sprint(s.Size), function(s.Stack))
		}
	}
	for i := range r.Reported {
		got = append(got, r.Reported[i].Title, function(r.Reported[i].Stack))
	}
	if got := strings.Join(got, " "); got != "DebugDiag app!a a 8 b app!c c 16 d WinDbg VERIFIER STOP 900 e" {
		t.Error(got)
	}
}

// One part in a hundred of a window may lie outside the trace: before it, behind it, or on both sides together. A
// window that only touches the trace does so, and one beside it does not. Heaps may be known later than the trace.
func TestWindowsOutsideATrace(t *testing.T) {
	for _, test := range []struct {
		from, to, heapFrom int64
		heaps              int
		warns              bool
	}{
		{0, 100_000, 0, 0, false}, // the whole trace
		{10_000, 20_000, 0, 0, false},
		{-100, 9_900, 0, 0, false}, {-101, 9_899, 0, 0, true},
		{90_100, 100_100, 0, 0, false}, {90_101, 100_101, 0, 0, true},
		{-500, 100_500, 0, 0, false}, {-505, 100_505, 0, 0, false}, {-506, 100_505, 0, 0, true},
		{0, 0, 0, 0, false}, {100_000, 100_000, 0, 0, false}, {-1, -1, 0, 0, true}, {100_001, 100_001, 0, 0, true},
		{200_000, 300_000, 0, 0, true}, {-300_000, -200_000, 0, 0, true},
		{1_000, 11_000, 1_100, 1, false}, {1_000, 11_000, 1_101, 1, true}, {1_000, 11_000, 1_101, 0, false},
	} {
		c := &capture.Capture{Trace: &capture.Trace{To: 100_000, HeapFrom: test.heapFrom,
			Window: capture.Window{From: test.from, To: test.to}}, Heaps: make([]capture.Heap, test.heaps)}
		s := &series{}
		s.checkCoverage(part{Capture: c, file: "a.etl"})
		if (len(s.warnings) == 1) != test.warns || len(s.warnings) > 0 && (s.warnings[0].Code != capture.Truncated ||
			!strings.Contains(s.warnings[0].Message, "nothing outside was recorded")) {
			t.Errorf("%+v: %+v", test, s.warnings)
		}
	}
}

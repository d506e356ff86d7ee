package store_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// listIn is a list that a tool printed in a test.
func listIn(kind capture.Kind, test string) *capture.Capture {
	return &capture.Capture{Kind: kind, Shape: capture.ShapeExit, Process: capture.Process{Name: "tests.exe"}, Test: test,
		Snapshots: make([]capture.Snapshot, 1)}
}

// put adds blocks of a stack, innermost frame first.
func put(c *capture.Capture, count, bytes int64, stack ...capture.FrameText) {
	ids := make([]capture.FrameID, len(stack))
	for i := range stack {
		ids[i] = c.Stacks.AddText(stack[i], 0)
	}
	c.Sites = append(c.Sites, capture.Site{Stack: c.Stacks.AddStack(ids), Heap: capture.NoHeap,
		Usage: []capture.Usage{{Count: count, Bytes: bytes}}})
}

// called is a call stack. The innermost function is at a line of its file.
func called(line uint32, functions ...string) (stack []capture.FrameText) {
	for i, f := range functions {
		stack = append(stack, capture.FrameText{Module: "tests", Function: f, Offset: 0x20})
		if i == 0 {
			stack[0].File, stack[0].Line = `c:\src\`+strings.ToLower(f[:strings.IndexByte(f, ':')])+".cpp", line
		}
	}
	return append([]capture.FrameText{{Module: "ucrtbase", Function: "malloc", Offset: 0x1B}}, stack...)
}

// The tools that a build of the suite is run with.
const (
	byCRT = 1 << iota
	byVLD
	byUMDH
)

// suiteIn is the evidence of a build: the debug CRT lists 500 old blocks in 40 tests. What a test leaks in some builds
// is in the same list, and Visual Leak Detector and a series of UMDH logs show its stack.
func suiteIn(t *testing.T, build, tools int, leaking bool) *analysis.Report {
	const old, tests, ofNew, size = 500, 40, 17, 4096
	line := uint32(30 + build) // lines move with each build
	var lists []*capture.Capture
	for test := range tests {
		name := fmt.Sprintf("Suite%d.Test%d", test/8, test)
		c := listIn("crt-leaks", name)
		for k := test; k < old; k += tests {
			put(c, 1, int64(16+k), capture.FrameText{Function: fmt.Sprintf("file%d.cpp:%d-byte-block", k%23, 16+k),
				File: fmt.Sprintf(`c:\src\file%d.cpp`, k%23), Line: uint32(20 + k + build)})
		}
		v := listIn("vld", name)
		if leaking && test == ofNew {
			put(c, 3, 3*size, capture.FrameText{Function: "fresh.cpp:4096-byte-block", File: `c:\src\fresh.cpp`, Line: line})
			put(v, 3, 3*size, called(line, "Fresh::Add", "Cache::Fill", "main")...)
		}
		if c.Lines = make([]capture.Line, len(c.Sites)); tools&byCRT > 0 {
			lists = append(lists, c)
		}
		if tools&byVLD > 0 {
			lists = append(lists, v)
		}
	}
	input := []analysis.Input{{Files: []analysis.File{{Name: "build.log"}}, Captures: lists}}
	for n := range int64(12) {
		if tools&byUMDH == 0 {
			break
		}
		s := &capture.Capture{Kind: capture.KindUMDHSnapshot, Process: capture.Process{Name: "tests.exe", PID: 7},
			Snapshots: []capture.Snapshot{{TakenAt: time.Date(2026, 1, 2, 3, int(n), 0, 0, time.UTC)}}}
		put(s, 5, 500, called(7, "Cache::Fill", "main")...)
		if leaking { // with the header of the debug CRT, of a program of 64 bits
			put(s, 40*(n+1), (size+52)*40*(n+1), called(line, "Fresh::Add", "Cache::Fill", "main")...)
		}
		input = append(input, analysis.Input{Files: []analysis.File{{Name: fmt.Sprintf("%d.txt", n)}}, Captures: []*capture.Capture{s}})
	}
	r, err := analysis.Analyze(t.Context(), input, analysis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.SetStackKeys()
	return r
}

// monthOf runs builds of the suite, of which some leak, accepts the leaks of the first, and returns the gates.
func (l *lab) monthOf(t *testing.T, tools map[int]int, leaking ...int) map[string]leaks.Gate {
	t.Helper()
	gates := map[string]leaks.Gate{}
	for _, build := range slices.Sorted(maps.Keys(tools)) {
		name := fmt.Sprint(build)
		run := l.run(name, suiteIn(t, build, tools[build], slices.Contains(leaking, build)))
		if build == 1 {
			side := must[*compare.BuildResult](t)(l.now().FindRunResult(t.Context(), run))
			var picks []store.PickedSignature
			review := leaks.ReviewOf(side)
			for _, signature := range review.Signatures() {
				picks = append(picks, store.PickedSignature{Signature: signature, Version: -1})
			}
			if len(picks) != 500 {
				t.Errorf("%d leaks to accept", len(picks))
			}
			if err := l.UpdateTriages(t.Context(), "demo", picks, leaks.TriageChange{Actor: "ci", Known: &leaks.Toleration{Reason: leaks.FirstRunReason}}); err != nil {
				t.Fatal(err)
			}
		}
		found := must[store.Run](t)(l.now().FindRun(t.Context(), run))
		d := must[leaks.RunVerdict](t)(l.now().FindVerdict(t.Context(), &found, store.GateQuestion{})).Decision
		if gates[name] = d.Gate; d.Gate == leaks.GateFailed && d.Why != "1 new leak" {
			t.Errorf("build %s fails for %s", name, d.Why)
		}
	}
	return gates
}

// A month of a suite: 500 old leaks are accepted with the first build. One that all three tools show comes in build 7,
// and is fixed in build 9. It is one leak, whether the debug CRT alone lists it, before or after, or all tools do; a
// build without one of the tools does not end it.
func TestMonthOfSeveralTools(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	const all = byCRT | byVLD | byUMDH
	for name, tools := range map[string]map[int]int{
		"all tools, then the debug CRT":             {1: all, 6: all, 7: all, 8: byCRT, 9: byCRT},
		"the debug CRT, all tools, then the others": {1: byCRT, 6: byCRT, 7: byCRT, 8: all, 9: byVLD | byUMDH},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			gates := l.monthOf(t, tools, 7, 8)
			if want := (map[string]leaks.Gate{"1": leaks.GatePassed, "6": leaks.GatePassed, "7": leaks.GateFailed, "8": leaks.GateFailed, "9": leaks.GatePassed}); !maps.Equal(gates, want) {
				t.Errorf("gates %v, want %v", gates, want)
			}
			page := l.list(store.SignatureQuery{Class: leaks.AllClasses, Text: "fresh"})
			if len(page.Rows) != 1 {
				t.Fatalf("%d leaks: %+v", len(page.Rows), page.Rows)
			}
			if s := page.Rows[0]; s.State != leaks.StateFixed || s.FirstBad != "7" || s.FixedIn != "9" || !strings.Contains(s.Title, "Fresh::Add") {
				t.Errorf("%s is %s, bad first in %q, fixed in %q", s.Title, s.State, s.FirstBad, s.FixedIn)
			}
		})
	}
}

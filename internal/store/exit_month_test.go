package store_test

import (
	"fmt"
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

func called(functions ...string) (stack []capture.FrameText) {
	for _, f := range functions {
		stack = append(stack, capture.FrameText{Module: "tests", Function: f, Offset: 0x20})
	}
	return append([]capture.FrameText{{Module: "ucrtbase", Function: "malloc", Offset: 0x1B}}, stack...)
}

// suiteIn is the evidence of a build: the debug CRT lists 500 old blocks in 40 tests, Visual Leak Detector and a series
// of UMDH logs show what a test leaks in some builds.
func suiteIn(t *testing.T, build int, leaking bool) *analysis.Report {
	const old, tests, ofNew = 500, 40, 17
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
			put(v, 3, 12288, called("Fresh::Add", "Cache::Fill", "main")...)
		}
		lists = append(lists, c, v)
	}
	input := []analysis.Input{{Files: []analysis.File{{Name: "build.log"}}, Captures: lists}}
	for n := range int64(12) {
		s := &capture.Capture{Kind: capture.KindUMDHSnapshot, Process: capture.Process{Name: "tests.exe", PID: 7},
			Snapshots: []capture.Snapshot{{TakenAt: time.Date(2026, 1, 2, 3, int(n), 0, 0, time.UTC)}}}
		put(s, 5, 500, called("Cache::Fill", "main")...)
		if leaking {
			put(s, 40*(n+1), 4096*40*(n+1), called("Fresh::Add", "Cache::Fill", "main")...)
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

// A month of a suite: 500 old leaks are accepted with the first build, one that two tools show by its function comes in
// build 7, fails the gate there, and is fixed in build 9. A build without one of the tools does not end it.
func TestMonthOfSeveralTools(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	l := newLab(t)
	gates := map[string]leaks.Gate{}
	for _, build := range []int{1, 6, 7, 9} {
		name := fmt.Sprint(build)
		r := suiteIn(t, build, build == 7)
		run := l.run(name, r)
		if build == 1 {
			side := must[*compare.BuildResult](t)(l.now().FindRunResult(t.Context(), run))
			var picks []store.PickedSignature
			for _, signature := range leaks.UnacceptedLeaks(side) {
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
		gates[name] = must[leaks.RunVerdict](t)(l.now().FindVerdict(t.Context(), &found, store.GateQuestion{})).Decision.Gate
	}
	if want := (map[string]leaks.Gate{"1": leaks.GatePassed, "6": leaks.GatePassed, "7": leaks.GateFailed, "9": leaks.GatePassed}); fmt.Sprint(gates) != fmt.Sprint(want) {
		t.Errorf("gates %v, want %v", gates, want)
	}
	page := l.list(store.SignatureQuery{Class: leaks.AllClasses, Text: "fresh"})
	if len(page.Rows) != 1 {
		t.Fatalf("%d leaks", len(page.Rows))
	}
	if s := page.Rows[0]; s.State != leaks.StateFixed || s.FirstBad != "7" || s.FixedIn != "9" {
		t.Errorf("%s is %s, bad first in %q, fixed in %q", s.Title, s.State, s.FirstBad, s.FixedIn)
	}
}

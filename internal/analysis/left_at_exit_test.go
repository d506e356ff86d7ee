package analysis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// A leftSite is blocks that a tool lists, by the function that allocated them.
type leftSite struct {
	function     string
	reach        capture.Reach
	count, bytes int64
}

// leftAtExit is a list of a tool.
func leftAtExit(kind capture.Kind, program, test string, sites ...leftSite) *capture.Capture {
	c := &capture.Capture{Kind: kind, Shape: capture.ShapeExit, Process: capture.Process{Name: program}, Test: test,
		Snapshots: make([]capture.Snapshot, 1)}
	for _, s := range sites {
		stack := c.Stacks.AddStack([]capture.FrameID{
			c.Stacks.AddText(capture.FrameText{Module: "ucrtbase", Function: "malloc", Offset: 0x1B}, 0),
			c.Stacks.AddText(capture.FrameText{Module: "app", Function: s.function, Offset: 0x20, File: `c:\src\a.cpp`, Line: 7}, 0),
			c.Stacks.AddText(capture.FrameText{Module: "app", Function: "main", Offset: 0x30, File: `c:\src\main.cpp`, Line: 9}, 0),
		})
		c.Sites = append(c.Sites, capture.Site{Stack: stack, Heap: capture.NoHeap, Reach: s.reach,
			Usage: []capture.Usage{{Count: s.count, Bytes: s.bytes}}})
	}
	return c
}

// What a tool lists as lost is a leak, whatever there is beside it, and nothing is missing for a verdict.
func TestLeftAtExit(t *testing.T) {
	lost := leftSite{"Cache::Add", capture.ReachUnsearched, 2, 64}
	direct := leftSite{"Cache::Add", capture.ReachNone, 1, 32}
	indirect := leftSite{"Node::Node", capture.ReachLost, 3, 48}
	possible := leftSite{"List::Push", capture.ReachPossible, 1, 8}
	held := leftSite{"Init", capture.ReachHeld, 1, 4096}
	broken := leftAtExit("vld", "app.exe", "", held)
	broken.Snapshots[0].LowerBound = true
	broken.Warnings = []capture.Warning{{Code: capture.Truncated, Message: "it breaks off", Count: 1}}
	brokenLeak := leftAtExit("vld", "app.exe", "", lost)
	brokenLeak.Snapshots, brokenLeak.Warnings = broken.Snapshots, broken.Warnings
	for name, test := range map[string]struct {
		lists    []*capture.Capture
		status   analysis.VerdictStatus
		leaks    int
		suffices bool
		sentence string
	}{
		"one site": {[]*capture.Capture{leftAtExit("crt-leaks", "app.exe", "", lost)}, analysis.StatusLeak, 1, true,
			"app.exe left 64 B in 2 blocks at exit, never freed, from app!Cache::Add (a.cpp:7)."},
		"two tests of one program": {[]*capture.Capture{leftAtExit("crt-leaks", "app.exe", "A.B", lost),
			leftAtExit("crt-leaks", "app.exe", "A.C", lost, direct)}, analysis.StatusLeak, 1, true,
			"app.exe left 160 B in 5 blocks at exit, never freed, from app!Cache::Add (a.cpp:7); printed during 2 tests."},
		"two programs": {[]*capture.Capture{leftAtExit("crt-leaks", "a.exe", "A.B", lost),
			leftAtExit("crt-leaks", "b.exe", "", indirect)}, analysis.StatusLeak, 2, true,
			"2 programs left 112 B in 5 blocks at exit, never freed, from 2 sites; the most, 64 B in 2 blocks, from app!Cache::Add (a.cpp:7); printed during A.B."},
		"with pointers into them": {[]*capture.Capture{leftAtExit("drmemory", "app.exe", "", possible)},
			analysis.StatusInconclusive, 0, true, "no leak is proven"},
		"still in use": {[]*capture.Capture{leftAtExit("drmemory", "app.exe", "", held)}, analysis.StatusNoLeak, 0, true,
			"app.exe left no block at exit that it had lost; it still had pointers to 4.00 KB in 1 block."},
		"nothing":                   {[]*capture.Capture{leftAtExit("vld", "app.exe", "")}, analysis.StatusNoLeak, 0, true, "left no block at exit"},
		"a list that breaks off":    {[]*capture.Capture{broken}, analysis.StatusInconclusive, 0, false, "is not whole"},
		"and has a leak before":     {[]*capture.Capture{brokenLeak}, analysis.StatusLeak, 1, false, "app.exe left 64 B"},
		"two tools of one program":  {[]*capture.Capture{leftAtExit("vld", "app.exe", "", lost), leftAtExit("drmemory", "app.exe", "", direct)}, analysis.StatusLeak, 1, true, "app.exe left"},
		"two tools, each its leaks": {[]*capture.Capture{leftAtExit("vld", "app.exe", "", lost), leftAtExit("drmemory", "app.exe", "", indirect)}, analysis.StatusLeak, 2, true, "from 2 sites"},
	} {
		r := analyze(t, []analysis.Input{{Files: []analysis.File{{Name: "build.log"}}, Captures: test.lists}})
		if r.Verdict.Status != test.status || r.Verdict.Leaks != test.leaks || r.Suffices() != test.suffices ||
			!strings.Contains(r.Verdict.Sentence, test.sentence) || r.Verdict.SnapshotsMissing != 0 {
			t.Errorf("%s: %s, %d leaks, suffices %t: %s", name, r.Verdict.Status, r.Verdict.Leaks, r.Suffices(), r.Verdict.Sentence)
		}
		if len(r.Evidence) != len(test.lists) {
			t.Errorf("%s: %d rows of evidence for %d lists", name, len(r.Evidence), len(test.lists))
		}
		for i, e := range r.Evidence {
			if !e.Used || e.Test != test.lists[i].Test || e.Kind != string(test.lists[i].Kind) {
				t.Errorf("%s: evidence %+v", name, e)
			}
		}
	}
}

// A finding keeps what points to its blocks and which tests printed them.
func TestLeftAtExitOfAFinding(t *testing.T) {
	lists := []*capture.Capture{}
	for _, test := range []string{"A", "B", "A", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L"} {
		lists = append(lists, leftAtExit("drmemory", "app.exe", test, leftSite{"Cache::Add", capture.ReachNone, 1, 10},
			leftSite{"Cache::Add", capture.ReachLost, 2, 200}, leftSite{"Cache::Add", capture.ReachHeld, 1, 1000}))
	}
	f := analyze(t, []analysis.Input{{Files: []analysis.File{{Name: "build.log"}}, Captures: lists}}).Findings[0]
	left := f.LeftAtExit
	if f.Verdict != analysis.ClassLeftAtExit || !f.Certain || left == nil ||
		left.Unreferenced != (analysis.Amount{Count: 13, Bytes: 130}) || left.Indirect != (analysis.Amount{Count: 26, Bytes: 2600}) ||
		left.Reachable != (analysis.Amount{Count: 13, Bytes: 13000}) || left.Unsearched != (analysis.Amount{}) {
		t.Fatalf("%s, %+v", f.Verdict, left)
	}
	if !slices.Equal(left.Tests, strings.Split("ABCDEFGHIJKL", "")) || left.MoreTests != 0 ||
		!strings.Contains(f.Clauses[0].Text, "nothing pointed to them") || !strings.Contains(f.Clauses[0].Text, "H, I, J and 2 more tests.") {
		t.Errorf("%q and %d more: %s", left.Tests, left.MoreTests, f.Clauses[0].Text)
	}
}

// A finding lists 100 tests, and counts the others.
func TestFindingOfManyTests(t *testing.T) {
	for _, tests := range []int{100, 101} {
		lists := []*capture.Capture{}
		for i := range tests {
			lists = append(lists, leftAtExit("drmemory", "app.exe", fmt.Sprintf("T%03d", i), leftSite{"Cache::Add", capture.ReachNone, 1, 10}))
		}
		f := analyze(t, []analysis.Input{{Files: []analysis.File{{Name: "build.log"}}, Captures: lists}}).Findings[0]
		if len(f.LeftAtExit.Tests) != 100 || f.LeftAtExit.MoreTests != tests-100 ||
			!strings.Contains(f.Clauses[0].Text, fmt.Sprintf("T009 and %d more tests.", tests-10)) {
			t.Errorf("%d tests: %d and %d more: %s", tests, len(f.LeftAtExit.Tests), f.LeftAtExit.MoreTests, f.Clauses[0].Text)
		}
	}
}

// A list joins other evidence of the run: of a site that both show, the list says that its blocks were never freed.
func TestLeftAtExitBesideSnapshots(t *testing.T) {
	list := leftAtExit("vld", "app.exe", "", leftSite{"Cache::Add", capture.ReachUnsearched, 2, 64},
		leftSite{"Other", capture.ReachUnsearched, 1, 8})
	snapshot := leftAtExit(capture.KindUMDHSnapshot, "app.exe", "", leftSite{"Cache::Add", 0, 2, 64})
	snapshot.Shape = capture.ShapeSnapshot
	r := analyze(t, inputs(snapshot, list))
	if r.Verdict.Status != analysis.StatusLeak || r.Verdict.Leaks != 2 || len(r.Findings) != 2 ||
		!strings.Contains(r.Verdict.Sentence, "at exit, never freed") {
		t.Fatalf("%+v, %d findings", r.Verdict, len(r.Findings))
	}
	for _, f := range r.Findings {
		both := strings.Contains(f.Title, "Cache")
		if f.Verdict != analysis.ClassLeftAtExit || f.LeftAtExit == nil || (len(f.ByKind) == 2) != both {
			t.Errorf("%s: %s by %+v", f.Title, f.Verdict, f.ByKind)
		}
	}
}

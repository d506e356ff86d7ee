package compare_test

import (
	"fmt"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
)

// shown is a deciding report with one finding for each stack, each of the given number of sites.
func shown(sites int, stacks ...[]string) *analysis.Report {
	r := &analysis.Report{Verdict: analysis.EvidenceVerdict{Status: analysis.StatusNoLeak}}
	for _, frames := range stacks {
		r.Findings = append(r.Findings, analysis.Finding{Frames: frames, Sites: sites})
	}
	return r
}

// The counts of frames survive being stored as bytes.
func TestSeen(t *testing.T) {
	seen := compare.CountFrames(shown(3, []string{"app!A", "app!main"}, []string{"app!B", "app!A", "app!main"}))
	if own := compare.CountFrames(shown(3, []string{"app!Walk", "app!Walk", "app!main"})).StacksWith("app!Walk"); own != 3 {
		t.Errorf("%d stacks hold a function that calls itself, want 3", own)
	}
	for _, b := range [][]byte{seen.Bytes(), mustSeen(t, seen.Bytes()).Bytes()} {
		again := mustSeen(t, b)
		if a, main, c := again.StacksWith("app!A"), again.StacksWith("app!main"), again.StacksWith("app!C"); a != 6 || main != 6 ||
			c != 0 || again.StacksWith("app!B") != 3 {
			t.Errorf("%d %d %d", a, main, c)
		}
	}
	if b := (compare.FrameCounts{}).Bytes(); b == nil || len(b) != 0 || mustSeen(t, b).StacksWith("app!A") != 0 {
		t.Errorf("of nothing: %v", b)
	}
	for _, b := range []string{"sevenby", "eight by", "a frame's hash + count, and one"} {
		if _, err := compare.DecodeFrameCounts([]byte(b)); err == nil {
			t.Errorf("%q is taken", b)
		}
	}
}

func mustSeen(t *testing.T, b []byte) compare.FrameCounts {
	t.Helper()
	seen, err := compare.DecodeFrameCounts(b)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// The absence of a leak in a report proves something only if the report decides and has no losses.
func TestWhatProvesNothing(t *testing.T) {
	frames := []string{"app!Other", "app!Serve", "app!main"}
	lost, warned, short := shown(1, frames), shown(1, frames), shown(1, frames)
	lost.Warnings = []analysis.Warning{{Code: capture.Truncated}}
	warned.Warnings = []analysis.Warning{{Code: capture.NoSymbols}}
	short.Verdict.SnapshotsMissing = 3
	leak := []string{"app!Leak", "app!Serve", "app!main"}
	for name, test := range map[string]struct {
		report *analysis.Report
		proves bool
	}{"all well": {shown(1, frames), true}, "a warning about names": {warned, true}, "losses": {lost, false},
		"too few snapshots": {short, false}} {
		if got := compare.CountFrames(test.report).FindRan(leak) != nil; got != test.proves {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The absence of a leak in a difference proves nothing, whatever its report decides: a difference lists only changes.
func TestDifferencesProveNothing(t *testing.T) {
	c := &capture.Capture{Kind: capture.KindUMDHDiff, Shape: capture.ShapeDifference,
		Snapshots: make([]capture.Snapshot, 2)}
	r, err := analysis.Analyze(t.Context(),
		[]analysis.Input{{Files: []analysis.File{{Name: "diff.txt"}}, Captures: []*capture.Capture{c}}}, analysis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	shows := shown(1, []string{"app!Other", "app!Serve", "app!main"})
	r.Findings, r.Warnings, r.Verdict.Status = shows.Findings, nil, analysis.StatusLeak
	if caller := compare.CountFrames(r).FindRan([]string{"app!Leak", "app!Serve", "app!main"}); caller != nil {
		t.Errorf("%+v", caller)
	}
}

// Counts of stacks below, at and above the shares in the rule of FindRan.
func TestRan(t *testing.T) {
	leak := []string{"app!Leak", "app!Serve", "app!main"}
	for _, test := range []struct {
		name          string
		serve, others int // stacks
		leak          []string
		want          string
	}{
		{"not seen", 0, 10, leak, ""},
		{"one stack", 1, 10, leak,
			"gone in build 7, where its caller app!Serve ran (in 1 other stack)"},
		{"all of few stacks", 19, 0, leak,
			"gone in build 7, where its caller app!Serve ran (in 19 other stacks)"},
		{"half of many", 10, 10, leak,
			"gone in build 7, where its caller app!Serve ran (in 10 other stacks)"},
		{"more than half of many", 11, 9, leak, ""},
		{"more than half of few", 11, 8, leak,
			"gone in build 7, where its caller app!Serve ran (in 11 other stacks)"},
		{"where it was allocated", 2, 2, []string{"app!Serve", "app!Else", "app!main"},
			"gone in build 7, where its blamed function app!Serve ran (in 2 other stacks)"},
		{"the last of few frames", 2, 2, []string{"app!Leak", "app!Serve"}, ""},
		{"alone", 2, 2, []string{"app!Serve"}, ""},
		{"the second of a signature that is cut", 2, 2, []string{"app!Leak", "app!Serve", "app!a", "app!b", "app!c"},
			"gone in build 7, where its caller app!Serve ran (in 2 other stacks)"},
		{"the third", 2, 2, []string{"app!Leak", "app!Else", "app!Serve", "app!b", "app!c"}, ""},
		{"an entry", 2, 2, []string{"app!Leak", "app!main", "app!Start"}, ""},
		{"no names", 2, 2, []string{"app!<unknown>+0x20@0x4000", "app!<unknown>+0x10@0x4000", "app!main"}, ""},
		{"a caller further out without a name", 2, 2, []string{"app!Leak", "app!Serve", "app!<unknown>+0x10@0x4000"}, ""},
		{"no stack", 2, 2, nil, ""},
	} {
		r := shown(1)
		for i := range test.serve + test.others {
			caller := "app!Serve"
			if i >= test.serve {
				caller = "app!<unknown>+0x10@0x4000"
			}
			r.Findings = append(r.Findings,
				analysis.Finding{Frames: []string{fmt.Sprint("app!Other", i), caller, "app!main"}, Sites: 1})
		}
		got := ""
		if caller := compare.CountFrames(r).FindRan(test.leak); caller != nil {
			got = caller.Text("7")
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

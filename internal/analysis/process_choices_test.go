package analysis_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
)

// held is the capture of a process of a trace that holds so many bytes.
func held(name string, pid uint32, bytes, began int64) *capture.Capture {
	c := trace(pid, life{capture.KindHeap, []uint64{code}, allocations.WindowUsage{AIFO: u(1, bytes)}, bytes})
	c.Process.Name, c.Trace.Began = name, began
	return c
}

func snapshotOf(name string, pid uint32, bytes int64) *capture.Capture {
	c := &capture.Capture{Kind: capture.KindUMDHSnapshot, Process: capture.Process{Name: name, PID: pid},
		Snapshots: make([]capture.Snapshot, 1)}
	c.Sites = []capture.Site{{Stack: c.Stacks.AddStack([]capture.FrameID{c.Stacks.AddAddress(code)}), Heap: capture.NoHeap,
		Usage: []capture.Usage{{Count: 1, Bytes: bytes}}}}
	return c
}

// seenIn is what a store knows of the processes in inputs.
func seenIn(in []analysis.Input) (seen []analysis.CaptureProcess) {
	for i := range in {
		for _, c := range in[i].Captures {
			s := analysis.CaptureProcess{Process: c.Process, EvidenceID: int64(i), Held: c.Held(), Trace: c.Trace != nil}
			if c.Trace != nil {
				s.Began = c.Trace.Began
			}
			seen = append(seen, s)
		}
	}
	return seen
}

// Each choice that is offered gives the report on its process, without the warning that there are several processes.
func TestChoices(t *testing.T) {
	const before = allocations.BeforeTrace
	file := func(name string, captures ...*capture.Capture) analysis.Input {
		return analysis.Input{Files: []analysis.File{{Name: name}}, Captures: captures}
	}
	for what, test := range map[string]struct {
		in   []analysis.Input
		want string // choices with what each holds
		all  int
	}{
		"one": {[]analysis.Input{file("a.etl", held("app.exe", 7, 10, before))}, "app.exe=10", 1},
		"two programs": {[]analysis.Input{file("a.etl", held("app.exe", 7, 10, before), held("b.exe", 8, 20, before))},
			"b.exe=20 app.exe=10", 2},
		"one name": {[]analysis.Input{file("a.etl", held("app.exe", 7, 10, before),
			held("APP.EXE", 8, 20, before))}, "8=20 7=10", 2},
		"names that fit two": {[]analysis.Input{file("a.etl", held("app", 7, 10, before), held("app.exe", 8, 20, before))},
			"app.exe=20 7=10", 2},
		"a pid given out thrice, listed by what is held": {
			[]analysis.Input{file("a.etl", held("app.exe", 7, 30, 5e9), held("app.exe", 7, 10, before),
				held("app.exe", 7, 20, 1))}, "7#3=30 7#2=20 7#1=10", 3,
		},
		"a pid given to another program": {[]analysis.Input{file("a.etl", held("app.exe", 7, 30, 5e9),
			held("b.exe", 7, 10, before))}, "app.exe=30 b.exe=10", 2},
		"no names": {[]analysis.Input{file("a.etl", held("", 7, 10, before), held("", 8, 20, before))},
			"8=20 7=10", 2},
		"two traces of one process": {[]analysis.Input{file("a.etl", held("app.exe", 7, 10, before)),
			file("b.etl", held("app.exe", 7, 20, before))}, "app.exe=20", 1},
		"two boots": {[]analysis.Input{file("a.etl", held("app.exe", 7, 10, before)),
			file("b.etl", held("app.exe", 8, 20, before))}, "8=20 7=10", 2},
		"a pid of two programs, both with a namesake": {
			[]analysis.Input{
				file("a.etl", held("app.exe", 7, 10, before), held("b.exe", 9, 1, before)),
				file("b.etl", held("b.exe", 7, 20, before), held("app.exe", 8, 2, before)),
			}, "8=2 9=1", 4,
		},
		"snapshots of two programs": {[]analysis.Input{file("1.txt", snapshotOf("app.exe", 7, 10)),
			file("2.txt", snapshotOf("app.exe", 8, 30)), file("3.txt", snapshotOf("b.exe", 9, 20))}, "app.exe=30 b.exe=20", 2},
		"snapshots without names and pids": {[]analysis.Input{file("1.txt", snapshotOf("", 0, 10)),
			file("2.txt", snapshotOf("", 0, 30))}, "0=30", 1},
		"a trace beside snapshots": {[]analysis.Input{file("1.txt", snapshotOf("app.exe", 8, 30)),
			file("a.etl", held("app.exe", 7, 10, before), held("b.exe", 8, 1, before))}, "app.exe=10 b.exe=1", 2},
	} {
		seen := seenIn(test.in)
		choices, all := analysis.ProcessChoices(seen, 50)
		var got []string
		for i, c := range choices {
			got = append(got, fmt.Sprintf("%s=%d", c.Choose, c.Held))
			r, err := analysis.Analyze(t.Context(), test.in, analysis.Options{Process: c.Choose})
			if err != nil {
				t.Errorf("%s: %s: %v", what, c.Choose, err)
				continue
			}
			for j := range choices {
				if choices[j].IsOf(r) != (i == j) {
					t.Errorf("%s: the report on %s is of %+v", what, c.Choose, r.Process)
				}
			}
			if strings.Contains(codes(r), "several-processes") || !analysis.ShowsProcess(seen, c.Choose) {
				t.Errorf("%s: %s: %s", what, c.Choose, codes(r))
			}
		}
		if strings.Join(got, " ") != test.want || all != test.all {
			t.Errorf("%s: %v of %d, want %s of %d", what, got, all, test.want, test.all)
		}
	}
}

func TestChoicesAreBounded(t *testing.T) {
	in := analysis.Input{Files: []analysis.File{{Name: "a.etl"}}}
	for i := range 80 {
		in.Captures = append(in.Captures, held(fmt.Sprintf("p%d.exe", i), uint32(i), int64(i), allocations.BeforeTrace))
	}
	seen := seenIn([]analysis.Input{in})
	list, all := analysis.ProcessChoices(seen, 50)
	if len(list) != 50 || all != 80 || list[0].Choose != "p79.exe" {
		t.Errorf("%d of %d", len(list), all)
	}
	for _, process := range []string{"p3.exe", "P3", "3", "3#1"} {
		if !analysis.ShowsProcess(seen, process) {
			t.Errorf("%q is not seen", process)
		}
	}
	for _, process := range []string{"p80.exe", "80", "3#2", "3#", "#1", "p", "\x00"} {
		_, err := analysis.Analyze(t.Context(), []analysis.Input{in}, analysis.Options{Process: process})
		var refused *analysis.Error
		if analysis.ShowsProcess(seen, process) || !errors.As(err, &refused) || refused.Code != analysis.CodeNoSuchProcess {
			t.Errorf("%q is seen, %v", process, err)
		}
	}
	r := analyze(t, []analysis.Input{in})
	if w := r.Warnings[0]; w.Code != capture.SeveralProcesses || len(w.Message) > 800 ||
		!strings.Contains(w.Message, "and 68 more") ||
		!strings.Contains(w.Message, "Choose another with --process") ||
		!strings.Contains(w.Message, "Processes on the page") {
		t.Errorf("%d bytes: %+v", len(w.Message), w)
	}
}

// A trace may show all processes of a machine.
func BenchmarkChoices2000(b *testing.B) {
	var seen []analysis.CaptureProcess
	for i := range 2000 {
		seen = append(seen, analysis.CaptureProcess{Process: capture.Process{Name: fmt.Sprintf("p%d.exe", i), PID: uint32(i)},
			Trace: true, Held: int64(i)})
	}
	for b.Loop() {
		if list, _ := analysis.ProcessChoices(seen, 50); len(list) != 50 {
			b.Fatal(len(list))
		}
	}
}

package analysis_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
)

// A life is a site of a trace: its kind, its stack by one address for each frame, and its figures.
type life struct {
	kind    capture.SiteKind
	stack   []uint64
	classes allocations.WindowUsage
	peak    int64
}

func u(count, bytes int64) allocations.Usage { return allocations.Usage{Count: count, Bytes: bytes} }

// trace makes the capture of one process of a trace of ten seconds.
func trace(pid uint32, lives ...life) *capture.Capture {
	c := &capture.Capture{
		Kind: capture.KindETL, Shape: capture.ShapeTrace, Process: capture.Process{Name: "app.exe", PID: pid, Bits: 64},
		Modules: []capture.Module{{Path: `C:\app.exe`, Base: 0x400000, Size: 0x10000},
			{Path: `C:\ntdll.dll`, Base: 0x7FF00000, Size: 0x10000}},
		Heaps: []capture.Heap{{Handle: 0x10000}},
		Trace: &capture.Trace{
			Start: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), To: 10e9, Events: 99, Began: allocations.BeforeTrace,
			Exited: allocations.Never, Teardown: allocations.Never,
		},
	}
	c.Trace.Window = c.Trace.Whole()
	c.Snapshots = c.Trace.Instants(3)
	for i, l := range lives {
		var frames []capture.FrameID
		for _, a := range l.stack {
			frames = append(frames, c.Stacks.AddAddress(a))
		}
		s := capture.Site{Stack: c.Stacks.AddStack(frames), Kind: l.kind, Heap: capture.NoHeap,
			Usage: make([]capture.Usage, 3)}
		if l.kind == capture.KindHeap {
			s.Heap = 0
		}
		out := l.classes.Outstanding()
		s.Usage[2] = capture.Usage{Count: out.Count, Bytes: out.Bytes}
		s.Life = &capture.Life{Number: uint32(10 + i), Usage: l.classes,
			Peak: allocations.Peak{Usage: u(1, l.peak), At: 5e9}}
		c.Sites = append(c.Sites, s)
	}
	return c
}

const code, ntdll, kernel = 0x401000, 0x7FF01000, 0xFFFFF80312001000

func TestTraceReport(t *testing.T) {
	c := trace(7,
		life{capture.KindHeap, []uint64{ntdll, code + 1},
			allocations.WindowUsage{AIFO: u(3, 300), AIFI: u(5, 50), AOFI: u(1, 20), AOFO: u(2, 8)}, 400},
		life{capture.KindHeap, []uint64{ntdll, code + 2}, allocations.WindowUsage{AIFI: u(9, 90)}, 30},
		life{capture.KindVirtual, []uint64{kernel, ntdll, code + 3}, allocations.WindowUsage{AIFO: u(1, 4096)}, 4096},
		life{capture.KindHeapVirtual, []uint64{kernel, ntdll, code + 4}, allocations.WindowUsage{AIFO: u(1, 65536)}, 65536},
	)
	c.Trace.Heap.Peak = allocations.Peak{Usage: u(6, 410), At: 4e9}
	r := analyze(t, inputs(c))
	heap, virtual := r.Totals.Heap, r.Totals.Virtual
	amount := func(count, bytes int64) analysis.Amount { return analysis.Amount{Count: count, Bytes: bytes} }
	if heap.Outstanding != amount(5, 308) || *heap.Growth != amount(2, 280) || heap.Allocated != amount(17, 440) ||
		heap.Freed != amount(15, 160) ||
		heap.AIFO != amount(3, 300) || heap.AIFI != amount(14, 140) || heap.AOFI != amount(1, 20) ||
		heap.AOFO != amount(2, 8) || heap.Peak.Bytes != 410 {
		t.Errorf("heap %+v %+v %+v", heap, heap.Growth, heap.Lifetimes)
	}
	if virtual.Outstanding != amount(1, 4096) || r.Totals.HeapVirtual.Outstanding != amount(1, 65536) ||
		r.Heaps[0].Outstanding != heap.Outstanding {
		t.Errorf("virtual %+v, of heaps %+v, heap %+v: nothing is counted twice", virtual, r.Totals.HeapVirtual, r.Heaps[0])
	}
	var got []string
	for _, s := range r.Sites {
		got = append(got, s.Kind+" "+string(s.Verdict)+" "+s.Blame.Module+s.Blame.Offset)
	}
	if want := "virtual one-time app0x1003, heap growing app0x1001, heap transient app0x1002, heap-virtual unknown app0x1004"; strings.Join(got, ", ") != want {
		t.Errorf("sites %s, want %s", strings.Join(got, ", "), want)
	}
	if *r.Window != (analysis.Window{ToNS: 10e9, DurationNS: 10e9}) || r.Trace.Events != 99 ||
		r.Evidence[0].Events != 99 || r.Snapshots[1].AtNS != 5e9 || r.Sites[0].TableSites[0] != 12 {
		t.Errorf("window %+v, trace %+v, evidence %+v", r.Window, r.Trace, r.Evidence)
	}
	if r.Verdict.Status != analysis.StatusNoLeak ||
		!strings.Contains(r.Verdict.Sentence,
			"app.exe allocated 4.43 KB in 18 blocks over 10.0 s; at the end 4.27 KB more was held") {
		t.Errorf("%+v", r.Verdict)
	}
}

// The verdict on a process that ended inside the trace is as of the instant before its end; the numbers are those that
// WPA shows.
func TestTraceThatEnded(t *testing.T) {
	c := trace(7, life{capture.KindHeap, []uint64{ntdll, code},
		allocations.WindowUsage{AIFI: u(3, 300), AtExit: u(2, 200)}, 300})
	c.Trace.Exited = 9e9
	r := analyze(t, inputs(c))
	s := r.Sites[0]
	if s.Growth.Bytes != 0 || s.Outstanding.Bytes != 0 || s.AtExit.Bytes != 200 || s.Verdict != analysis.ClassOneTime ||
		*r.Trace.ExitedNS != 9e9 {
		t.Errorf("%+v %+v", s, s.Lifetimes)
	}
	want := analysis.Amount{Count: 2, Bytes: 200}
	if held, ended := r.Findings[0].HeldBeforeExit(); held != want || !ended || s.HeldAtExit == nil ||
		*s.HeldAtExit != want || *r.Totals.Heap.HeldAtExit != want {
		t.Errorf("before its end it held %+v, %+v, in all %+v", held, s.HeldAtExit, r.Totals.Heap.HeldAtExit)
	}
	if got := r.Modules[0].UnnamedHeld; got != want {
		t.Errorf("at stake %+v, want %+v", got, want)
	}
	const unnamed = "Add symbols: 1 of 1 site (200 B held before the process ended) has no function name, " +
		"only module+0xRVA. Wanted: "
	if !slices.ContainsFunc(r.Warnings, func(w analysis.Warning) bool { return strings.HasPrefix(w.Message, unnamed) }) {
		t.Errorf("%+v", r.Warnings)
	}
	if !strings.Contains(r.Verdict.Sentence, "and then ended") || r.Findings[0].GrowthBeforeExit().Bytes != 200 {
		t.Errorf("%s", r.Verdict.Sentence)
	}
}

func TestTraceWithoutGrowth(t *testing.T) {
	quiet := func() *capture.Capture {
		return trace(7, life{capture.KindHeap, []uint64{ntdll, code}, allocations.WindowUsage{AIFI: u(3, 300)}, 300})
	}
	if r := analyze(t, inputs(quiet())); r.Verdict.Status != analysis.StatusNoLeak {
		t.Errorf("%+v", r.Verdict)
	}
	for _, loss := range []capture.Code{capture.EventsLost, capture.BuffersLost, capture.LostFree, capture.CircularWrapped,
		capture.Truncated, capture.StackMissing} {
		c := quiet()
		c.Warnings = []capture.Warning{{Code: loss, Message: "lost", Count: 1}}
		if r := analyze(t, inputs(c)); r.Verdict.Status != analysis.StatusInconclusive ||
			!strings.Contains(r.Verdict.Sentence, string(loss)) {
			t.Errorf("%s: %+v: what is lost forbids a clean verdict", loss, r.Verdict)
		}
	}
}

// A window in which too little of the trace or of the process lies decides nothing.
func TestWindowsThatShowNothing(t *testing.T) {
	const began, exited = 2e9, 6e9
	seconds := func(from, to float64) capture.Window {
		return capture.Window{From: int64(from * 1e9), To: int64(to * 1e9)}
	}
	for name, test := range map[string]struct {
		window   capture.Window
		status   analysis.VerdictStatus
		sentence string
	}{
		"inside":             {seconds(3, 5), analysis.StatusNoLeak, "no leak found"},
		"from its start":     {seconds(0, 5), analysis.StatusNoLeak, "no leak found"},
		"rounded up":         {seconds(5, 10.02), analysis.StatusNoLeak, "and then ended"},
		"half of it outside": {seconds(5, 15), analysis.StatusInconclusive, "truncated"},
		"behind":             {seconds(20, 30), analysis.StatusInconclusive, "truncated"},
		"before":             {seconds(-30, -20), analysis.StatusInconclusive, "truncated"},
		"an instant outside": {seconds(20, 20), analysis.StatusInconclusive, "truncated"},
		"before the process": {seconds(0, 1), analysis.StatusInconclusive,
			"did not run in the window; choose a window that shows more of the process"},
		"behind the process":   {seconds(7, 8), analysis.StatusInconclusive, "did not run in the window"},
		"the end of a process": {seconds(6, 6), analysis.StatusInconclusive, "choose a window"},
	} {
		c := trace(7, life{capture.KindHeap, []uint64{ntdll, code + 1}, allocations.WindowUsage{AIFI: u(1, 10)}, 10})
		c.Trace.Began, c.Trace.Exited, c.Trace.Window = began, exited, test.window
		if v := analyze(t, inputs(c)).Verdict; v.Status != test.status || !strings.Contains(v.Sentence, test.sentence) {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// Of several processes of a program the one that holds most is reported, and a caller may choose any of them.
func TestTraceOfSeveralProcesses(t *testing.T) {
	small, big, again := trace(7, life{capture.KindHeap, []uint64{code}, allocations.WindowUsage{AIFO: u(1, 10)}, 10}),
		trace(9, life{capture.KindHeap, []uint64{code}, allocations.WindowUsage{AIFO: u(1, 1000)}, 1000}),
		trace(7, life{capture.KindHeap, []uint64{code}, allocations.WindowUsage{AIFO: u(1, 30)}, 30})
	again.Trace.Began = 5e9
	in := []analysis.Input{{Files: []analysis.File{{Name: "kernel.etl"}, {Name: "heap.etl"}},
		Captures: []*capture.Capture{again, big, small}}}
	for process, want := range map[string]int64{"": 1000, "9": 1000, "7": 30, "7#1": 10, "7#2": 30} {
		r, err := analysis.Analyze(context.Background(), in, analysis.Options{Process: process})
		if err != nil {
			t.Fatal(err)
		}
		if r.Totals.Heap.Outstanding.Bytes != want {
			t.Errorf("process %q: %+v, want %d bytes", process, r.Totals.Heap, want)
		}
		if several := process == "" || process == "7"; several != (codes(r) == "several-processes") {
			t.Errorf("process %q: warnings %s", process, codes(r))
		}
		if len(r.Evidence) != 2 || !r.Evidence[0].Used || !r.Evidence[1].Used || r.Evidence[1].File != "heap.etl" {
			t.Errorf("evidence %+v", r.Evidence)
		}
	}
	if _, err := analysis.Analyze(context.Background(), in, analysis.Options{Process: "7#3"}); err == nil {
		t.Error("a third process 7 was found")
	}
}

// A trace decides over snapshots of the same run, which add what they show of its findings.
func TestTraceBesideSnapshots(t *testing.T) {
	for _, test := range []struct {
		snapshots int
		want      string
	}{
		{2, "1 site: etl one-time, umdh-snapshot growing"}, // what only two snapshots show may be anything
		{6, "0 sites: umdh-snapshot leak; 1 site: etl one-time, umdh-snapshot leak"},
	} {
		c := trace(app.pid, life{capture.KindHeap, []uint64{code}, allocations.WindowUsage{AIFO: u(1, 10)}, 10})
		c.Process.Name = "app.exe"
		list := []*capture.Capture{c}
		for k := range int64(test.snapshots) {
			list = append(list, app.snapshot(row{id: 1, stack: app.in(0x1000), count: 10 + 40*k, bytes: 100 + 400*k},
				row{id: 2, stack: app.in(0x2000), count: 10 + 40*k, bytes: 100 + 400*k}))
		}
		r := analyze(t, inputs(list...))
		if codes(r) != "" || r.Trace == nil || !r.Evidence[0].Used || !r.Evidence[1].Used || len(r.Sites) != 1 {
			t.Errorf("%s, evidence %+v, %d sites", codes(r), r.Evidence, len(r.Sites))
		}
		var got []string
		for i := range r.Findings {
			f := &r.Findings[i]
			var witnesses []string
			for _, w := range f.ByKind {
				witnesses = append(witnesses, w.Kind+" "+string(w.Verdict))
			}
			got = append(got, quantity.Plural(f.Sites, "site")+": "+strings.Join(witnesses, ", "))
		}
		if strings.Join(got, "; ") != test.want {
			t.Errorf("%d snapshots: %s, want %s", test.snapshots, strings.Join(got, "; "), test.want)
		}
	}
}

// A joined timeline has at most two points for each stretch, keeps every peak, and no peak lasts longer than its
// stretch.
func TestTimelineIsJoined(t *testing.T) {
	c := trace(7, life{capture.KindHeap, []uint64{ntdll, code}, allocations.WindowUsage{AIFO: u(1, 7)}, 7})
	points := make([]allocations.Point, 5000)
	for i := range points {
		points[i] = allocations.Point{Time: int64(i) * 1e6, LastBytes: int64(i), MaxBytes: int64(i)}
	}
	points[1234].MaxBytes = 1e6
	c.Trace.Heap.Points = slices.Concat(points, []allocations.Point{{Time: 9e9, LastBytes: 3, MaxBytes: 5000}})
	line := analyze(t, inputs(c)).Trace.HeapTimeline
	if len(line.AtNS) > 2048 || len(line.AtNS) != len(line.LastBytes) || len(line.MaxBytes) != len(line.LastBytes) ||
		!slices.IsSorted(line.AtNS) {
		t.Fatalf("%d points", len(line.AtNS))
	}
	highest := slices.Index(line.MaxBytes, 1e6)
	if highest < 0 || line.AtNS[highest] > 1234e6 || line.AtNS[highest+1] <= 1234e6 || line.AtNS[highest+1] > 1250e6 {
		t.Errorf("the peak at 1.234 s is at %d", highest)
	}
	if n := len(line.AtNS); line.LastBytes[n-1] != 3 || line.AtNS[n-1] != 9e9 || line.MaxBytes[n-2] != line.LastBytes[n-2] {
		t.Errorf("ends with %v %v %v", line.AtNS[n-2:], line.LastBytes[n-2:], line.MaxBytes[n-2:])
	}
}

// A window that ends before heap tracing began shows nothing of heaps.
func TestWindowBeforeHeapsWereTraced(t *testing.T) {
	for to, want := range map[int64]string{4e9: "truncated", 6e9: ""} {
		c := trace(7, life{capture.KindHeap, []uint64{ntdll, code}, allocations.WindowUsage{AIFI: u(1, 7)}, 7})
		c.Trace.HeapFrom, c.Trace.Window = 5e9, capture.Window{From: to - 1e9, To: to}
		if r := analyze(t, inputs(c)); codes(r) != want || (want == "") != (r.Verdict.Status == analysis.StatusNoLeak) {
			t.Errorf("window to %d: %s, %+v", to, codes(r), r.Verdict)
		}
	}
}

// A window of a single instant shows no growth, so it cannot clear anything.
func TestWindowOfNoLength(t *testing.T) {
	c := trace(7, life{capture.KindHeap, []uint64{ntdll, code}, allocations.WindowUsage{AOFO: u(1, 7)}, 7})
	c.Trace.Window = capture.Window{From: 3e9, To: 3e9}
	if r := analyze(t, inputs(c)); r.Verdict.Status != analysis.StatusInconclusive {
		t.Errorf("%+v", r.Verdict)
	}
}

// Memory held before the exit is what was there at the start plus what came since, whether the process freed it in its
// teardown or the exit did. A window without the exit holds what is outstanding.
func TestHeldBeforeExit(t *testing.T) {
	amount := func(n int64) analysis.Amount { return analysis.Amount{Count: n, Bytes: 10 * n} }
	growth := func(n int64) *analysis.Amount { return new(amount(n)) }
	for name, test := range map[string]struct {
		amounts analysis.Amounts
		held    int64
		ended   bool
	}{
		"snapshots": {analysis.Amounts{Outstanding: amount(7), Growth: growth(2)}, 7, false},
		"no end": {analysis.Amounts{Outstanding: amount(7), Growth: growth(2),
			Lifetimes: &analysis.Lifetimes{}}, 7, false},
		"ended with it": {analysis.Amounts{Growth: growth(-1),
			Lifetimes: &analysis.Lifetimes{AtExit: amount(6)}}, 6, true},
		"freed in order to end": {analysis.Amounts{Growth: growth(-1),
			Lifetimes: &analysis.Lifetimes{HeldAtTeardown: growth(4)}}, 5, true},
	} {
		if held, ended := test.amounts.HeldBeforeExit(); held != amount(test.held) || ended != test.ended {
			t.Errorf("%s: %+v, %v", name, held, ended)
		}
	}
}

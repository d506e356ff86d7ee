package analysis_test

import (
	"math"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
)

// grown are snapshots of one life of the process, in which one site holds the given numbers of blocks.
func grown(pid uint32, counts ...int64) []*capture.Capture {
	var list []*capture.Capture
	p := app
	p.pid = pid
	for _, n := range counts {
		list = append(list, p.snapshot(row{id: 1, stack: p.in(0x20), count: n, bytes: 64 * n}))
	}
	return list
}

// Snapshots of several lives decide nothing, and the growth that the verdict names is that of the longest life.
func TestVerdictIsOfTheLongestLife(t *testing.T) {
	for name, test := range map[string]struct {
		captures []*capture.Capture
		status   analysis.VerdictStatus
		missing  int
		growth   int64
		sentence string
	}{
		"two lives of three": {append(grown(10, 5, 5, 5), grown(11, 5, 5, 5)...), analysis.StatusInconclusive, 2, 0,
			"no site keeps growing over 3 snapshots"},
		"more in a former": {append(grown(10, 50000, 50000), grown(11, 10, 110, 210, 310, 410, 510)...),
			analysis.StatusInconclusive, 0, 500, "app.exe grew by 31.2 KB in 500 blocks over 6 snapshots"},
		"less in a later": {append(grown(10, 10, 110, 210, 310, 410, 510), grown(11, 1, 1)...),
			analysis.StatusInconclusive, 0, 500, "app.exe grew by 31.2 KB in 500 blocks over 6 snapshots"},
		"growth, undecidable": {append(grown(10, 900, 900), grown(11, 10, 50, 90)...), analysis.StatusInconclusive, 2, 80,
			"grew by 5.00 KB in 80 blocks over 3 snapshots"},
	} {
		r := analyze(t, inputs(test.captures...))
		if v := r.Verdict; v.Status != test.status || v.SnapshotsMissing != test.missing ||
			r.Findings[0].Growth.Count != test.growth || !strings.Contains(v.Sentence, test.sentence) {
			t.Errorf("%s: growth %+v, %+v", name, r.Findings[0].Growth, v)
		}
	}
	r := analyze(t, inputs(append(append(grown(10, 5), grown(11, 5)...),
		append(grown(12, 5), append(grown(13, 5), grown(14, 5)...)...)...)...))
	if r.Verdict.Status != analysis.StatusInconclusive || r.Verdict.SnapshotsMissing != 4 || r.Findings[0].Growth != nil {
		t.Errorf("five lives: %+v", r.Verdict)
	}
}

// The power refers to the time that is judged: from the start of heap tracing to the start of the process's teardown.
func TestPowerOfATraceIsOfWhatItSaw(t *testing.T) {
	power := func(change func(*capture.Trace)) float64 {
		c := trace(7, life{capture.KindHeap, []uint64{ntdll, code}, allocations.WindowUsage{AIFI: u(64, 6400)}, 300})
		change(c.Trace)
		return analyze(t, inputs(c)).Power.Count
	}
	whole := power(func(*capture.Trace) {})
	for name, change := range map[string]func(*capture.Trace){
		"heaps traced late": func(c *capture.Trace) { c.HeapFrom = 9e9 },
		"events begin late": func(c *capture.Trace) { c.From = 9e9 },
		"began late":        func(c *capture.Trace) { c.Began = 9e9 },
		"ended early":       func(c *capture.Trace) { c.Exited, c.Teardown = 1.5e9, 1e9 },
	} {
		if p := power(change); p < 9.9*whole || p > 10.1*whole {
			t.Errorf("%s: %g, of the whole trace %g", name, p, whole)
		}
	}
}

// The power counts in blocks of the heaps: regions of VirtualAlloc beside them do not make a leak of small blocks a
// large one. Alone, regions count.
func TestPowerIsOfHeapBlocks(t *testing.T) {
	block := life{capture.KindHeap, []uint64{ntdll, code}, allocations.WindowUsage{AIFO: u(4, 64)}, 64}
	region := life{capture.KindVirtual, []uint64{kernel, ntdll, code + 3}, allocations.WindowUsage{AIFO: u(3, 30<<20)}, 30 << 20}
	for name, test := range map[string]struct {
		lives []life
		size  float64
	}{
		"heap blocks":                {[]life{block}, 16},
		"heap blocks beside regions": {[]life{block, region}, 16},
		"regions":                    {[]life{region}, 10 << 20},
	} {
		if p := analyze(t, inputs(trace(7, test.lives...))).Power; p == nil || math.Round(p.Bytes/p.Count) != test.size {
			t.Errorf("%s: %+v, want blocks of %v bytes", name, p, test.size)
		}
	}
}

// The verdict names what was outstanding before a process freed what it held, which the totals do not show.
func TestGrowthOfAProcessThatFreesAllAtItsEnd(t *testing.T) {
	c := trace(7, life{capture.KindHeap, []uint64{ntdll, code}, allocations.WindowUsage{AIFI: u(6, 600)}, 600})
	c.Trace.Exited, c.Trace.Teardown = 9_000_000_000, 8_900_000_000
	v := &allocations.Survival{Over: c.Trace.Teardown}
	for _, b := range []int{3, 30, 50} {
		v.Born[b], v.Left[b], v.LeftBytes[b] = 2, 2, 200
	}
	c.Sites[0].Life.Survival = v
	r := analyze(t, inputs(c))
	if s := r.Verdict.Sentence; r.Findings[0].Verdict != analysis.ClassGrowing || strings.Contains(s, "less") ||
		!strings.Contains(s,
			"before the process freed its memory, the most, 600 B in 6 blocks, was held from app+0x1000") {
		t.Errorf("%s", s)
	}
}

// One block is no growth, even if other sites could not be judged.
func TestSitesWithoutSurvival(t *testing.T) {
	c := trace(7, life{capture.KindHeap, []uint64{ntdll, code}, allocations.WindowUsage{AIFO: u(1, 100)}, 100})
	c.Trace.SurvivalsBeyond = 5
	if r := analyze(t, inputs(c)); r.Sites[0].Verdict != analysis.ClassOneTime ||
		r.Verdict.Status != analysis.StatusNoLeak {
		t.Errorf("%s, %+v", r.Sites[0].Verdict, r.Verdict)
	}
}

// Snapshots beside a trace prove a leak that the trace does not show, unless the snapshots have losses.
func TestOtherKindWithLosses(t *testing.T) {
	in := func(damaged bool) []analysis.Input {
		var list []*capture.Capture
		for k := range 12 {
			list = append(list, listed(0, 100+50*k, 0x20))
		}
		if damaged {
			list[2].Warnings = append(list[2].Warnings,
				capture.Warning{Code: capture.Truncated, Message: "the log is cut", Count: 1})
		}
		return inputs(append(list,
			trace(app.pid, life{capture.KindHeap, []uint64{ntdll, code}, allocations.WindowUsage{AIFI: u(64, 6400)}, 300}))...)
	}
	if r := analyze(t, in(false)); r.Verdict.Status != analysis.StatusLeak || codes(r) != "" {
		t.Errorf("%+v, %s", r.Verdict, codes(r))
	}
	r := analyze(t, in(true))
	if f := r.Findings[0]; r.Verdict.Status != analysis.StatusInconclusive || f.Certain ||
		f.Verdict != analysis.ClassGrowing || codes(r) != "unsupported" ||
		!strings.Contains(r.Warnings[0].Message, "confirms no leak (truncated): the log is cut") {
		t.Errorf("%+v, %+v", r.Verdict, r.Warnings)
	}
}

// Snapshots without inlined calls show the findings that a trace has with inlined calls.
func TestOtherKindWithoutInlinedCalls(t *testing.T) {
	const stack = "ntdll!RtlAllocateHeap ~app!Batch app!Add ~app!Each app!Collect app!main"
	c := named(stack, true)
	traced := trace(1)
	c.Kind, c.Shape, c.Trace, c.Snapshots = traced.Kind, traced.Shape, traced.Trace, traced.Snapshots
	c.Sites[0].Usage = make([]capture.Usage, len(c.Snapshots))
	c.Sites[0].Life = &capture.Life{Usage: allocations.WindowUsage{AIFI: u(9, 90)}}
	list := []*capture.Capture{c}
	for k := range 6 {
		bare := named(stack, false)
		bare.Sites[0].Usage[0] = capture.Usage{Count: int64(100 * k), Bytes: int64(6400 * k)}
		list = append(list, bare)
	}
	if r := analyze(t, inputs(list...)); len(r.Findings) != 1 || len(r.Findings[0].ByKind) != 2 {
		t.Errorf("%d findings, the first %+v", len(r.Findings), r.Findings[0])
	}
}

// What a place held most is of the life that is judged, at whichever of its instants.
func TestMostHeld(t *testing.T) {
	for name, test := range map[string]struct {
		captures []*capture.Capture
		most     int64
	}{
		"in the middle":      {grown(10, 5, 900, 7, 20, 11), 900},
		"at the end":         {grown(10, 5, 6, 7), 7},
		"of two lives":       {append(grown(10, 1000, 1000), grown(11, 10, 90, 50)...), 90},
		"of one snapshot":    {grown(10, 5), 5},
		"of two, it is less": {grown(10, 9, 5), 9},
	} {
		if got := analyze(t, inputs(test.captures...)).Findings[0].MostHeld; got != test.most {
			t.Errorf("%s: %d, want %d", name, got, test.most)
		}
	}
}

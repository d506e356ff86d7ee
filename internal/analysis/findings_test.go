package analysis_test

import (
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
)

// listed is a snapshot with a list of n blocks of 64 bytes at consecutive addresses, numbered from first, all of one
// site.
func listed(first, n int, stack ...int64) *capture.Capture {
	c := app.snapshot(row{id: 1, stack: app.in(stack...), count: int64(n), bytes: int64(64 * n)})
	c.Blocks = capture.Blocks{}
	for i := range n {
		c.Blocks.Add(capture.Block{Site: 0, Address: 0x100000 + uint64(first+i)*0x80, Size: 64})
	}
	return c
}

// Growth whose blocks stay is a leak; growth whose blocks are always new is memory in use.
func TestSurvivorsAcquit(t *testing.T) {
	var stay, pass []*capture.Capture
	for k := range 12 {
		stay = append(stay, listed(0, 100+50*k, 0x20))
		pass = append(pass, listed(1000*k, 100+50*k, 0x20))
	}
	if f := analyze(t, inputs(stay...)).Findings[0]; f.Verdict != analysis.ClassLeak || !f.Certain {
		t.Errorf("what stays is %s, %+v", f.Verdict, f.Clauses)
	}
	if f := analyze(t, inputs(pass...)).Findings[0]; f.Verdict == analysis.ClassLeak || *f.Score > 0.1 {
		t.Errorf("what does not stay is %s with %f", f.Verdict, *f.Score)
	}
}

// Growth is counted by work if every snapshot has a counter of work, and by time if one lacks it.
func TestWorkAxis(t *testing.T) {
	in := func() []analysis.Input {
		var list []*capture.Capture
		for k := range 12 {
			list = append(list, app.snapshot(row{id: 1, stack: app.in(0x20), count: int64(10 + 300*k),
				bytes: int64(64 * (10 + 300*k))}))
		}
		in := inputs(list...)
		for k := range in {
			in[k].Work = new(float64(k * 100))
		}
		return in
	}
	report := func(in []analysis.Input) *analysis.Report {
		t.Helper()
		r, err := analysis.Analyze(t.Context(), in, analysis.Options{WorkUnit: "document"})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := report(in())
	if rate := r.Findings[0].Rate; r.Work == nil || rate == nil || rate.Unit != "document" || rate.Count < 2.9 ||
		rate.Count > 3.1 || !strings.Contains(r.Verdict.Sentence, "per document") {
		t.Errorf("%+v, %+v: %s", r.Work, rate, r.Verdict.Sentence)
	}
	missing := in()
	missing[3].Work = nil
	if r := report(missing); r.Work != nil || r.Findings[0].Rate.Unit == "document" {
		t.Errorf("a counter is missing: %+v", r.Work)
	}
	falls := in()
	falls[3].Work = new(7.0)
	if r := report(falls); r.Work != nil || codes(r) != "clock-disorder" {
		t.Errorf("the counter falls: %+v, %s", r.Work, codes(r))
	}
}

// Only the longest life of a process is judged: growth from one life to another does not count.
func TestGrowthOverARestart(t *testing.T) {
	var list []*capture.Capture
	for k := range 7 {
		p := app
		if k >= 2 {
			p.pid = 11
		}
		list = append(list, p.snapshot(row{id: 1, stack: p.in(0x20), count: int64(1000 * (k + 1)),
			bytes: int64(64000 * (k + 1))}))
	}
	r := analyze(t, inputs(list...))
	if f := r.Findings[0]; f.Verdict != analysis.ClassLeak || f.Clauses[0].Rule != "snapshots" ||
		!strings.HasPrefix(f.Clauses[0].Text, "5 snapshots") {
		t.Errorf("%s, %+v", f.Verdict, f.Clauses)
	}
}

// Sites of one signature are one finding, whatever their heaps and lines. The gravest of the sites, and all of them
// together, decide its verdict.
func TestFindingsJoinSites(t *testing.T) {
	var list []*capture.Capture
	for k := range 12 {
		list = append(list, app.snapshot(
			row{id: 1, stack: app.in(-0x10, 0x20), heap: 0, count: int64(100 * k), bytes: int64(6400 * k)},
			row{id: 2, stack: app.in(-0x10, 0x20), heap: 1, count: 5, bytes: 500},
			row{id: 3, stack: app.in(-0x10, 0x40), heap: 1, count: 7, bytes: 700}))
	}
	r := analyze(t, inputs(list...))
	if len(r.Sites) != 3 || len(r.Findings) != 2 {
		t.Fatalf("%d sites, %d findings", len(r.Sites), len(r.Findings))
	}
	leak := r.Findings[0]
	if leak.Sites != 2 || leak.Verdict != analysis.ClassLeak || leak.Outstanding.Bytes != 6400*11+500 ||
		leak.Growth.Count != 1100 || !leak.Provisional || leak.Signature != r.Sites[0].Signature {
		t.Errorf("%+v", leak)
	}
	if r.Findings[1].Verdict != analysis.ClassStable || r.Findings[1].Clauses != nil || r.Verdict.Leaks != 1 {
		t.Errorf("%+v, %+v", r.Findings[1], r.Verdict)
	}
}

// Rules name the owner of a leak and make it known; known leaks are counted and decide nothing.
func TestKnownLeaksDecideNothing(t *testing.T) {
	rules, err := blame.ParseRules(`module:app -> owner=us known="see #7"`)
	if err != nil {
		t.Fatal(err)
	}
	var list []*capture.Capture
	for k := range 12 {
		list = append(list, listed(0, 100+50*k, 0x20))
	}
	r, err := analysis.Analyze(t.Context(), inputs(list...), analysis.Options{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Findings[0]; f.Owner != "us" || f.Known != "see #7" || f.Verdict != analysis.ClassLeak ||
		r.Verdict.Status != analysis.StatusNoLeak || r.Verdict.Known != 1 || r.Verdict.Leaks != 0 ||
		!strings.HasSuffix(r.Verdict.Sentence, "; 1 known site not counted.") {
		t.Errorf("%+v, %+v", f, r.Verdict)
	}
}

// named is a snapshot with names instead of addresses, as debuggers print it: with lines, and frames marked ~ for
// inlined calls.
func named(stack string, inlined bool) *capture.Capture {
	c := &capture.Capture{Kind: capture.KindUMDHSnapshot, Process: capture.Process{Name: "app.exe", PID: 1, Bits: 64},
		Snapshots: make([]capture.Snapshot, 1)}
	var frames []capture.FrameID
	for frame := range strings.FieldsSeq(stack) {
		inline := strings.HasPrefix(frame, "~")
		if inline && !inlined {
			continue
		}
		module, function, _ := strings.Cut(strings.TrimPrefix(frame, "~"), "!")
		frames = append(frames,
			c.Stacks.AddText(capture.FrameText{Module: module, Function: function, File: `c:\src\a.cpp`, Line: 3, Inline: inline}, 0))
	}
	c.Sites = []capture.Site{{Stack: c.Stacks.AddStack(frames), Heap: capture.NoHeap,
		Usage: []capture.Usage{{Count: 1, Bytes: 1}}}}
	return c
}

// A finding with inlined calls knows, as its outline, the signature that evidence without inlined calls gives it.
func TestOutline(t *testing.T) {
	const stack = "ntdll!RtlAllocateHeap ~app!Batch app!Add ~app!Each app!Collect app!main"
	full, bare := analyze(t, inputs(named(stack, true))).Findings[0], analyze(t, inputs(named(stack, false))).Findings[0]
	if full.Signature == bare.Signature || full.Outline != bare.Signature || bare.Outline != "" {
		t.Errorf("with inlined calls %s, outline %s; without %s, outline %q", full.Signature, full.Outline,
			bare.Signature, bare.Outline)
	}
	if full.Blame.Function != "Batch" || bare.Blame.Function != "Add" ||
		!slices.Equal(full.Frames, []string{"app!Batch", "app!Add", "app!Each", "app!Collect", "app!main"}) {
		t.Errorf("%+v %+v %q", full.Blame, bare.Blame, full.Frames)
	}
}

// survived is the survival of a site that kept one allocation from each bin of its window.
func survived(over int64) *allocations.Survival {
	v := &allocations.Survival{Over: over}
	for b := range v.Born {
		v.Born[b], v.Left[b], v.LeftBytes[b] = 1, 1, 64
	}
	return v
}

// Memory that a process frees only at its own end has leaked all the same.
func TestLeakOfAProcessThatFreesAllAtItsEnd(t *testing.T) {
	c := trace(7, life{capture.KindHeap, []uint64{ntdll, code}, allocations.WindowUsage{AIFI: u(70, 4480)}, 4480})
	c.Trace.Exited, c.Trace.Teardown = 9_900_000_000, 9_800_000_000
	c.Sites[0].Life.Survival = survived(c.Trace.Teardown)
	r := analyze(t, inputs(c))
	f := r.Findings[0]
	if f.Verdict != analysis.ClassLeak || f.GrowthBeforeExit() != (analysis.Amount{Count: 64, Bytes: 4096}) ||
		f.Growth.Bytes != 0 || *r.Trace.TeardownNS != 9_800_000_000 {
		t.Errorf("%+v, before the end %+v", f, f.GrowthBeforeExit())
	}
	if r.Verdict.Status != analysis.StatusLeak ||
		!strings.HasPrefix(r.Verdict.Sentence, "app.exe leaks 4.00 KB in 64 blocks from app+0x1000") {
		t.Errorf("%+v", r.Verdict)
	}
}

// A leak spread over many stacks is found although each stack keeps next to nothing.
func TestScatteredLeak(t *testing.T) {
	var lives []life
	for i := range 40 { // one block each, by stacks that differ in the allocator only
		lives = append(lives, life{capture.KindHeap, []uint64{ntdll + uint64(i)*16, code},
			allocations.WindowUsage{AIFO: u(1, 64), AIFI: u(9, 10)}, 64})
	}
	c := trace(7, lives...)
	c.Snapshots = c.Trace.Instants(41)
	for i := range c.Sites {
		c.Sites[i].Usage = make([]capture.Usage, 41)
		for k := i + 1; k < 41; k++ {
			c.Sites[i].Usage[k] = capture.Usage{Count: 1, Bytes: 64}
		}
	}
	r := analyze(t, inputs(c))
	if f := r.Findings[0]; len(r.Findings) != 1 || f.Sites != 40 || f.Verdict != analysis.ClassGrowing ||
		f.Certain || f.Growth.Count != 40 {
		t.Errorf("%d findings, the first %+v", len(r.Findings), r.Findings[0])
	}
	for i := range r.Sites {
		if r.Sites[i].Verdict != analysis.ClassOneTime {
			t.Errorf("site %d is %s", i, r.Sites[i].Verdict)
		}
	}
}

// A text without inlined calls shows the leak that a trace shows with inlined calls.
func TestOtherKindByOutline(t *testing.T) {
	const stack = "ntdll!RtlAllocateHeap ~app!Batch app!Add app!Collect app!main"
	c := trace(7, life{capture.KindHeap, []uint64{code}, allocations.WindowUsage{AIFO: u(1, 10)}, 10})
	full, bare := named(stack, true), named(stack, false)
	c.Stacks, c.Sites[0].Stack, c.Modules, c.Process.Name = full.Stacks, full.Sites[0].Stack, nil, full.Process.Name
	grown := named(stack, false)
	grown.Sites[0].Usage[0] = capture.Usage{Count: 50, Bytes: 500}
	r := analyze(t, inputs(bare, c, grown))
	if f := r.Findings[0]; len(r.Findings) != 1 || f.Outline == "" || len(f.ByKind) != 2 ||
		f.ByKind[1].Kind != "umdh-snapshot" || f.ByKind[1].Growth.Count != 49 {
		t.Errorf("%d findings, the first %+v", len(r.Findings), r.Findings[0])
	}
}

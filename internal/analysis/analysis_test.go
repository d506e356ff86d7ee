package analysis_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
)

// A row is one site of a test's snapshot: an id, the addresses of its stack, and what it holds.
type row struct {
	id    uint64
	stack []uint64
	alias [][]uint64
	heap  int32
	count int64
	bytes int64
}

// process is the program of a test: its id, and where its modules lie.
type process struct {
	pid            uint32
	image, library uint64 // bases
	name           string
}

var app = process{pid: 10, image: 0x400000, library: 0x7700_0000}

// in gives addresses in the image and the library by their offsets; library offsets are negative.
func (p process) in(offsets ...int64) []uint64 {
	var stack []uint64
	for _, o := range offsets {
		if o < 0 {
			stack = append(stack, p.library+uint64(-o))
		} else {
			stack = append(stack, p.image+uint64(o))
		}
	}
	return stack
}

func (p process) snapshot(rows ...row) *capture.Capture {
	name := p.name
	if name == "" {
		name = "app.exe"
	}
	c := &capture.Capture{
		Kind: capture.KindUMDHSnapshot, Process: capture.Process{Name: name, PID: p.pid, Bits: 32},
		Snapshots: make([]capture.Snapshot, 1),
		Modules: []capture.Module{
			{Path: `C:\app\` + name, Base: p.image, Size: 0x10000, Symbols: capture.SymbolsNone},
			{Path: `C:\Windows\ntdll.dll`, Base: p.library, Size: 0x10000, Symbols: capture.SymbolsNone},
		},
		Heaps: []capture.Heap{{Handle: uint64(p.pid)<<16 | 0x1000}, {Handle: uint64(p.pid)<<16 | 0x2000}},
	}
	for _, r := range rows {
		site := capture.Site{Stack: addStack(c, r.stack), Heap: r.heap, Trace: r.id,
			Usage: []capture.Usage{{Count: r.count, Bytes: r.bytes}}}
		for _, a := range r.alias {
			site.AliasStacks = append(site.AliasStacks, addStack(c, a))
		}
		c.Sites = append(c.Sites, site)
		for k := range max(r.count, 0) { // what is there stays where it is
			c.Blocks.Add(capture.Block{Site: uint32(len(c.Sites) - 1), Address: uint64(len(c.Sites))<<32 + uint64(k)<<16,
				Size: uint64(r.bytes / r.count)})
		}
	}
	return c
}

func addStack(c *capture.Capture, addresses []uint64) capture.StackID {
	var frames []capture.FrameID
	for _, a := range addresses {
		frames = append(frames, c.Stacks.AddAddress(a))
	}
	return c.Stacks.AddStack(frames)
}

func inputs(captures ...*capture.Capture) []analysis.Input {
	var list []analysis.Input
	for i, c := range captures {
		list = append(list, analysis.Input{Files: []analysis.File{{Name: fmt.Sprintf("snap%d.txt", i+1)}},
			Captures: []*capture.Capture{c}})
	}
	return list
}

func analyze(t *testing.T, in []analysis.Input) *analysis.Report {
	t.Helper()
	r, err := analysis.Analyze(t.Context(), in, analysis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// table prints the sites: blame, outstanding and growth, class, flags.
func table(r *analysis.Report) string {
	var b strings.Builder
	for i := range r.Sites {
		s := &r.Sites[i]
		growth := "none"
		if s.Growth != nil {
			growth = fmt.Sprintf("%+d/%+d", s.Growth.Count, s.Growth.Bytes)
		}
		fmt.Fprintf(&b, "%s %d/%d %s %s%s\n", s.Where(), s.Outstanding.Count, s.Outstanding.Bytes, growth, s.Verdict,
			strings.Join(append([]string{""}, s.Flags...), " "))
	}
	return b.String()
}

func codes(r *analysis.Report) string {
	var list []string
	for _, w := range r.Warnings {
		if w.Code != capture.NoSymbols {
			list = append(list, string(w.Code))
		}
	}
	return strings.Join(list, " ")
}

func TestMatching(t *testing.T) {
	restarted := process{pid: 20, image: 0x900000, library: 0x6600_0000}
	samePID := process{pid: 10, image: 0x900000, library: 0x7700_0000}
	for _, test := range []struct {
		name  string
		in    []*capture.Capture
		want  string
		codes string
		by    string
	}{
		{
			name: "one snapshot has no growth",
			in:   []*capture.Capture{app.snapshot(row{id: 1, stack: app.in(-0x10, 0x20), count: 2, bytes: 30})},
			want: "app+0x20 2/30 none unknown\n",
		},
		{
			name: "ids match within a process life",
			in: []*capture.Capture{
				app.snapshot(row{id: 1, stack: app.in(-0x10, 0x20), count: 2, bytes: 30},
					row{id: 2, stack: app.in(0x30), count: 1, bytes: 8}),
				app.snapshot(row{id: 2, stack: app.in(0x30), count: 1, bytes: 8},
					row{id: 1, stack: app.in(-0x10, 0x20), count: 5, bytes: 90}),
			},
			want: "app+0x20 5/90 +3/+60 growing\napp+0x30 1/8 +0/+0 stable\n", by: "id",
		},
		{
			name: "equal stacks under two ids are one site",
			in: []*capture.Capture{
				app.snapshot(row{id: 1, stack: app.in(0x20), count: 2, bytes: 30},
					row{id: 9, stack: app.in(0x20), count: 1, bytes: 10}),
				app.snapshot(row{id: 9, stack: app.in(0x20), count: 3, bytes: 40}),
			},
			want: "app+0x20 3/40 +0/+0 stable\n", by: "id",
		},
		{
			name: "the same stack in two heaps is two sites",
			in: []*capture.Capture{app.snapshot(row{id: 1, stack: app.in(0x20), count: 2, bytes: 30},
				row{id: 1, stack: app.in(0x20), heap: 1, count: 1, bytes: 40})},
			want: "app+0x20 1/40 none unknown\napp+0x20 2/30 none unknown\n",
		},
		{
			name: "a lost stack is found by its id",
			in: []*capture.Capture{
				app.snapshot(row{id: 1, count: 2, bytes: 30}),
				app.snapshot(row{id: 1, stack: app.in(0x20), count: 3, bytes: 40}),
			},
			want: "app+0x20 3/40 +1/+10 growing\n", by: "id",
		},
		{
			name: "no stack at all is one site per id, and one for those without an id",
			in: []*capture.Capture{app.snapshot(row{id: 1, count: 2, bytes: 30}, row{id: 2, count: 1, bytes: 20},
				row{count: 4, bytes: 5})},
			want: "allocations without a stack 2/30 none unknown no-stack\nallocations without a stack 1/20 none unknown no-stack\nallocations without a stack 4/5 none unknown no-stack\n",
		},
		{
			name: "another process is matched by module and offset, heaps by order",
			in: []*capture.Capture{
				app.snapshot(row{id: 1, stack: app.in(-0x10, 0x20), heap: 1, count: 2, bytes: 30}),
				restarted.snapshot(row{id: 7, stack: restarted.in(-0x10, 0x20), heap: 1, count: 3, bytes: 50}),
			},
			want: "app+0x20 3/50 +1/+20 unknown\n", codes: "pid-changed", by: "stack",
		},
		{
			name: "an id of another process means nothing",
			in: []*capture.Capture{
				app.snapshot(row{id: 1, stack: app.in(0x20), count: 2, bytes: 30}),
				restarted.snapshot(row{id: 1, stack: restarted.in(0x40), count: 3, bytes: 50}),
			},
			want: "app+0x40 3/50 +3/+50 unknown\napp+0x20 0/0 -2/-30 unknown\n", codes: "pid-changed", by: "stack",
		},
		{
			name: "a moved image is another life of the same process id",
			in: []*capture.Capture{
				app.snapshot(row{id: 1, stack: app.in(0x20), count: 2, bytes: 30}),
				samePID.snapshot(row{id: 5, stack: samePID.in(0x20), count: 3, bytes: 50}),
			},
			want: "app+0x20 3/50 +1/+20 unknown\n", codes: "module-moved", by: "stack",
		},
		{
			name: "aliases are flagged and not split",
			in: []*capture.Capture{
				app.snapshot(row{id: 1, stack: app.in(0x20), alias: [][]uint64{app.in(0x30)}, count: 2, bytes: 30}),
				app.snapshot(row{id: 1, stack: app.in(0x30), alias: [][]uint64{app.in(0x20)}, count: 3, bytes: 50}),
			},
			want: "app+0x30 3/50 +1/+20 growing ambiguous-stack\n", by: "id",
		},
		{
			name: "an id that is ambiguous in one snapshot is in all",
			in: []*capture.Capture{
				app.snapshot(row{id: 1, stack: app.in(0x20), count: 2, bytes: 30}),
				app.snapshot(row{id: 1, stack: app.in(0x20), alias: [][]uint64{app.in(0x30)}, count: 3, bytes: 50}),
			},
			want: "app+0x20 3/50 +1/+20 growing ambiguous-stack\n", by: "id",
		},
		{
			name: "an id that changes its stack is not trusted",
			in: []*capture.Capture{
				app.snapshot(row{id: 1, stack: app.in(0x20), count: 2, bytes: 30}),
				app.snapshot(row{id: 1, stack: app.in(0x30), count: 2, bytes: 30}),
			},
			want: "app+0x30 2/30 +2/+30 growing\napp+0x20 0/0 -2/-30 stable\n", codes: "inconsistent", by: "id",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := analyze(t, inputs(test.in...))
			if got := table(r); got != test.want {
				t.Errorf("sites:\n%swant:\n%s", got, test.want)
			}
			if got := codes(r); got != test.codes {
				t.Errorf("warnings %q, want %q", got, test.codes)
			}
			if r.MatchedBy != test.by {
				t.Errorf("matched by %q, want %q", r.MatchedBy, test.by)
			}
		})
	}
}

// Totals and heaps are sums over the sites, whatever the order of the rows in the evidence.
func TestTotalsAreSumsInAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var first, last []row
	for id := uint64(1); id <= 200; id++ {
		stack := app.in(int64(id%50), int64(id%7))
		first = append(first, row{id: id, stack: stack, heap: int32(id % 2), count: rng.Int64N(9), bytes: rng.Int64N(1000)})
		last = append(last, row{id: id, stack: stack, heap: int32(id % 2), count: rng.Int64N(9), bytes: rng.Int64N(1000)})
	}
	want := analyze(t, inputs(app.snapshot(first...), app.snapshot(last...)))
	for range 5 {
		rng.Shuffle(len(first), func(i, j int) { first[i], first[j] = first[j], first[i] })
		rng.Shuffle(len(last), func(i, j int) { last[i], last[j] = last[j], last[i] })
		r := analyze(t, inputs(app.snapshot(first...), app.snapshot(last...)))
		if !reflect.DeepEqual(r.Totals, want.Totals) || table(r) != table(want) {
			t.Fatal("the order of the rows changes the result")
		}
		var sites, heaps, growth int64
		for i := range r.Sites {
			sites += r.Sites[i].Outstanding.Bytes
			growth += r.Sites[i].Growth.Bytes
		}
		for _, h := range r.Heaps {
			heaps += h.Outstanding.Bytes
		}
		if total := r.Totals.Heap; sites != total.Outstanding.Bytes || heaps != sites || growth != total.Growth.Bytes ||
			r.Snapshots[1].Bytes != sites {
			t.Errorf("sites %d, heaps %d, total %+v, snapshot %+v", sites, heaps, total, r.Snapshots[1])
		}
	}
}

func TestVerdict(t *testing.T) {
	grow := func(n int, step int64) []analysis.Input {
		var list []*capture.Capture
		for i := range n {
			list = append(list, app.snapshot(row{id: 1, stack: app.in(-0x10, 0x20), count: 10 + int64(i)*step,
				bytes: 1024 * (10 + int64(i)*step)}))
		}
		return inputs(list...)
	}
	cut := grow(5, 0)
	cut[4].Captures[0].Snapshots[0].LowerBound = true
	cut[4].Captures[0].Warnings = []capture.Warning{{Code: capture.Truncated, Message: "cut", Count: 1}}
	for _, test := range []struct {
		name    string
		in      []analysis.Input
		status  analysis.VerdictStatus
		missing int
		says    string
	}{
		{"one", grow(1, 1), analysis.StatusInconclusive, 4,
			"app.exe holds 10.0 KB in 10 blocks in one snapshot, all from app+0x20; take 4 more snapshots of this process to detect leaks, 9 more to be certain."},
		{"three", grow(3, 2), analysis.StatusInconclusive, 2,
			"app.exe grew by 4.00 KB in 4 blocks over 3 snapshots; the most, 4.00 KB in 4 blocks, from app+0x20; take 2 more snapshots of this process to detect leaks, 7 more to be certain."},
		{"four that do not grow", grow(4, 0), analysis.StatusNoLeak, 0, "no site keeps growing over 4 snapshots"},
		{"five that do not grow", grow(5, 0), analysis.StatusNoLeak, 0,
			"no leak found; no leak can be certain with fewer than 10 snapshots."},
		{"nine that do not grow", grow(9, 0), analysis.StatusNoLeak, 0,
			"no leak found; no leak can be certain with fewer than 10 snapshots."},
		{"ten that do not grow", grow(10, 0), analysis.StatusNoLeak, 0,
			"no leak found; the evidence would detect a steady leak of 13 blocks/snapshot (about 13 KB/snapshot) or faster with 90 % probability."},
		{"five that grow by less than matters", grow(5, 1), analysis.StatusNoLeak, 0,
			"no leak of 8.00 KB per run or more found; growing sites are expected to leak"},
		{"five that grow", grow(5, 3), analysis.StatusInconclusive, 0,
			"1 site probably leaking: take 5 more snapshots of this process to be certain."},
		{"six that grow", grow(6, 100), analysis.StatusInconclusive, 0,
			"1 site probably leaking: take 4 more snapshots of this process to be certain."},
		{"twelve that grow", grow(12, 100), analysis.StatusLeak, 0,
			"app.exe leaks 1.07 MB in 1,100 blocks from app+0x20, 100 KB per snapshot."},
		{"five, one cut short", cut, analysis.StatusInconclusive, 0, "the evidence does not suffice (truncated): record the run again; the warnings list the losses."},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := analyze(t, test.in).Verdict
			if v.Status != test.status || v.SnapshotsMissing != test.missing || !strings.Contains(v.Sentence, test.says) {
				t.Errorf("got %+v\nwant %s, %d missing, saying %q", v, test.status, test.missing, test.says)
			}
		})
	}
}

// Evidence whose verdict is inconclusive whatever leaks is said to have seen no leak of any size.
func TestPowerOfLossyEvidence(t *testing.T) {
	for name, test := range map[string]struct {
		change func(last *capture.Capture)
		shows  bool
	}{
		"whole": {func(*capture.Capture) {}, true},
		"cut": {func(c *capture.Capture) {
			c.Warnings = []capture.Warning{{Code: capture.Truncated, Message: "cut", Count: 1}}
		}, false},
		"of another process": {func(c *capture.Capture) { c.Process.PID++ }, false},
	} {
		var list []*capture.Capture
		for range 11 {
			list = append(list, app.snapshot(row{id: 1, stack: app.in(-0x10, 0x20), count: 10, bytes: 1024}))
		}
		test.change(list[10])
		if r := analyze(t, inputs(list...)); (r.Power != nil) != test.shows {
			t.Errorf("%s: %+v", name, r.Power)
		}
	}
}

func TestChoiceOfProcess(t *testing.T) {
	small := app.snapshot(row{id: 1, stack: app.in(0x20), count: 1, bytes: 10})
	other := process{pid: 99, image: 0x500000, library: 0x7700_0000, name: "Other.exe"}
	big := other.snapshot(row{id: 1, stack: other.in(0x20), count: 1, bytes: 1000})
	for want, process := range map[string]string{"Other.exe": "", "app.exe": "10", "app.EXE": "app"} {
		r, err := analysis.Analyze(t.Context(), inputs(small, big), analysis.Options{Process: process})
		if err != nil || !strings.EqualFold(r.Process.Name, want) {
			t.Errorf("--process %q: %v %v, want %s", process, r, err, want)
		}
	}
	if r := analyze(t, inputs(small, big)); codes(r) != "several-processes" || r.Evidence[0].Used || !r.Evidence[1].Used {
		t.Errorf("%s %+v", codes(r), r.Evidence)
	}
	_, err := analysis.Analyze(t.Context(), inputs(small), analysis.Options{Process: "nobody"})
	var refused *analysis.Error
	if !errors.As(err, &refused) || refused.Code != "no-such-process" ||
		!strings.Contains(err.Error(), "app.exe (PID 10)") {
		t.Errorf("unknown process: %v", err)
	}
	if _, err := analysis.Analyze(t.Context(), nil, analysis.Options{}); !errors.As(err, &refused) ||
		refused.Code != "no-captures" {
		t.Errorf("no input: %v", err)
	}
}

// difference is a capture of the changed rows between two instants.
func difference(rows ...[2]capture.Usage) *capture.Capture {
	c := &capture.Capture{Kind: capture.KindUMDHDiff, Shape: capture.ShapeDifference,
		Snapshots: make([]capture.Snapshot, 2)}
	for i, usage := range rows {
		frame := c.Stacks.AddText(capture.FrameText{Module: "app", Function: fmt.Sprintf("f%d", i), Offset: 4,
			File: `c:\a.cpp`, Line: 7}, 0)
		c.Sites = append(c.Sites,
			capture.Site{Stack: c.Stacks.AddStack([]capture.FrameID{frame}), Heap: capture.NoHeap, Usage: usage[:]})
	}
	return c
}

func TestDifferences(t *testing.T) {
	d := difference([2]capture.Usage{{Count: 1, Bytes: 10}, {Count: 4, Bytes: 40}},
		[2]capture.Usage{{Count: 1, Bytes: 10}, {}})
	if got, want := table(analyze(t, inputs(d))),
		"app!f0 (a.cpp:7) 4/40 +3/+30 growing\napp!f1 (a.cpp:7) 0/0 -1/-10 stable\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	first := difference([2]capture.Usage{{}, {Count: 1, Bytes: 1}})
	r := analyze(t, inputs(first, d))
	if codes(r) != "unsupported" || len(r.Snapshots) != 2 || r.Totals.Heap.Growth.Bytes != 20 {
		t.Errorf("two differences: %s, %+v", codes(r), r.Totals)
	}
	mixed := app.snapshot(row{id: 1, stack: app.in(0x20), count: 1, bytes: 10})
	mixed.Process.Name = ""
	if r := analyze(t, inputs(d, mixed)); codes(r) != "unsupported" || len(r.Snapshots) != 1 {
		t.Errorf("a difference beside a snapshot: %s, %d snapshots", codes(r), len(r.Snapshots))
	}
}

func TestLayers(t *testing.T) {
	for _, test := range []struct {
		name  string
		stack string // outermost last
		want  string // one letter a frame: a allocator, b base, p app, t third party, s system, i instrumentation
	}{
		{"usual", "ntdll!RtlAllocateHeap ucrtbase!_malloc_base ucrtbase!malloc app!operator new app!operator new[] app!Foo app!main app!__scrt_common_main_seh kernel32!BaseThreadInitThunk ntdll!RtlUserThreadStart", "aaaaattbbb"},
		{"debug run time", "ntdll!RtlDebugAllocateHeap ntdll!RtlAllocateHeapSlowly ntdll!RtlAllocateHeap MSVCR80D!_heap_alloc_base MSVCR80D!_heap_alloc_dbg MSVCR80D!_nh_malloc_dbg MSVCR80D!malloc Test!readdir", "iaaaaaat"},
		{"nothing but the allocator", "ntdll!RtlAllocateHeap ntdll!RtlpAllocateHeap", "aa"},
		{"allocator in the middle is no allocator frame", "ntdll!RtlAllocateHeap app!Foo ucrtbase!malloc app!main", "atst"},
		{"nothing but thread start", "kernel32!BaseThreadInitThunk ntdll!RtlUserThreadStart", "bb"},
		{"without names", "ntdll! ucrtbase! app! app! kernel32! ntdll!", "aattbb"},
	} {
		c := difference()
		c.Snapshots = c.Snapshots[:1]
		c.Shape = capture.ShapeSnapshot
		var frames []capture.FrameID
		for _, f := range strings.Split(strings.ReplaceAll(test.stack, "operator new", "operator_new"), " ") {
			module, function, _ := strings.Cut(strings.ReplaceAll(f, "operator_new", "operator new"), "!")
			frames = append(frames,
				c.Stacks.AddText(capture.FrameText{Module: module, Function: function, Offset: uint64(len(frames))}, 0))
		}
		c.Sites = []capture.Site{{Stack: c.Stacks.AddStack(frames), Heap: capture.NoHeap,
			Usage: []capture.Usage{{Count: 1, Bytes: 1}}}}
		got := ""
		r := analyze(t, inputs(c))
		for _, f := range r.Stack(r.Sites[0].Stack) {
			got += map[analysis.Layer]string{"alloc": "a", "base": "b", "system": "s", "third-party": "t",
				"app": "p", "tool": "i"}[f.Layer]
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestNamesInTheEvidenceAreSaidOfTheirModules(t *testing.T) {
	c := app.snapshot(row{id: 1, stack: app.in(-0x10), count: 1, bytes: 1})
	frame := c.Stacks.AddText(capture.FrameText{Module: "APP", Function: "main"}, 0)
	c.Sites = append(c.Sites, capture.Site{Stack: c.Stacks.AddStack([]capture.FrameID{frame}), Heap: capture.NoHeap,
		Usage: []capture.Usage{{Count: 1, Bytes: 1}}})
	r := analyze(t, inputs(c))
	if r.Modules[0].Symbols != capture.SymbolsText || r.Modules[1].Symbols != capture.SymbolsNone {
		t.Errorf("%+v", r.Modules)
	}
}

func TestTruncatedStacks(t *testing.T) {
	deep := func(n int, outer int64) []uint64 {
		offsets := make([]int64, n)
		for i := range offsets {
			offsets[i] = int64(i + 1)
		}
		offsets[n-1] = outer
		return app.in(offsets...)
	}
	for name, test := range map[string]struct {
		stack []uint64
		want  bool
	}{
		"32 frames": {deep(32, -1), true}, "31 frames": {deep(31, 99), false},
		"16 frames that end in code": {deep(16, 99), true}, "16 frames that end in the thread's start": {deep(16, -1), false},
	} {
		r := analyze(t, inputs(app.snapshot(row{id: 1, stack: test.stack, count: 1, bytes: 1})))
		if got := slices.Contains(r.Sites[0].Flags, analysis.FlagTruncated); got != test.want {
			t.Errorf("%s: truncated is %v", name, got)
		}
	}
}

func TestClockAgainstOrder(t *testing.T) {
	one, two := app.snapshot(row{id: 1, stack: app.in(1), count: 1, bytes: 1}),
		app.snapshot(row{id: 1, stack: app.in(1), count: 2, bytes: 2})
	one.Snapshots[0].TakenAt = time.Date(2025, 3, 4, 12, 10, 0, 0, time.UTC)
	two.Snapshots[0].TakenAt = time.Date(2025, 3, 4, 12, 9, 0, 0, time.UTC)
	if r := analyze(t, inputs(one, two)); codes(r) != "clock-disorder" || r.Totals.Heap.Growth.Bytes != 1 {
		t.Errorf("%s %+v: the order given must be kept and said", codes(r), r.Totals.Heap)
	}
	two.Snapshots[0].TakenAt = one.Snapshots[0].TakenAt
	if r := analyze(t, inputs(one, two)); codes(r) != "" {
		t.Errorf("equal minutes are no disorder: %s", codes(r))
	}
}

func TestContextEndsAnalysis(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := analysis.Analyze(ctx, inputs(app.snapshot(row{id: 1, stack: app.in(1), count: 1, bytes: 1})),
		analysis.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestJSONRoundTrip(t *testing.T) {
	r := analyze(t, inputs(
		app.snapshot(row{id: 0xAB, stack: app.in(-0x10, 0x20), alias: [][]uint64{app.in(0x30)}, count: 2, bytes: 30}),
		app.snapshot(row{id: 0xAB, stack: app.in(-0x10, 0x20), count: 5, bytes: 90}, row{count: 1, bytes: 4})))
	var first, second bytes.Buffer
	if err := r.WriteJSON(&first); err != nil {
		t.Fatal(err)
	}
	read, err := analysis.ReadJSON(bytes.NewReader(first.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := read.WriteJSON(&second); err != nil {
		t.Fatal(err)
	}
	if first.String() != second.String() {
		t.Errorf("wrote\n%s\nread and wrote\n%s", &first, &second)
	}
	if _, err := analysis.ReadJSON(strings.NewReader(`{"schema":"other/v1","sites":[]}`)); err == nil {
		t.Error("a foreign schema was read")
	}
	if _, err := analysis.ReadJSON(bytes.NewReader(first.Bytes()[:first.Len()/2])); err == nil {
		t.Error("a cut report was read")
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1023: "1,023 B", 1024: "1.00 KB", 10188: "9.95 KB", 10 << 10: "10.0 KB",
		102348: "99.9 KB", 102350: "100 KB",
		1 << 20: "1.00 MB", 1023 << 10: "1.00 MB", 8601600: "8.20 MB", -2048: "−2.00 KB", -5: "−5 B", 1<<63 - 1: "8388608 TB",
		-1 << 63: "−8388608 TB",
	} {
		if got := quantity.Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "−1,000",
		-1 << 63: "−9,223,372,036,854,775,808"} {
		if got := quantity.Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

// BenchmarkAnalyze merges five snapshots of 100,000 stacks.
func BenchmarkAnalyze(b *testing.B) {
	rng := rand.New(rand.NewPCG(3, 4))
	var rows []row
	for id := uint64(1); id <= 100_000; id++ {
		var stack []int64
		for range 20 {
			stack = append(stack, rng.Int64N(0x10000))
		}
		rows = append(rows, row{id: id, stack: app.in(stack...), count: 1, bytes: 64})
	}
	var list []*capture.Capture
	for range 5 {
		list = append(list, app.snapshot(rows...))
	}
	b.ResetTimer()
	for b.Loop() {
		if _, err := analysis.Analyze(b.Context(), inputs(list...), analysis.Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*500_000/b.Elapsed().Seconds(), "sites/s")
}

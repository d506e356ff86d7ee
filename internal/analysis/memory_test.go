package analysis_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// dump is a snapshot as a dump of the process gives it.
func (p process) dump(rows ...row) *capture.Capture {
	c := p.snapshot(rows...)
	c.Kind, c.Memory = capture.KindMinidump, &capture.Memory{Source: "dump"}
	return c
}

// facts is evidence without sites.
func facts(m capture.Memory) *capture.Capture {
	return &capture.Capture{Kind: capture.KindWinDbg, Shape: capture.ShapeFacts,
		Snapshots: make([]capture.Snapshot, 1), Memory: &m}
}

func heapOf(committed, busy int64) []capture.HeapFacts {
	return []capture.HeapFacts{{Handle: 0x1000, Kind: "NT heap", Reserved: 1 << 20, Committed: committed,
		Busy: capture.Usage{Count: busy / 16, Bytes: busy}}}
}

func TestKindsAreSeriesOfTheirOwn(t *testing.T) {
	log := func(n int64) *capture.Capture {
		return app.snapshot(row{id: 1, stack: app.in(0x20), count: n, bytes: 16 * n})
	}
	dump := app.dump(row{stack: app.in(0x20), count: 30, bytes: 480}, row{stack: app.in(0x30), count: 7, bytes: 70})
	bare := app.dump(row{count: 99, bytes: 9900})
	bare.Kind = capture.KindDebugDiag
	for _, test := range []struct {
		name string
		in   []*capture.Capture
		want string // kinds of the report's instants, and of the witnesses of its first finding
	}{
		{"most instants", []*capture.Capture{dump, log(10), log(20)}, "2 umdh-snapshot minidump"},
		{"stacks before instants", []*capture.Capture{bare, bare, bare, dump}, "1 minidump"},
		{"most bytes", []*capture.Capture{log(10), dump}, "1 minidump umdh-snapshot"},
	} {
		r := analyze(t, inputs(test.in...))
		got := string("0123456789"[len(r.Snapshots)])
		for _, w := range r.Findings[0].ByKind {
			got += " " + w.Kind
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		if len(r.Evidence) != len(test.in) ||
			slices.ContainsFunc(r.Evidence, func(e analysis.Evidence) bool { return !e.Used }) {
			t.Errorf("%s: %+v", test.name, r.Evidence)
		}
	}
}

func TestFactsBelongToTheRun(t *testing.T) {
	one, two := facts(capture.Memory{Source: "WinDbg !heap -s", Heaps: heapOf(4096, 1600)}),
		facts(capture.Memory{Source: "WinDbg !heap -s", Heaps: heapOf(12288, 8000)})
	log := app.snapshot(row{id: 1, stack: app.in(0x20), count: 10, bytes: 160})
	r := analyze(t, inputs(one, log, two))
	if len(r.Snapshots) != 1 || r.Totals.Heap.Outstanding.Bytes != 160 || r.Process.PID != app.pid {
		t.Errorf("facts count as an instant: %+v %+v", r.Snapshots, r.Totals)
	}
	if len(r.Memory) != 2 || r.Memory[0].File != "snap1.txt" || r.Memory[1].File != "snap3.txt" ||
		r.Memory[0].Heaps[0].Growth != nil {
		t.Fatalf("%+v", r.Memory)
	}
	if g := r.Memory[1].Heaps[0].Growth; g == nil || g.Committed != 8192 || g.Reserved != 0 ||
		*g.Busy != (capture.Usage{Count: 400, Bytes: 6400}) {
		t.Errorf("growth of the heap: %+v", g)
	}
	if two.Memory.Heaps[0].Growth != nil {
		t.Error("the capture was changed")
	}
	var text bytes.Buffer
	if err := r.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	if again, err := analysis.ReadJSON(&text); err != nil || again.Memory[1].Heaps[0].Growth.Committed != 8192 ||
		again.Memory[1].Source != "WinDbg !heap -s" {
		t.Errorf("%v %+v", err, again)
	}
}

func TestNothingButFacts(t *testing.T) {
	log := analysis.Input{Files: []analysis.File{{Name: "session.log"}},
		Captures: []*capture.Capture{facts(capture.Memory{Heaps: heapOf(4096, 1600)}),
			facts(capture.Memory{Heaps: heapOf(8192, 1600)})}}
	if m := analyze(t, []analysis.Input{log}).Memory; len(m) != 2 || m[0].Heaps[0].Growth != nil ||
		m[1].Heaps[0].Growth.Committed != 4096 {
		t.Errorf("two looks in one log: %+v", m)
	}
	r := analyze(t, inputs(facts(capture.Memory{Heaps: heapOf(4096, 1600)})))
	if r.Verdict.Status != analysis.StatusInconclusive || !strings.Contains(r.Verdict.Sentence, "lists no allocations") ||
		len(r.Memory) != 1 || len(r.Sites) != 0 {
		t.Errorf("%+v", r.Verdict)
	}
	other := facts(capture.Memory{})
	other.Process = capture.Process{Name: "other.exe", PID: 7}
	if r := analyze(t, inputs(other,
		app.snapshot(row{id: 1, stack: app.in(1), count: 1, bytes: 1}))); r.Process.Name != "app.exe" || len(r.Memory) != 0 ||
		codes(r) != "several-processes" {
		t.Errorf("facts of another program: %s %s, %d", r.Process.Name, codes(r), len(r.Memory))
	}
}

// Growth of a heap is measured from the first snapshot that counted it.
func TestHeapsGrowAgainstWhatWasCounted(t *testing.T) {
	space, one, two := facts(capture.Memory{Space: &capture.Space{}}), facts(capture.Memory{Heaps: heapOf(4096, 1600)}),
		facts(capture.Memory{Heaps: heapOf(8192, 3200)})
	m := analyze(t, inputs(space, one, two)).Memory
	if m[1].Heaps[0].Growth != nil || m[2].Heaps[0].Growth.Committed != 4096 || m[2].Heaps[0].Growth.Busy.Bytes != 1600 {
		t.Errorf("%+v", m)
	}
	one.Memory.Gaps = []capture.Gap{{What: "segment", Heap: 0x1000, Bytes: 4096}}
	if g := analyze(t, inputs(one, two)).Memory[1].Heaps[0].Growth; g.Committed != 4096 || g.Busy != nil {
		t.Errorf("a heap that was not wholly walked grew by %+v", g)
	}
}

// A warning about evidence that the verdict does not use does not undo the verdict.
func TestFactsLimitNoVerdict(t *testing.T) {
	var logs []*capture.Capture
	for n := range int64(12) {
		logs = append(logs, app.snapshot(row{id: 1, stack: app.in(0x20), count: 100 * (n + 1), bytes: 1600 * (n + 1)}))
	}
	odd := facts(capture.Memory{})
	odd.Warnings = []capture.Warning{{Code: capture.Malformed, Message: "one odd line", Count: 1}}
	alone, beside := analyze(t, inputs(logs...)), analyze(t, inputs(append(logs, odd)...))
	if alone.Verdict.Status != analysis.StatusLeak || beside.Verdict.Status != analysis.StatusLeak ||
		codes(beside) != "unsupported" {
		t.Errorf("alone %+v, beside %+v, %s", alone.Verdict, beside.Verdict, codes(beside))
	}
}

// Private memory grows if more of it is committed, although the number of reservations stays.
func TestVirtualMemoryGrowsByPages(t *testing.T) {
	var list []*capture.Capture
	for n := range int64(12) {
		c := app.dump(row{id: 1, stack: app.in(0x20), count: 4, bytes: 64})
		c.Sites = append(c.Sites, capture.Site{Heap: capture.NoHeap, Kind: capture.KindVirtual,
			Usage: []capture.Usage{{Count: 3, Bytes: (n + 1) * 100 << 20}}})
		list = append(list, c)
	}
	for _, f := range analyze(t, inputs(list...)).Findings {
		if f.Kind == "virtual" && !f.Verdict.IsSuspect() {
			t.Errorf("700 MB more are %s", f.Verdict)
		}
	}
}

func TestFactsOfAnotherProcess(t *testing.T) {
	other := facts(capture.Memory{Heaps: heapOf(4096, 1600)})
	other.Process.PID = app.pid + 1
	if r := analyze(t, inputs(app.snapshot(row{id: 1, stack: app.in(1), count: 1, bytes: 1}),
		other)); len(r.Memory) != 0 || codes(r) != "several-processes" {
		t.Errorf("%d pieces, %s", len(r.Memory), codes(r))
	}
}

func TestGroupsGrow(t *testing.T) {
	group := func(size, count int64) capture.BlockGroup {
		return capture.BlockGroup{By: capture.BySize, Size: size, Usage: capture.Usage{Count: count, Bytes: size * count}}
	}
	first := facts(capture.Memory{Groups: []capture.BlockGroup{group(16, 10), group(32, 5)}})
	last := facts(capture.Memory{Groups: []capture.BlockGroup{group(32, 9), group(16, 10), group(48, 3)}})
	got := func() (list []int64) {
		for _, g := range analyze(t, inputs(first, last)).Memory[1].Groups {
			if g.Growth == nil {
				list = append(list, -1)
				continue
			}
			list = append(list, g.Growth.Count)
		}
		return list
	}
	if list := got(); !slices.Equal(list, []int64{4, 0, 3}) {
		t.Errorf("growth %v", list)
	}
	first.Memory.Cut = []string{capture.BySize}
	if list := got(); !slices.Equal(list, []int64{4, 0, -1}) {
		t.Errorf("growth of a size that may have been left out: %v", list)
	}
}

// withBlocks gives addresses to the blocks of a snapshot with one site of 16-byte blocks.
func withBlocks(c *capture.Capture, addresses ...uint64) *capture.Capture {
	c.Blocks = capture.Blocks{}
	for _, a := range addresses {
		c.Blocks.Add(capture.Block{Address: a, Size: 16})
	}
	return c
}

func TestUnreachableBlocksFindTheirStacks(t *testing.T) {
	log := func() *capture.Capture {
		return withBlocks(app.snapshot(row{id: 1, stack: app.in(0x20), count: 4, bytes: 64}), 0x1000, 0x1020, 0x1040, 0x1060)
	}
	listed := func(size int64, addresses ...uint64) *capture.Capture {
		m := capture.Memory{Reach: &capture.PointerSearch{}}
		for _, a := range addresses {
			m.Samples = append(m.Samples, capture.Sample{Address: a, Size: size, Unreachable: true})
		}
		return facts(m)
	}
	for _, test := range []struct {
		name  string
		other *capture.Capture
		want  *analysis.Amount
		codes string
	}{
		{"by address and size", listed(16, 0x1000, 0x1040, 0x9000), &analysis.Amount{Count: 2, Bytes: 32}, ""},
		{"by address alone", listed(0, 0x1060), &analysis.Amount{Count: 1, Bytes: 16}, ""},
		{"another size is another block", listed(24, 0x1000, 0x1020), nil, "unsupported"},
		{"addresses of another process", listed(16, 0x1000, 0x9000, 0x9100, 0x9200), nil, "unsupported"},
		{"more than the log holds", listed(16, 0x1000, 0x1020, 0x1040, 0x5000, 0x5020, 0x5040, 0x5060, 0x5080, 0x50a0),
			&analysis.Amount{Count: 3, Bytes: 48}, ""},
		{"nothing listed", listed(16), nil, ""},
	} {
		r := analyze(t, inputs(log(), test.other))
		if got := r.Sites[0].Unreachable; (got == nil) != (test.want == nil) || got != nil && *got != *test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
		if got := r.Findings[0].Unreachable; (got == nil) != (test.want == nil) {
			t.Errorf("%s: finding %+v", test.name, got)
		}
		if codes(r) != test.codes {
			t.Errorf("%s: %s", test.name, codes(r))
		}
	}
}

func TestUnreachableSitesMerge(t *testing.T) {
	dump := app.dump(row{id: 1, stack: app.in(0x20), count: 4, bytes: 64},
		row{id: 1, stack: app.in(0x20), count: 3, bytes: 48}, row{id: 2, stack: app.in(0x30), count: 1, bytes: 8})
	dump.Sites[1].Unreachable = true
	dump.Memory.Reach = &capture.PointerSearch{}
	r := analyze(t, inputs(dump))
	if got, want := table(r), "app+0x20 7/112 none unreferenced\napp+0x30 1/8 none unknown\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if *r.Sites[0].Unreachable != (analysis.Amount{Count: 3, Bytes: 48}) ||
		*r.Sites[1].Unreachable != (analysis.Amount{}) {
		t.Errorf("%+v %+v", r.Sites[0].Unreachable, r.Sites[1].Unreachable)
	}
	if u := r.Unreachable; len(u) != 1 || u[0].Where != "app+0x20" || u[0].Unreachable.Count != 3 ||
		u[0].Outstanding.Count != 7 {
		t.Errorf("%+v", u)
	}
	// Beside a log of the same process, the dump shows which stacks hold blocks that no pointer reaches.
	log := app.snapshot(row{id: 5, stack: app.in(0x20), count: 9, bytes: 144})
	second := app.snapshot(row{id: 5, stack: app.in(0x20), count: 9, bytes: 144})
	if f := analyze(t, inputs(log, dump, second)).Findings[0]; f.Unreachable == nil ||
		f.Unreachable.Count != 3 || len(f.ByKind) != 2 {
		t.Errorf("%+v", f)
	}
}

func TestClaimsKeepTheirOwnProbability(t *testing.T) {
	c := difference()
	c.Kind, c.Shape, c.Snapshots = capture.KindDebugDiag, capture.ShapeSnapshot, c.Snapshots[:1]
	stack := func(module, function string) capture.StackID {
		return c.Stacks.AddStack([]capture.FrameID{c.Stacks.AddText(capture.FrameText{Module: module,
			Function: function, Offset: 4}, 0)})
	}
	dll, runtime := stack("3rdparty", "IFMX_IsInTransaction"), stack("mscorsvr", "EEVirtualAlloc")
	c.Sites = []capture.Site{
		{Stack: runtime, Heap: capture.NoHeap, Usage: []capture.Usage{{Count: 10, Bytes: 9 << 20}}},
		{Stack: dll, Heap: capture.NoHeap, Usage: []capture.Usage{{Count: 100, Bytes: 148 << 20}}},
	}
	c.Memory = &capture.Memory{Source: "DebugDiag", Claims: []capture.ToolConclusion{
		{Stack: dll, Type: "Heap allocation(s)", Usage: capture.Usage{Count: 100, Bytes: 148 << 20}, Percent: 97,
			Samples: []capture.Sample{{Title: "Call stack sample 1", Stack: dll, Address: 0x99}}},
		{Stack: runtime, Type: "Virtual memory", Percent: -1},
	}}
	r := analyze(t, inputs(c))
	claims := r.Memory[0].Claims
	if claims[0].Percent == nil || *claims[0].Percent != 97 || claims[1].Percent != nil ||
		claims[0].Signature != r.Sites[0].Signature || claims[0].Samples[0].Address != "0x99" {
		t.Errorf("%+v", claims)
	}
	if !strings.Contains(r.Verdict.Sentence,
		"the most, 148 MB in 100 blocks (94 %), from 3rdparty!IFMX_IsInTransaction") {
		t.Error(r.Verdict.Sentence)
	}
	for _, f := range r.Findings {
		if f.Verdict != analysis.ClassUnknown || f.Score != nil {
			t.Errorf("%s is called %s at one instant", f.Where(), f.Verdict)
		}
	}
}

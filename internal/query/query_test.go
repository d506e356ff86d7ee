package query_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"reflect"
	"slices"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
	"heapdrift/internal/query"
)

// heldRows are rows in memory; a scan gives each of them to one of its sinks.
type heldRows []allocations.Row

func (r heldRows) Len() int64 { return int64(len(r)) }

func (r heldRows) Scan(_ context.Context, _, _ int64, sinks ...allocations.Sink) error {
	for from := 0; from < len(r); from += 7 {
		if err := sinks[from%len(sinks)].AddRows(slices.Clone(r[from:min(from+7, len(r))])); err != nil {
			return err
		}
	}
	return nil
}

const traceEnd = int64(10e9)

// stacks are those of the made-up places, innermost first.
var stacks = [][]string{
	{"ntdll!RtlAllocateHeap", "app!operator new", "app!Cache::Add", "app!Serve", "app!main"},
	{"ntdll!RtlAllocateHeap", "app!operator new", "app!Cache::Add", "app!Warm", "app!main"},
	{"ntdll!RtlAllocateHeap", "app!Parse", "app!Parse", "app!Serve", "app!main"},
	{"ntdll!NtAllocateVirtualMemory", "plugin!Reserve", "app!main"},
	{"ntdll!NtAllocateVirtualMemory", "ntdll!RtlpExtendHeap", "app!Cache::Add"},
	{},
}

// process makes up a traced process whose places allocate at random, and its report.
func process(t testing.TB, r *rand.Rand, n int) (*analysis.Report, heldRows) {
	t.Helper()
	return processThat(t, r, n, func(_ *capture.Trace, rows heldRows) heldRows { return rows })
}

// processThat is process with a trace and rows that lives may change.
func processThat(t testing.TB, r *rand.Rand, n int,
	lives func(*capture.Trace, heldRows) heldRows) (*analysis.Report, heldRows) {
	t.Helper()
	c := &capture.Capture{
		Kind: capture.KindETL, Shape: capture.ShapeTrace, Process: capture.Process{Name: "app.exe", PID: 7, Bits: 64},
		Heaps:   []capture.Heap{{Handle: 0x10000}, {Handle: 0x20000}},
		Modules: []capture.Module{{Path: `C:\app.exe`}, {Path: `C:\ntdll.dll`}, {Path: `C:\plugin.dll`}},
		Trace: &capture.Trace{Start: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), To: traceEnd,
			Began: allocations.BeforeTrace, Exited: allocations.Never, Teardown: allocations.Never},
	}
	c.Trace.Window = c.Trace.Whole()
	c.Snapshots = c.Trace.Instants(4)
	type place struct {
		stack, heap int
		kind        allocations.Kind
	}
	var places []place
	for s := range stacks {
		kind := allocations.KindHeap
		switch s {
		case 3:
			kind = allocations.KindVirtual
		case 4:
			kind = allocations.KindHeapVirtual
		}
		places = append(places, place{s, 0, kind})
		if kind == allocations.KindHeap {
			places = append(places, place{s, 1, kind})
		}
	}
	var rows heldRows
	for i := range n {
		at := r.IntN(len(places))
		row := allocations.Row{AllocTime: r.Int64N(traceEnd), FreeTime: allocations.Never, Size: 1 << r.IntN(14),
			Site: uint32(at), Kind: places[at].kind, Thread: uint32(1 + r.IntN(3)),
			Address: uint64(i) << 8, Part: r.IntN(9) == 0}
		if r.IntN(3) > 0 {
			row.FreeTime, row.End = row.AllocTime+r.Int64N(traceEnd-row.AllocTime), allocations.EndFree
		}
		switch r.IntN(20) {
		case 0:
			row.AllocTime = allocations.BeforeTrace
		case 1:
			row.UnknownFree, row.AllocTime, row.Size, row.Thread, row.FreeTime, row.End = true, allocations.BeforeTrace, 0, 0,
				r.Int64N(traceEnd), allocations.EndFree
		}
		rows = append(rows, row)
	}
	rows = lives(c.Trace, rows)
	a, err := allocations.Ask(t.Context(), rows, allocations.Question{To: traceEnd, Sites: len(places), Samples: 4})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range places {
		var frames []capture.FrameID
		for _, name := range stacks[p.stack] {
			module, function, _ := bytes.Cut([]byte(name), []byte("!"))
			frames = append(frames, c.Stacks.AddText(capture.FrameText{Module: string(module), Function: string(function)}, 0))
		}
		site := capture.Site{Stack: c.Stacks.AddStack(frames), Kind: capture.SiteKind(p.kind), Heap: capture.NoHeap,
			Life: &capture.Life{Number: uint32(i), Usage: a.Sites[i]}}
		if p.kind == allocations.KindHeap {
			site.Heap = int32(p.heap)
		}
		for _, u := range a.Samples.Site(i) {
			site.Usage = append(site.Usage, capture.Usage{Count: u.Count, Bytes: u.Bytes})
		}
		c.Sites = append(c.Sites, site)
	}
	report, err := analysis.Analyze(t.Context(),
		[]analysis.Input{{Files: []analysis.File{{Name: "a.etl"}}, Captures: []*capture.Capture{c}}}, analysis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return report, rows
}

// invent makes up a selection.
func invent(r *rand.Rand) query.Selection {
	var s query.Selection
	some := func(of int, set func()) {
		if r.IntN(of) == 0 {
			set()
		}
	}
	some(3, func() { s.From = new(r.Int64N(traceEnd / 2)) })
	some(3, func() { s.To = new(traceEnd/2 + r.Int64N(traceEnd/2)) })
	some(4, func() { s.Kind = []string{"heap", "virtual", "heap-virtual"}[r.IntN(3)] })
	some(4, func() { s.Heap = "0x20000" })
	some(5, func() { s.Module = "APP" })
	some(5, func() { s.Function = "app!Serve" })
	some(5, func() { s.Text = "cAcHe" })
	some(4, func() { s.Thread = new(uint32(1 + r.IntN(3))) })
	some(4, func() { s.Size = query.Range{From: 64, To: 1024} })
	some(4, func() { s.Age = query.Range{From: 1e9} })
	return s
}

// For any selection, counting all rows by hand gives the same numbers, and all views have the same totals.
func TestViewsOfASelectionAgree(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		report, rows := process(t, r, 300)
		x := query.New(report)
		s := invent(r)
		table := &query.Table{Scanner: rows}
		result, err := x.Ask(t.Context(), s, table)
		if err != nil {
			t.Fatal(err)
		}
		totals := result.Totals()
		if want := byHand(report, rows, &s); totals.Held != want.held || *or(totals.Allocated) != want.allocated ||
			*or(totals.Transient) != want.transient {
			t.Fatalf("seed %d, %s: %+v, by hand %+v", seed, s.Values().Encode(), totals.Numbers, want)
		}
		for _, name := range []string{"growth", "held", "allocated", "transient"} {
			metric, err := x.Metric(name)
			if err != nil {
				t.Fatal(err)
			}
			for view, sum := range map[string]analysis.Amount{
				"ranked":  sumOf(allRows(result.Ranked(metric)), func(r query.Row) query.Numbers { return r.Numbers }, name),
				"modules": sumOf(result.Modules(metric), func(g query.Group) query.Numbers { return g.Numbers }, name),
				"heaps":   sumOf(result.Heaps(metric), func(g query.Group) query.Numbers { return g.Numbers }, name),
				"classes": sumOf(totals.Classes, func(g query.ClassGroup) query.Numbers { return g.Numbers }, name),
			} {
				if want := amountOf(totals.Numbers, name); sum != want {
					t.Errorf("seed %d: %s by %s: %+v, in all %+v", seed, view, name, sum, want)
				}
			}
			tree, err := result.Tree(t.Context(), query.TreeQuestion{Metric: metric})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := sum(tree.Nodes.Self)+tree.LeftOut.Bytes, amountOf(totals.Numbers, name).Bytes; got != want {
				t.Errorf("seed %d: tree by %s: %d, in all %d", seed, name, got, want)
			}
			s.Function = "app!Serve"
			through, err := x.Ask(t.Context(), s, table)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range []query.Direction{query.Callers, query.Callees} {
				tree, err := result.Tree(t.Context(), query.TreeQuestion{Metric: metric, Direction: d, Function: "app!Serve"})
				if err != nil {
					t.Fatal(err)
				}
				if got, want := sum(tree.Nodes.Self)+tree.LeftOut.Bytes, amountOf(through.Totals().Numbers, name).Bytes; got != want {
					t.Errorf("seed %d: direction %d by %s: %d, through it %d", seed, d, name, got, want)
				}
			}
			s = result.Selection
		}
		sizes, err := result.Sizes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		held := analysis.Amount{}
		for _, c := range sizes.Classes {
			held = analysis.Amount{Count: held.Count + c.Count, Bytes: held.Bytes + c.Bytes}
		}
		blocks, err := result.Blocks(t.Context(), 5)
		if err != nil {
			t.Fatal(err)
		}
		if held != totals.Held || blocks.Numbers != totals.Held {
			t.Errorf("seed %d: sizes %+v, blocks %+v, held %+v", seed, held, blocks.Numbers, totals.Held)
		}
		lifetimes, err := result.Lifetimes(t.Context(), 10_000)
		if err != nil {
			t.Fatal(err)
		}
		if lifetimes.Numbers != *or(totals.Allocated) || lifetimes.LeftOut != 0 {
			t.Errorf("seed %d: lifetimes %+v, allocated %+v", seed, lifetimes.Numbers, totals.Allocated)
		}
	}
}

func or(a *analysis.Amount) *analysis.Amount {
	if a == nil {
		return &analysis.Amount{}
	}
	return a
}

func amountOf(n query.Numbers, metric string) analysis.Amount {
	return map[string]analysis.Amount{"growth": *or(n.Growth), "held": n.Held, "allocated": *or(n.Allocated),
		"transient": *or(n.Transient)}[metric]
}

func sumOf[T any](list []T, of func(T) query.Numbers, metric string) (sum analysis.Amount) {
	for _, v := range list {
		a := amountOf(of(v), metric)
		sum = analysis.Amount{Count: sum.Count + a.Count, Bytes: sum.Bytes + a.Bytes}
	}
	return sum
}

func sum(list []int64) (n int64) {
	for _, v := range list {
		n += v
	}
	return n
}

type handCount struct{ held, allocated, transient analysis.Amount }

// byHand counts rows without the engine.
func byHand(report *analysis.Report, rows heldRows, s *query.Selection) (n handCount) {
	from, to := int64(0), traceEnd
	if s.From != nil {
		from = *s.From
	}
	if s.To != nil {
		to = *s.To
	}
	site := map[uint32]*analysis.Site{}
	for i := range report.Sites {
		for _, number := range report.Sites[i].TableSites {
			site[number] = &report.Sites[i]
		}
	}
	for i := range rows {
		row, at := &rows[i], site[rows[i].Site]
		var names string
		serves := false
		for _, f := range report.Stack(at.Stack) {
			names += f.Function
			serves = serves || f.Name() == "app!Serve"
		}
		age := min(row.FreeTime, to) - max(row.AllocTime, 0)
		switch {
		case row.UnknownFree, row.AllocTime > to, row.FreeTime < from,
			s.Kind != "" && at.Kind != s.Kind, s.Kind == "" && at.Kind == "heap-virtual",
			s.Heap != "" && at.Heap != s.Heap,
			s.Module != "" && (at.Blame == nil || at.Blame.Module != "app"),
			s.Function != "" && !serves,
			s.Text != "" && !bytes.Contains([]byte(names), []byte("Cache")),
			s.Thread != nil && row.Thread != *s.Thread,
			s.Size.From != 0 && (row.Size < s.Size.From || row.Size > s.Size.To),
			s.Age.From != 0 && age < int64(s.Age.From):
			continue
		}
		a := analysis.Amount{Count: 1, Bytes: int64(row.Size)}
		if row.Part {
			a.Count = 0
		}
		add := func(to *analysis.Amount) { to.Count, to.Bytes = to.Count+a.Count, to.Bytes+a.Bytes }
		if row.FreeTime > to {
			add(&n.held)
		}
		if row.AllocTime >= from {
			add(&n.allocated)
			if row.FreeTime <= to {
				add(&n.transient)
			}
		}
	}
	return n
}

// A selection survives being written to an address and read from it.
func TestSelectionRoundTrip(t *testing.T) {
	for seed := range uint64(500) {
		s := invent(rand.New(rand.NewPCG(seed, 2)))
		again, err := query.Parse(s.Values())
		if err != nil || !reflect.DeepEqual(s, again) {
			t.Errorf("%s: %+v, %v", s.Values().Encode(), again, err)
		}
	}
}

func TestSelectionsThatMakeNoSense(t *testing.T) {
	report, rows := process(t, rand.New(rand.NewPCG(1, 1)), 50)
	for text, code := range map[string]string{
		"from=x": query.CodeBadSelection, "to=NaN": query.CodeBadSelection, "from=1e9": query.CodeBadSelection,
		"thread=-1": query.CodeBadSelection,
		"size=9-3":  query.CodeBadSelection, "size=a": query.CodeBadSelection, "age=1-x": query.CodeBadSelection,
		"size=-1e30": query.CodeBadSelection, "from=8&to=2": analysis.CodeBadWindow,
	} {
		values, err := url.ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		s, err := query.Parse(values)
		if err == nil {
			_, err = query.New(report).Ask(t.Context(), s, &query.Table{Scanner: rows})
		}
		var refused *analysis.Error
		if !errors.As(err, &refused) || refused.Code != code {
			t.Errorf("%s: %v", text, err)
		}
	}
	_, err := query.New(report).Ask(t.Context(), query.Selection{Thread: new(uint32(1))}, nil)
	if !errors.Is(err, analysis.ErrTableMissing) {
		t.Error(err)
	}
}

// A signature is one row for all heaps, with a part for each of its sites.
func TestOneRowForAllHeaps(t *testing.T) {
	report, rows := process(t, rand.New(rand.NewPCG(3, 1)), 600)
	result, err := query.New(report).Ask(t.Context(), query.Selection{}, &query.Table{Scanner: rows})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, row := range allRows(result.Ranked(query.Metrics[0])) {
		if seen[row.Signature] {
			t.Errorf("%s has two rows", row.Signature)
		}
		seen[row.Signature] = true
		if row.Sites > 1 && len(row.Parts) != row.Sites && row.Function != "app!Cache::Add" {
			t.Errorf("%s: %d sites, parts %+v", row.Function, row.Sites, row.Parts)
		}
	}
}

func TestCells(t *testing.T) {
	report, rows := process(t, rand.New(rand.NewPCG(4, 1)), 100)
	result, err := query.New(report).Ask(t.Context(), query.Selection{}, &query.Table{Scanner: rows})
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := result.Blocks(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	sizes, err := result.Sizes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	held := query.Metrics[1]
	for _, c := range []*query.Cells{query.CellsOfRows(allRows(result.Ranked(held))),
		query.CellsOfGroups("heap", result.Heaps(held)), blocks.Cells(), sizes.Cells()} {
		var out bytes.Buffer
		if err := c.WriteCSV(&out); err != nil {
			t.Fatal(err)
		}
		lines, err := csv.NewReader(&out).ReadAll()
		if err != nil || len(lines) != len(c.Rows)+1 || len(c.Rows) == 0 {
			t.Errorf("%v: %d lines of %d, %v", c.Columns, len(lines), len(c.Rows), err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("from=1&to=2&size=1-2&age=-3&thread=7&q=x")
	f.Fuzz(func(t *testing.T, text string) {
		values, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		s, err := query.Parse(values)
		if err != nil {
			return
		}
		again, err := query.Parse(s.Values())
		if err != nil || !reflect.DeepEqual(s, again) {
			t.Errorf("%q: %+v, %+v, %v", text, s, again, err)
		}
	})
}

func ExampleParse() {
	s, err := query.Parse(url.Values{"size": {"1024-"}, "from": {"2.5"}, "fn": {"app!main"}})
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Values().Encode())
	// Output: fn=app%21main&from=2.5&size=1024-
}

package export_test

import (
	"bytes"
	stdcsv "encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/umdh"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/export"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/golden"
)

// report is a small report whose names try to break each format.
func report() *analysis.Report {
	alloc := &analysis.Frame{Module: "ntdll", Function: "RtlAllocateHeap", Offset: "0x5b", Layer: analysis.LayerAllocator}
	leak := &analysis.Frame{Module: "app", Function: "ns::`anonymous namespace'::Map<int|char>::operator[]",
		Offset: "0x1f", File: `c:\src\a b\map.cpp`, Line: 12}
	raw := &analysis.Frame{Module: "plugin", Offset: "0x2a40", Address: "0x7ff6548014ad"}
	formula := &analysis.Frame{Module: "app", Function: "=HYPERLINK(\"x\");\"", Offset: "0x0"}
	amounts := func(count, bytes, growCount, growBytes int64) analysis.Amounts {
		return analysis.Amounts{Outstanding: analysis.Amount{Count: count, Bytes: bytes},
			Growth: &analysis.Amount{Count: growCount, Bytes: growBytes}}
	}
	points := func(bytes ...int64) (list []analysis.Point) {
		for i, b := range bytes {
			list = append(list, analysis.Point{AtNS: int64(i) * 60e9, Amount: analysis.Amount{Count: b / 10, Bytes: b}})
		}
		return list
	}
	r := &analysis.Report{
		Schema: analysis.Schema, Process: analysis.Process{Name: "app.exe", PID: 4242, Bits: 64},
		Snapshots: []analysis.Snapshot{{File: "snap1.txt", TakenAt: "2025-03-04T12:10:00",
			Amount: analysis.Amount{Count: 10, Bytes: 2048}},
			{File: "snap2.txt", LowerBound: true, Amount: analysis.Amount{Count: 120, Bytes: 1 << 20}}},
		Totals: analysis.Totals{Heap: amounts(120, 1<<20, 110, 1<<20-2048)},
		Heaps:  []analysis.Heap{{Handle: "0x1d147000000", Amounts: amounts(120, 1<<20, 110, 1<<20-2048)}},
		Warnings: []analysis.Warning{{Code: "truncated", Message: "the log is cut: totals are *lower* bounds", Count: 1,
			File: "snap2.txt", Place: "line 9"}},
		Verdict: analysis.EvidenceVerdict{Status: analysis.StatusInconclusive, Sentence: "app.exe grew by 1.00 MB."},
		Power: &analysis.Power{Power: score.Power{Unit: "hour", Count: 12, Bytes: 1228},
			Sentence: "it would have seen one of 1.20 KB per hour"},
		Findings: []analysis.Finding{
			{Signature: "sig1:1", Kind: "heap", Title: "app!ns::<anonymous>::Map<T>::operator[] | plugin",
				Verdict: analysis.ClassLeak, Score: new(0.9712), Certain: true,
				Amounts: amounts(100, 1000000, 95, 998000), Sites: 2,
				Blame:  &analysis.Blame{Module: "app", Function: leak.Function, File: leak.File, Line: 12},
				Frames: []string{"app!ns::<anonymous>::Map<T>::operator[]", "app!main"}, Fine: "sig1:f",
				Leaf: "sig1:l", Outline: "sig1:o",
				Clauses: []score.Clause{{Rule: "rises", Holds: new(true), Text: "grew in 5 of 5 intervals"},
					{Rule: "survival", Text: "addresses are not known"}, {Rule: "fit", Holds: new(false), Text: "R² is 0.41 | *low*"}},
				Rate: &score.Rate{Unit: "hour", Count: 5700, Bytes: 59880000}, Owner: "team_a",
				Known: "since <2019>", Group: "maps",
				ByKind: []analysis.KindResult{{Kind: "umdh-snapshot", Verdict: analysis.ClassLeak},
					{Kind: "etl", Verdict: analysis.ClassGrowing, Score: new(0.55)}}},
			{Signature: "sig1:2", Kind: "heap", Title: "plugin!<unknown>+0x2a40", Verdict: analysis.ClassCache,
				Amounts: amounts(20, 48576, 15, 48528), Sites: 1, Provisional: true, Frames: []string{"plugin!<unknown>+0x2a40"}},
			{Signature: "sig1:3", Kind: "heap", Title: "no stack", Verdict: analysis.ClassStable,
				Amounts: amounts(0, 0, -5, -48), Sites: 1, Frames: []string{}},
		},
	}
	r.Sites = []analysis.Site{
		{Signature: "sig0:1", Kind: "heap", Heap: "0x1d147000000", Amounts: amounts(100, 1000000, 95, 998000),
			Verdict: analysis.ClassGrowing, Series: points(2000, 500000, 1000000),
			Stack: r.AddStack(alloc, leak, raw), AliasStacks: []analysis.StackRef{r.AddStack(alloc, raw)},
			Flags: []string{"ambiguous-stack"},
			Blame: &analysis.Blame{Module: "app", Function: leak.Function, File: leak.File, Line: 12}},
		{Signature: "sig0:2", Kind: "heap", Amounts: amounts(20, 48576, 15, 48528), Verdict: analysis.ClassGrowing,
			Series: points(48, 48576), Stack: r.AddStack(formula), Flags: []string{},
			Blame: &analysis.Blame{Module: "app", Function: formula.Function}},
		{Signature: "sig0:3", Kind: "heap", Amounts: amounts(0, 0, -5, -48), Verdict: analysis.ClassStable,
			Series: points(48, 0), Flags: []string{"no-stack"}},
	}
	return r
}

// traceReport is a small report of a trace whose process ended.
func traceReport() *analysis.Report {
	r := report()
	amount := func(count, bytes int64) analysis.Amount { return analysis.Amount{Count: count, Bytes: bytes} }
	lifetimes := func(aifo, aifi, exit analysis.Amount) analysis.Amounts {
		return analysis.Amounts{Outstanding: aifo, Growth: &aifo, Lifetimes: &analysis.Lifetimes{
			Allocated: amount(aifo.Count+aifi.Count, aifo.Bytes+aifi.Bytes), Freed: aifi, AIFO: aifo, AIFI: aifi,
			AtExit: exit, UnknownFrees: 2,
			Peak: &analysis.Peak{Amount: amount(40, 40000), AtNS: 1_500_000_000},
		}}
	}
	end := int64(30_400_000_000)
	r.Trace = &analysis.Trace{Start: "2026-01-02T03:04:05Z", ToNS: 31e9, Events: 26570, ExitedNS: &end}
	r.Window = &analysis.Window{FromNS: 10e9, ToNS: 31e9, DurationNS: 21e9}
	below := lifetimes(amount(1, 1<<20), amount(0, 0), amount(0, 0))
	r.Totals = analysis.Totals{Heap: lifetimes(amount(3, 300), amount(4, 40), amount(4, 40)),
		Virtual: lifetimes(amount(1, 4096), amount(9, 1<<20), amount(0, 0)), HeapVirtual: &below}
	r.Heaps[0].Amounts = r.Totals.Heap
	for i := range r.Sites {
		r.Sites[i].Amounts, r.Sites[i].TableSites = lifetimes(amount(3, 300), amount(4, 40), amount(int64(i), int64(20*i))),
			[]uint32{uint32(i)}
	}
	r.Sites[1].Peak, r.Sites[2].Growth = nil, &analysis.Amount{Count: -3, Bytes: -1}
	return r
}

func write(t *testing.T, name string, opt export.Options) string {
	t.Helper()
	return writeReport(t, name, report(), opt)
}

func writeReport(t *testing.T, name string, r *analysis.Report, opt export.Options) string {
	t.Helper()
	f, err := export.FindFormat(name)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b, r, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFormats(t *testing.T) {
	for _, f := range export.Formats {
		if f.Name == "pprof" { // compressed; TestPprof reads it
			continue
		}
		golden.Check(t, "testdata/report"+f.Extension, write(t, f.Name, export.Options{}))
		golden.Check(t, "testdata/trace"+f.Extension, writeReport(t, f.Name, traceReport(), export.Options{}))
	}
	golden.Check(t, "testdata/report-top1.txt", write(t, "text", export.Options{Top: 1}))
}

// A difference that heapdrift prints is whole to the reader of UMDH's differences: its total is that of its entries.
func TestUMDHTextIsWhole(t *testing.T) {
	shrunk := report()
	shrunk.Sites = shrunk.Sites[2:]
	for name, r := range map[string]*analysis.Report{"grows": report(), "shrinks": shrunk, "trace": traceReport(),
		"nothing": {}} {
		text := writeReport(t, "umdh-text", r, export.Options{})
		captures, err := umdh.Read(t.Context(), strings.NewReader(text), umdh.Options{})
		if err != nil || len(captures) != 1 {
			t.Fatalf("%s: %d captures, %v of\n%s", name, len(captures), err, text)
		}
		for _, w := range captures[0].Warnings {
			if w.Code == capture.Truncated || w.Code == capture.Inconsistent && strings.Contains(w.Message, "total") {
				t.Errorf("%s: %s of\n%s", name, w.Message, text)
			}
		}
	}
}

// What the evidence does not tell is left out, or called unknown: 0 would be a number.
func TestTextOfWhatIsNotKnown(t *testing.T) {
	for name, test := range map[string]struct {
		change     func(r *analysis.Report)
		want, lack string
	}{
		"process": {func(r *analysis.Report) { r.Process = analysis.Process{} }, "\nprocess    unknown\n", "pid"},
		"pid":     {func(r *analysis.Report) { r.Process.PID = 0 }, "\nprocess    app.exe, 64 bit\n", "pid"},
		"bits":    {func(r *analysis.Report) { r.Process.Bits = 0 }, "\nprocess    app.exe, pid 4242\n", "0 bit"},
		"virtual memory": {func(r *analysis.Report) {
			r.Totals.Virtual = analysis.Amounts{Growth: &analysis.Amount{}, Lifetimes: &analysis.Lifetimes{}}
			r.Totals.HeapVirtual = nil
		}, "\nvirtual                  the trace has no VirtualAlloc events of this process\n", "0 B in 0 "},
		"heaps": {func(r *analysis.Report) {
			r.Totals.Heap = analysis.Amounts{Growth: &analysis.Amount{}, Lifetimes: &analysis.Lifetimes{}}
		}, "\nheap                     the trace has no heap events of this process\n", "heap   0 B"},
		"one frame": {func(r *analysis.Report) {
			r.Modules = []analysis.Module{{Name: "app.exe", Frames: 1, Unnamed: 1, Match: "a match"}}
		}, " 0 of 1 frame named: a match\n", "1 frames"},
	} {
		r := traceReport()
		test.change(r)
		if got := writeReport(t, "text", r, export.Options{}); !strings.Contains(got, test.want) ||
			strings.Contains(got, test.lack) {
			t.Errorf("%s: %q lacks %q, or has %q", name, got, test.want, test.lack)
		}
	}
}

func TestCSVParses(t *testing.T) {
	rows, err := stdcsv.NewReader(strings.NewReader(write(t, "csv", export.Options{}))).ReadAll()
	if err != nil || len(rows) != 4 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows {
		for _, cell := range row {
			if strings.HasPrefix(cell, "=") {
				t.Errorf("a spreadsheet would run %q", cell)
			}
		}
	}
}

func TestJSONHasTheContractsFields(t *testing.T) {
	var r struct {
		Schema string
		Frames []map[string]any
		Stacks [][]int
		Sites  []map[string]any
		Totals map[string]map[string]any
	}
	if err := json.Unmarshal([]byte(write(t, "json", export.Options{Top: 1})), &r); err != nil {
		t.Fatal(err)
	}
	if r.Schema != "heapdrift.report/v2" || len(r.Sites) != 3 || r.Totals["virtual"] == nil {
		t.Errorf("%+v", r)
	}
	for _, key := range []string{"signature", "kind", "heap", "outstanding", "growth", "series", "verdict",
		"blame", "flags", "stack"} {
		if r.Sites[0][key] == nil {
			t.Errorf("sites lack %q", key)
		}
	}
	var names []any
	for _, number := range r.Stacks[int(r.Sites[0]["stack"].(float64))] {
		names = append(names, r.Frames[number]["module"])
	}
	if fmt.Sprint(names) != "[ntdll app plugin]" || r.Sites[2]["stack"] != -1.0 {
		t.Errorf("stack of %v, and %v where there is none", names, r.Sites[2]["stack"])
	}
}

// A report that an older version stored reads as one of today, and is written in today's layout.
func TestReadsTheLayoutBefore(t *testing.T) {
	for _, name := range []string{"report", "trace"} {
		before, err := os.Open("testdata/" + name + ".v1.json")
		if err != nil {
			t.Fatal(err)
		}
		r, err := analysis.ReadJSON(before)
		_ = before.Close()
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile("testdata/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if got := writeReport(t, "json", r, export.Options{}); got != string(want) {
			t.Errorf("%s: got\n%s", name, got)
		}
		var fields map[string]json.RawMessage // in the order of their names, as a database may have them
		if err := json.Unmarshal(want, &fields); err != nil {
			t.Fatal(err)
		}
		disordered, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		if r, err = analysis.ReadJSON(bytes.NewReader(disordered)); err != nil {
			t.Fatal(err)
		}
		if got := writeReport(t, "json", r, export.Options{}); got != string(want) {
			t.Errorf("%s, its fields in another order: got\n%s", name, got)
		}
	}
}

// Every line of folded output is frames, a space and a positive number, whatever the names hold.
// Formats for reading print a score as pages do: it is not capped, and no score below 1 reads as 1.
func TestScoresForReading(t *testing.T) {
	r := report()
	for i := range r.Findings {
		r.Findings[i].Score = new(0.9978)
	}
	for name, want := range map[string]string{"text": "leak 0.998  ", "markdown": "| leak | 0.998 |"} {
		if got := writeReport(t, name, r, export.Options{}); !strings.Contains(got, want) {
			t.Errorf("%s lacks %q:\n%s", name, want, got)
		}
	}
}

func TestFoldedLines(t *testing.T) {
	for _, line := range strings.Split(strings.TrimSpace(write(t, "folded", export.Options{})), "\n") {
		at := strings.LastIndexByte(line, ' ')
		if at < 0 || strings.Trim(line[at+1:], "0123456789") != "" || !strings.HasPrefix(line, "heap;") {
			t.Errorf("bad line %q", line)
		}
	}
}

func TestFind(t *testing.T) {
	for name, says := range map[string]string{"": "unknown format", "xml": "unknown format"} {
		if _, err := export.FindFormat(name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWriteFails(t *testing.T) {
	for _, f := range export.Formats {
		if err := f.Write(brokenWriter{}, report(), export.Options{}); err == nil {
			t.Errorf("%s: a writer that fails was not noticed", f.Name)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, bytes.ErrTooLarge }

// What matters stands wherever the verdict stands, in the words of the report.
func TestWritesWhatMatters(t *testing.T) {
	r := report()
	r.Verdict.MattersSentence = "What matters here: 1.00 MB per day (--matters)"
	for format, line := range map[string]string{
		"text":     "app.exe grew by 1.00 MB.\nWhat matters here: 1.00 MB per day (--matters).\n",
		"markdown": "app.exe grew by 1.00 MB.\n\nWhat matters here: 1.00 MB per day (--matters).\n\n",
		"junit":    `<property name="matters" value="What matters here: 1.00 MB per day (--matters)"></property>`,
		"json":     `"matters_sentence":"What matters here: 1.00 MB per day (--matters)"`,
	} {
		if got := writeReport(t, format, r, export.Options{}); !strings.Contains(got, line) {
			t.Errorf("%s: %.500s", format, got)
		}
		if got := write(t, format, export.Options{}); strings.Contains(got, "What matters") {
			t.Errorf("%s, of a report that does not say it: %.500s", format, got)
		}
	}
}

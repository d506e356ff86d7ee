package query_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
	"heapdrift/internal/query"
)

// steady is a process in which one place allocates a block every 10 ms and frees none, and another one frees all but
// those of the last second.
func steady(_ *capture.Trace, _ heldRows) (rows heldRows) {
	for i := range int64(1000) {
		at := i * traceEnd / 1000
		rows = append(rows, allocations.Row{AllocTime: at, FreeTime: allocations.Never, Size: 64, Site: 0,
			Address: uint64(i) << 8, Thread: 1})
		row := allocations.Row{AllocTime: at, FreeTime: allocations.Never, Size: 64, Site: 2, Address: uint64(i)<<8 + 128,
			Thread: 1}
		if free := at + 1e9; free < traceEnd {
			row.FreeTime, row.End = free, allocations.EndFree
		}
		rows = append(rows, row)
	}
	return rows
}

// Class, score and reasons of a window are those of the window. Where the report has judged the time that is selected,
// they are the report's, and so they are of a part of a series.
func TestJudgementOfASelection(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	trace, rows := processThat(t, r, 1, steady)
	ended, endedRows := processThat(t, r, 300, exitsAt(traceEnd/2, true))
	snapshots, _ := series(t, r, 6, 20)
	for _, c := range []struct {
		name      string
		report    *analysis.Report
		rows      heldRows
		selection query.Selection
		judged    string
	}{
		{"the whole trace", trace, rows, query.Selection{}, "run"},
		{"the whole trace by its ends", trace, rows, query.Selection{From: new(int64(0)), To: new(traceEnd)}, "run"},
		{"heap blocks of the whole trace", trace, rows, query.Selection{Kind: "heap"}, "run"},
		{"a window", trace, rows, query.Selection{From: new(int64(4e9)), To: new(int64(6e9))}, "selection"},
		{"a window to the end but 1 ns", trace, rows, query.Selection{To: new(traceEnd - 1)}, "selection"},
		{"a thread", trace, rows, query.Selection{Thread: new(uint32(1))}, "selection"},
		{"before the exit, by the table", ended, endedRows, query.Selection{To: new(traceEnd/2 - 1)}, "run"},
		{"a little longer", ended, endedRows, query.Selection{To: new(traceEnd / 2)}, "selection"},
		{"a little shorter", ended, endedRows, query.Selection{To: new(traceEnd/2 - 2)}, "selection"},
		{"a part of a series", snapshots, nil, query.Selection{Snapshots: query.Range{From: 2, To: 3}}, "run"},
	} {
		result, err := query.New(c.report).Ask(t.Context(), c.selection, &query.Table{Scanner: c.rows})
		if err != nil {
			t.Fatal(err)
		}
		if result.JudgedScope() != c.judged || result.Totals().Judged != c.judged {
			t.Errorf("%s: judged is the %s, not the %s", c.name, result.JudgedScope(), c.judged)
		}
		findings := map[string]*analysis.Finding{}
		for i := range c.report.Findings {
			findings[c.report.Findings[i].Signature] = &c.report.Findings[i]
		}
		for _, row := range allRows(result.Ranked(query.Metrics[0])) {
			f := findings[row.Signature]
			if c.judged == "run" && f != nil &&
				(row.Class != f.Verdict || analysis.CompareScores(row.Score, f.Score) != 0 || row.Clauses() != nil) {
				t.Errorf("%s: %s is %s with %v, of the run %s", c.name, row.Function, row.Class, row.Clauses(), f.Verdict)
			}
		}
	}
}

// A window of a fifth of the time has a fifth of the blocks, and that is what its reasons count.
func TestReasonsOfAWindow(t *testing.T) {
	report, rows := processThat(t, rand.New(rand.NewPCG(1, 7)), 1, steady)
	index, table := query.New(report), &query.Table{Scanner: rows}
	result, err := index.Ask(t.Context(), query.Selection{From: new(int64(4e9)), To: new(int64(6e9))}, table)
	if err != nil {
		t.Fatal(err)
	}
	leaks := result.Ranked(query.Metrics[0]).Rows(0, 1)
	if len(leaks) != 1 || leaks[0].Class != analysis.ClassLeak || leaks[0].Score == nil || *leaks[0].Score < 0.9 {
		t.Fatalf("%+v", leaks)
	}
	if text := leaks[0].Clauses()[0].Text; !strings.HasPrefix(text, "None of the 19") {
		t.Errorf("of about 196 blocks: %s", text)
	}
	narrow := result.SelectedReport().Sites[0]
	if narrow.Verdict != leaks[0].Class || analysis.CompareScores(narrow.Score, leaks[0].Score) != 0 {
		t.Errorf("an export says %s, %v", narrow.Verdict, narrow.Score)
	}
}

package query_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
	"heapdrift/internal/query"
)

// exitsAt ends a process at a time: its live blocks end then, and nothing follows. Without older no block is older than
// the trace.
func exitsAt(at int64, older bool) func(*capture.Trace, heldRows) heldRows {
	return func(trace *capture.Trace, rows heldRows) heldRows {
		trace.Exited = at
		var kept heldRows
		for _, row := range rows {
			if row.AllocTime >= at || row.UnknownFree && row.FreeTime >= at ||
				row.AllocTime == allocations.BeforeTrace && !row.UnknownFree && !older {
				continue
			}
			if row.FreeTime >= at {
				row.FreeTime, row.End = at, allocations.EndExit
			}
			kept = append(kept, row)
		}
		return kept
	}
}

// The report answers for the time before the exit as a scan of all rows in that window does.
func TestBeforeExitFromTheReport(t *testing.T) {
	const exit = traceEnd / 4 * 3
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 2))
		report, rows := processThat(t, r, 300, exitsAt(exit, false))
		before, ok := report.Trace.WindowBeforeExit()
		if want := (capture.Window{To: exit - 1}); !ok || before != want {
			t.Fatalf("before exit is %+v, %v", before, ok)
		}
		scanned, err := report.TraceSites().InWindow(t.Context(), rows, before, false)
		if err != nil {
			t.Fatal(err)
		}
		told, err := query.New(report).Ask(t.Context(), query.Selection{To: new(before.To)}, nil) // without a table
		if err != nil {
			t.Fatal(err)
		}
		if *told.Window != scanned.Window {
			t.Fatalf("window %+v, scanned %+v", *told.Window, scanned.Window)
		}
		for i := range told.Sites {
			got, want := told.Sites[i].Amounts, scanned.Sites[told.Sites[i].Ordinal].Amounts
			got.Lifetimes, want.Lifetimes = withoutPeak(got.Lifetimes), withoutPeak(want.Lifetimes)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, site %d: %+v %+v, scanned %+v %+v", seed, i, got, *got.Lifetimes, want, *want.Lifetimes)
			}
		}
		for _, kind := range []struct{ whole, want analysis.Amounts }{{report.Totals.Heap, scanned.Totals.Heap},
			{report.Totals.Virtual, scanned.Totals.Virtual}} {
			got := kind.whole.UpToExit()
			got.Lifetimes, kind.want.Lifetimes = withoutPeak(got.Lifetimes), withoutPeak(kind.want.Lifetimes)
			if !reflect.DeepEqual(got, kind.want) {
				t.Fatalf("seed %d, totals: %+v %+v, scanned %+v %+v", seed, got, *got.Lifetimes, kind.want, *kind.want.Lifetimes)
			}
		}
	}
}

func withoutPeak(l *analysis.Lifetimes) *analysis.Lifetimes {
	without := *l
	without.Peak = nil
	return &without
}

// The table must be scanned if memory is older than the trace, if more than a window is selected, and for any other
// window.
func TestBeforeExitThatNeedsTheTable(t *testing.T) {
	const exit = traceEnd / 4 * 3
	r := rand.New(rand.NewPCG(1, 3))
	young, _ := processThat(t, r, 300, exitsAt(exit, false))
	older, _ := processThat(t, r, 300, exitsAt(exit, true))
	lasting, _ := process(t, r, 300)
	for _, c := range []struct {
		name   string
		report *analysis.Report
		to     int64
		size   uint64
		told   bool
	}{
		{"young", young, exit - 1, 0, true},
		{"young, and the exit", young, exit, 0, false},
		{"young, and shorter", young, exit - 2, 0, false},
		{"young, of a size", young, exit - 1, 64, false},
		{"older", older, exit - 1, 0, false},
		{"without an exit", lasting, exit - 1, 0, false},
	} {
		_, err := query.New(c.report).Ask(t.Context(), query.Selection{To: new(c.to), Size: query.Range{To: c.size}}, nil)
		if told := !errors.Is(err, analysis.ErrTableMissing); told != c.told || told && err != nil {
			t.Errorf("%s: told %v, want %v: %v", c.name, told, c.told, err)
		}
	}
}

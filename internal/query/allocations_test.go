package query_test

import (
	"math/rand/v2"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/query"
)

// Where a trace does not tell which thread allocated, no number stands for one.
func TestThreadThatTheTraceDoesNotTell(t *testing.T) {
	for thread, cell := range map[uint32]string{0: "0", 7: "7", allocations.NoThread - 1: "4294967294",
		allocations.NoThread: ""} {
		report, rows := processThat(t, rand.New(rand.NewPCG(1, 7)), 1, func(*capture.Trace, heldRows) heldRows {
			return heldRows{{AllocTime: 1, FreeTime: allocations.Never, Size: 1, Thread: thread}}
		})
		result, err := query.New(report).Ask(t.Context(), query.Selection{}, &query.Table{Scanner: rows})
		if err != nil {
			t.Fatal(err)
		}
		list, err := result.Lifetimes(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := list.List[0].Thread; (got == nil) != (cell == "") || got != nil && *got != thread {
			t.Errorf("%d: %v", thread, got)
		}
		if got := list.Cells().Rows[0][6]; got != cell {
			t.Errorf("%d: %q in a table", thread, got)
		}
	}
}

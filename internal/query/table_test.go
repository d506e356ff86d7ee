package query_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
	"heapdrift/internal/query"
)

// The table written of a selection, when asked for everything, gives the numbers of the selection.
func TestTableOfASelection(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 5))
		report, rows := process(t, r, 300)
		s := invent(r)
		result, err := query.New(report).Ask(t.Context(), s, &query.Table{Scanner: rows})
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := result.WriteTable(t.Context(), &file); err != nil {
			t.Fatal(err)
		}
		table, err := allocations.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		whole := query.Selection{From: s.From, To: s.To, Kind: s.Kind} // what heaps took from the system is in no view unless it is asked for
		all, err := query.New(report).Ask(t.Context(), whole, &query.Table{Scanner: table, Meta: table.Meta})
		if err != nil {
			t.Fatal(err)
		}
		for view, of := range map[string]func(*query.Result) (*query.Allocations, error){
			"lifetimes": func(r *query.Result) (*query.Allocations, error) { return r.Lifetimes(t.Context(), 10) },
			"blocks":    func(r *query.Result) (*query.Allocations, error) { return r.Blocks(t.Context(), 10) },
		} {
			want, err := of(result)
			if err != nil {
				t.Fatal(err)
			}
			got, err := of(all)
			if err != nil {
				t.Fatal(err)
			}
			if got.Numbers != want.Numbers || got.LeftOut != want.LeftOut {
				t.Fatalf("seed %d, %s, %s: %+v, want %+v", seed, s.Values().Encode(), view, got.Numbers, want.Numbers)
			}
		}
	}
}

// Snapshots have no allocations to write.
func TestTableOfSnapshots(t *testing.T) {
	result, err := query.New(&analysis.Report{}).Ask(t.Context(), query.Selection{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var refused *analysis.Error
	if err := result.WriteTable(t.Context(), new(bytes.Buffer)); !errors.As(err, &refused) ||
		refused.Code != analysis.CodeNotATrace {
		t.Errorf("%v", err)
	}
}

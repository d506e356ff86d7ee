package query_test

import (
	"math/rand/v2"
	"testing"

	"heapdrift/internal/query"
)

// The count of a class is that of the signatures that the selection of it lists.
func TestClassesCountSignatures(t *testing.T) {
	report, rows := process(t, rand.New(rand.NewPCG(3, 1)), 600)
	index, table := query.New(report), &query.Table{Scanner: rows}
	several := false
	for _, s := range []query.Selection{{}, {To: new(traceEnd / 2)}} {
		result, err := index.Ask(t.Context(), s, table)
		if err != nil {
			t.Fatal(err)
		}
		totals, sum := result.Totals(), 0
		for _, c := range totals.Classes {
			s.Class = c.Name
			of, err := index.Ask(t.Context(), s, table)
			if err != nil {
				t.Fatal(err)
			}
			if n := of.Ranked(query.Metrics[0]).Len(); n != c.Signatures || of.Totals().Signatures != n {
				t.Errorf("%s: %d signatures, of which %d are listed", c.Name, c.Signatures, n)
			}
			several = several || c.Sites > c.Signatures
			sum += c.Signatures
		}
		if sum != totals.Signatures || sum != result.Ranked(query.Metrics[0]).Len() {
			t.Errorf("%d signatures, by class %d", totals.Signatures, sum)
		}
	}
	if !several {
		t.Error("no signature has several sites")
	}
}

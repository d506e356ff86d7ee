package sorting_test

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"heapdrift/ingest/sorting"
)

type row struct{ key, order int }

// Lists are sorted as package slices sorts them, ties in their order.
func TestStable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	byKey := func(a, b row) int { return cmp.Compare(a.key, b.key) }
	for n := range 200 {
		got := make([]row, n)
		for i := range got {
			got[i] = row{random.IntN(max(n/3, 1)), i}
		}
		want := slices.Clone(got)
		slices.SortStableFunc(want, byKey)
		if sorting.Stable(got, byKey); !slices.Equal(got, want) {
			t.Fatalf("%d rows: %v, want %v", n, got, want)
		}
		random.Shuffle(n, func(i, j int) { got[i], got[j] = got[j], got[i] })
		if sorting.Unstable(got, byKey); !slices.IsSortedFunc(got, byKey) {
			t.Fatalf("%d rows: %v", n, got)
		}
	}
}

func TestSorted(t *testing.T) {
	m := map[string]int{"b": 1, "a": 2, "c": 0}
	got := sorting.Sorted(maps.Keys(m), func(a, b string) int { return cmp.Compare(m[a], m[b]) })
	if !slices.Equal(got, []string{"c", "b", "a"}) {
		t.Errorf("%q", got)
	}
}

package query_test

import (
	"math/rand/v2"
	"testing"

	"heapdrift/internal/query"
)

// The tree of two runs has, on each side, the numbers of that run's own tree.
func TestUnion(t *testing.T) {
	for seed := range uint64(20) {
		var indexes [2]*query.Index
		var want, left [2]int64
		for side := range indexes {
			report, _ := process(t, rand.New(rand.NewPCG(seed, uint64(side))), 200)
			indexes[side] = query.New(report)
			r, err := indexes[side].Ask(t.Context(), query.Selection{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			tree, err := r.Tree(t.Context(), query.TreeQuestion{Metric: query.Metrics[0]})
			if err != nil {
				t.Fatal(err)
			}
			want[side], left[side] = sum(tree.Nodes.Self), tree.LeftOut.Bytes
		}
		tree, err := query.Union(t.Context(), indexes[0], indexes[1], "growth")
		if err != nil {
			t.Fatal(err)
		}
		if before, after := sum(tree.Nodes.Before), sum(tree.Nodes.After); before != want[0] || after != want[1] ||
			tree.LeftOut.Bytes != left[0]+left[1] || len(tree.Nodes.Self) != 0 {
			t.Errorf("seed %d: before %d, after %d, left out %d; want %v, %v", seed, before, after, tree.LeftOut.Bytes, want, left)
		}
	}
}

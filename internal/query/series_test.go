package query_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/query"
)

// The classes of a run add up to what its snapshots hold.
func TestClassSeries(t *testing.T) {
	for seed := range uint64(20) {
		report, _ := process(t, rand.New(rand.NewPCG(seed, 9)), 200)
		parts := map[analysis.Class][]int64{}
		sums := make([]int64, len(report.Snapshots))
		x := query.New(report)
		for _, series := range x.ClassSeries("") {
			for k, bytes := range series {
				sums[k] += bytes
			}
		}
		for _, kind := range []string{"heap", "virtual"} { // and each kind its part
			for class, series := range x.ClassSeries(kind) {
				for k, bytes := range series {
					parts[class] = append(parts[class], make([]int64, max(0, len(series)-len(parts[class])))...)
					parts[class][k] += bytes
				}
			}
		}
		if all := x.ClassSeries(""); !maps.EqualFunc(all, parts, slices.Equal) {
			t.Errorf("seed %d: kinds have %v, all %v", seed, parts, all)
		}
		for k, s := range report.Snapshots {
			if sums[k] != s.Bytes {
				t.Errorf("seed %d: classes hold %d bytes at snapshot %d, which holds %d", seed, sums[k], k, s.Bytes)
			}
		}
	}
}

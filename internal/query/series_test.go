package query_test

import (
	"math/rand/v2"
	"testing"

	"heapdrift/internal/query"
)

// The classes of a run hold together what its snapshots hold.
func TestClassSeries(t *testing.T) {
	for seed := range uint64(20) {
		report, _ := process(t, rand.New(rand.NewPCG(seed, 9)), 200)
		sums := make([]int64, len(report.Snapshots))
		for _, series := range query.New(report).ClassSeries() {
			for k, bytes := range series {
				sums[k] += bytes
			}
		}
		for k, s := range report.Snapshots {
			if sums[k] != s.Bytes {
				t.Errorf("seed %d: classes hold %d bytes at snapshot %d, which holds %d", seed, sums[k], k, s.Bytes)
			}
		}
	}
}

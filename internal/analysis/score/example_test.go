package score_test

import (
	"fmt"

	"heapdrift/internal/analysis/score"
)

func Example() {
	axis := &score.Axis{Unit: "hour", At: []float64{0, 0.5, 1, 1.5, 2, 2.5}}
	parser := &score.Series{
		Count:     []int64{100, 149, 203, 248, 300, 352},
		Bytes:     []int64{6400, 9536, 12992, 15872, 19200, 22528},
		Survivors: 198,
	}
	r := score.ExplainSnapshots(parser, axis)
	fmt.Printf("%s %.2f, certain: %v, %.0f blocks per %s\n", r.Class, r.Score, r.Certain, r.Rate.Count, r.Rate.Unit)
	for _, c := range r.Clauses {
		mark := "·"
		if c.Holds != nil {
			mark = map[bool]string{true: "✓", false: "✗"}[*c.Holds]
		}
		fmt.Println(mark, c.Text)
	}
	fmt.Println(score.SnapshotPower(axis, score.Noise(parser, axis), 64))
	// Output:
	// leak 1.00, certain: true, 101 blocks per hour
	// ✓ 6 snapshots
	// ✓ from 100 to 352 blocks; it rises with a probability of above 99 %
	// ✓ a straight line explains above 99 % of the variation; a leak has more than 85 %
	// ✓ the second half grew at 101 % of the first half's rate; a leak has more than 40 %
	// ✓ grew in 5 of 5 intervals
	// ✓ 198 blocks since the second snapshot were never freed: 99 % of the growth; a leak has 40 % or more
	// ✓ steady growth above 99 %, growth that falls off below 1 %, a few bursts below 1 %, only recent growth below 1 %; score 1.00
	// · a cache that is not full yet looks the same: run longer, or mark it as known
	// would have seen ≥ 24 blocks per hour (≥ 1.5 KB per hour)
}

package score_test

import (
	"fmt"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis/score"
)

func Example() {
	hours := []float64{0, 0.5, 1, 1.5, 2, 2.5}
	axis := &score.Axis{Unit: "hour", At: hours, Hours: hours}
	parser := &score.Series{
		Count: []int64{100, 149, 203, 248, 300, 352},
		Bytes: []int64{6400, 9536, 12992, 15872, 19200, 22528},
		Spans: []capture.Span{{First: 0, Last: 5, Count: 100}, {First: 1, Last: 5, Count: 49},
			{First: 2, Last: 5, Count: 54}, {First: 3, Last: 5, Count: 45}, {First: 4, Last: 5, Count: 52},
			{First: 5, Last: 5, Count: 52}},
		Followed: true,
	}
	r := score.ExplainSnapshots(parser, axis, nil)
	fmt.Printf("%s %.2f, certain: %v, %.0f blocks per %s\n", r.Class, r.Score, r.Certain, r.Rate.Count, r.Rate.Unit)
	for _, c := range r.Clauses {
		mark := "·"
		if c.Holds != nil {
			mark = map[bool]string{true: "✓", false: "✗"}[*c.Holds]
		}
		fmt.Println(mark, c.Text)
	}
	_, why := score.SnapshotPower(axis, true, score.Noise(parser, axis), 64)
	fmt.Println(why)
	// Output:
	// leak 0.98, certain: false, 101 blocks per hour
	// ✓ 6 snapshots
	// ✓ from 100 to 352 blocks; it rose in 5 of 5 intervals
	// ✓ its rises are as steady as the work of the process
	// ✓ 200 blocks that came in 4 of 4 intervals stayed to the end
	// ✓ of 148 blocks that came in the first three quarters, 148 were never freed
	// ✓ its oldest block that came and stayed is 2 h old, and none of its blocks was seen to be freed
	// ✓ none of its blocks that are older than a quarter of the time watched was freed
	// ✓ 21 % of the blocks that stay came in the last 20 % of the work
	// · of generated stacks that look like this 98 % leaked
	// · a cache that is not full yet looks the same: record longer, or mark it as known
	// with fewer than 10 snapshots no leak would have been certain
}

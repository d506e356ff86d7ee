package allocations

import (
	"fmt"
	"testing"
)

// The parts of a stretch follow each other from its beginning to its end, and there are as many as the rows need.
func TestTimeCounts(t *testing.T) {
	for _, c := range []struct{ from, to, rows, least, most int64 }{
		{hour, hour + 1<<40, 0, 64, 64},
		{hour, hour + 1<<40, 64*16 + 15, 64, 64},
		{hour, hour + 1<<40, 65 * 16, 65, 65},
		{hour, hour + 1<<40, 1<<22 - 1, 1<<18 - 1, 1<<18 - 1},
		{hour, hour + 1<<40, 1 << 22, 1 << 18, 1 << 18},
		{hour, hour + 1<<40, 1<<22 + 16, 1 << 18, 1 << 18},
		{7_000_000, 8_000_000, 1024, 64, 65},
		{-8_000_000, -7_000_000, 1600, 100, 101},
		{-5_000_000, 5_000_000, 160_000, 9_900, 10_001},
		{hour, 2 * hour, 1 << 30, 1<<18 - 1000, 1<<18 + 1},
		{BeforeTrace + 1, Never - 1, 16_000, 1000, 1001},
		{3, 3, 1 << 30, 1, 1},
		{3, 12, 1 << 30, 10, 10},
	} {
		counts := newTimeCounts(c.from, c.to, c.rows)
		n := int64(len(counts.changes))
		if n < c.least || n > c.most {
			t.Errorf("%d rows from %d to %d: %d parts, want %d to %d", c.rows, c.from, c.to, n, c.least, c.most)
		}
		next := c.from
		for i := range counts.changes {
			from, to := counts.span(i, i)
			if from != next || to < from || counts.part(from) != i || counts.part(to) != i {
				t.Fatalf("%d rows from %d to %d: part %d is from %d to %d, after %d", c.rows, c.from, c.to, i, from, to, next)
			}
			next = to + 1
		}
		if next != c.to+1 {
			t.Errorf("%d rows from %d to %d: the last part ends at %d", c.rows, c.from, c.to, next-1)
		}
	}
}

// Peaks are found however narrow the parts are that hold more changes than a slice: parts are divided down to instants.
func TestPartsAreDividedToInstants(t *testing.T) {
	for _, at := range []int64{0, 12_345, hour - 1} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			var rows []Row
			for i := range 40 {
				rows = append(rows, Row{Address: uint64(16 * (i + 1)), Size: 8, AllocTime: at, FreeTime: Never})
			}
			a, err := ask(t.Context(), spoolOf(t, rows), Question{From: 0, To: hour, Sites: 1, Samples: 2, Peaks: [][]int32{{0}}}, 3)
			if err != nil || a.Peaks[0][0] != (Peak{Usage{40, 320}, at}) {
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
}

package score_test

import (
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/analysis/score"
)

// ones are n counts of one block.
func ones(n int) []int64 { return slices.Repeat([]int64{1}, n) }

func TestGrowsInPlace(t *testing.T) {
	one := []int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	for name, c := range map[string]struct {
		count, bytes []int64
		want         bool
	}{
		"a list that is never emptied": {one, []int64{100, 200, 300, 400, 500, 600, 700, 800, 900, 1000}, true},
		"by a share":                   {one, []int64{100, 120, 144, 173, 207, 249, 299, 358, 430, 516}, true},
		"to 1.25 times its size":       {one[:6], []int64{800, 840, 880, 920, 960, 1000}, true},
		"to a little less":             {one[:6], []int64{800, 840, 880, 920, 960, 999}, false},
		"begun late": {[]int64{0, 0, 1, 1, 1, 1, 1, 1, 1, 1},
			[]int64{0, 0, 10, 20, 30, 40, 50, 60, 70, 80}, true},
		"begun in the second half": {[]int64{0, 0, 0, 0, 0, 0, 1, 1, 1, 1},
			[]int64{0, 0, 0, 0, 0, 0, 10, 20, 30, 40}, false},
		"four blocks": {[]int64{4, 4, 4, 4, 4, 4, 4, 4, 4, 4},
			[]int64{100, 200, 300, 400, 500, 600, 700, 800, 900, 1000}, true},
		"five blocks": {[]int64{5, 5, 5, 5, 5, 5, 5, 5, 5, 5},
			[]int64{100, 200, 300, 400, 500, 600, 700, 800, 900, 1000}, false},
		"six snapshots":                  {one[:6], []int64{100, 200, 300, 400, 500, 600}, true},
		"five snapshots":                 {one[:5], []int64{100, 200, 300, 400, 500}, false},
		"a table that doubles":           {one, []int64{100, 100, 200, 200, 200, 400, 400, 400, 400, 800}, false},
		"a buffer that found its size":   {one, []int64{100, 400, 700, 900, 1000, 1000, 1000, 1000, 1000, 1000}, false},
		"a buffer that follows its load": {one, []int64{100, 400, 200, 700, 300, 900, 200, 1000, 400, 1100}, false},
		"steady":                         {one, []int64{100, 100, 100, 100, 100, 100, 100, 100, 100, 100}, false},
		"slower by half":                 {one, []int64{100, 300, 500, 700, 900, 1000, 1090, 1180, 1270, 1360}, true},
		"resized ever more seldom, in 19 intervals": {ones(20), []int64{100, 125, 125, 156, 156, 195, 195, 195, 244, 244, 244,
			305, 305, 305, 381, 381, 381, 477, 477, 477}, true},
		"a table that doubles, in 19 intervals": {ones(20), []int64{100, 100, 100, 200, 200, 200, 200, 200, 400, 400, 400, 400,
			400, 400, 400, 400, 800, 800, 800, 800}, false},
		"ever slower": {one, []int64{100, 400, 700, 1000, 1300, 1350, 1400, 1450, 1500, 1550}, false},
	} {
		if got := score.GrowsInPlace(&score.Series{Count: c.count, Bytes: c.bytes}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	s := &score.Series{Count: one, Bytes: []int64{100, 200, 300, 400, 500, 600, 700, 800, 900, 1000}}
	if r := score.ExplainSnapshots(s, even(10, 1), nil); r.Class != score.ClassGrowingBlock || r.Certain ||
		!strings.Contains(r.Clauses[len(r.Clauses)-1].Text, "from 100 B to 1,000 B, in 9 of 9 intervals") {
		t.Errorf("%+v", r)
	}
}

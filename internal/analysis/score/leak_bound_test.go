package score_test

import (
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis/score"
)

func TestMostLeakedOfSeries(t *testing.T) {
	at := []float64{0, 1, 2, 3, 4, 5, 6, 7, 8} // intervals 1 and 2 are the warm-up, 8 may be in use
	steady := []int64{0, 10, 20, 30, 40, 50, 60, 70, 80}
	span := func(first, last, count int) capture.Span {
		return capture.Span{First: int32(first), Last: int32(last), Count: int64(count)}
	}
	for _, test := range []struct {
		name   string
		series score.Series
		at     []float64
		want   float64
	}{
		{"steady", score.Series{Count: steady}, at, 80},
		{"all at the start", score.Series{Count: []int64{0, 40, 80, 80, 80, 80, 80, 80, 80}}, at, 0},
		{"in the first interval that counts", score.Series{Count: []int64{0, 0, 0, 5, 5, 5, 5, 5, 5}}, at, 8},
		{"in the last that counts", score.Series{Count: []int64{0, 0, 0, 0, 0, 0, 0, 5, 5}}, at, 8},
		{"in the very last", score.Series{Count: []int64{0, 0, 0, 0, 0, 0, 0, 0, 5}}, at, 0},
		{"falls take nothing away", score.Series{Count: []int64{9, 9, 9, 14, 0, 0, 0, 0, 0}}, at, 8},
		{"followed: what stayed", score.Series{Count: steady, Followed: true,
			Spans: []capture.Span{span(3, 8, 5), span(4, 7, 100), span(2, 8, 100), span(8, 8, 100), span(0, 8, 100)}}, at, 8},
		{"two snapshots", score.Series{Count: []int64{3, 10}}, []float64{0, 1}, 7},
		{"one", score.Series{Count: []int64{3}}, []float64{0}, 0},
		{"no time", score.Series{Count: []int64{3, 9, 20}}, []float64{1, 1, 1}, 0},
		{"more instants than counts", score.Series{Count: []int64{3}}, at, 0},
	} {
		if got := score.MostLeakedOfSeries(&test.series, &score.Axis{At: test.at}); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestMostLeakedOfSurvival(t *testing.T) {
	var v allocations.Survival
	for i := range v.Left {
		v.Left[i] = 11
	}
	n := len(v.Left)
	if got, want := score.MostLeakedOfSurvival(&v), float64(11*n); got != want {
		t.Errorf("steady: %v, want %v", got, want)
	}
	for i := range v.Left {
		if i >= n/4 && i < n-1 {
			v.Left[i] = 0
		}
	}
	if got := score.MostLeakedOfSurvival(&v); got != 0 {
		t.Errorf("of the warm-up and of the end: %v", got)
	}
}

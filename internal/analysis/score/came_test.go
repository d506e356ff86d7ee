package score_test

import (
	"slices"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis/score"
)

// What came and stayed counts by interval; blocks that had no time to be freed are left out.
func TestCame(t *testing.T) {
	counts := []int64{10, 14, 12, 20, 21}
	if got := score.ArrivalsOfSeries(&score.Series{Count: counts}); !slices.Equal(got, []int64{4, 0, 8, 1}) {
		t.Errorf("without addresses %d", got)
	}
	spans := []capture.Span{{First: 0, Last: 4, Count: 10}, {First: 1, Last: 4, Count: 3}, {First: 1, Last: 3, Count: 9},
		{First: 3, Last: 4, Count: 5}, {First: 4, Last: 4, Count: 7}}
	if got := score.ArrivalsOfSeries(&score.Series{Count: counts, Spans: spans, Followed: true}); !slices.Equal(got, []int64{3, 0, 5}) {
		t.Errorf("with addresses %d", got)
	}
	if got := score.ArrivalsOfSeries(&score.Series{Count: counts[:1]}); got != nil {
		t.Errorf("one snapshot %d", got)
	}
	v := &allocations.Survival{}
	v.Left[0], v.Left[59], v.Left[60] = 3, 4, 5
	if got := score.ArrivalsOfSurvival(v); len(got) != 60 || got[0] != 3 || got[59] != 4 {
		t.Errorf("trace %d", got)
	}
}

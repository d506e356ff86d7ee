package score_test

import (
	"slices"
	"strings"
	"testing"

	"heapdrift/internal/analysis/score"
)

// A series of a sample is judged by what was recorded, and gives rates and bounds of all blocks.
func TestSampledSeries(t *testing.T) {
	axis := &score.Axis{Unit: "hour"}
	recorded := &score.Series{}
	for i := range 12 {
		axis.At = append(axis.At, float64(i))
		recorded.Count = append(recorded.Count, int64(10+10*i))
		recorded.Bytes = append(recorded.Bytes, int64(64*500*(10+10*i)))
	}
	sampled := *recorded
	sampled.Weight = 500
	plain, all := score.ExplainSnapshots(recorded, axis, nil), score.ExplainSnapshots(&sampled, axis, nil)
	if all.Score != plain.Score || all.Class != plain.Class {
		t.Errorf("%s %g of the sample, %s %g of as many blocks", all.Class, all.Score, plain.Class, plain.Score)
	}
	if all.Rate.Count != 5000 || plain.Rate.Count != 10 || all.Rate.Bytes != plain.Rate.Bytes {
		t.Errorf("rates %+v and %+v", all.Rate, plain.Rate)
	}
	if a, b := score.MostLeakedOfSeries(&sampled, axis), score.MostLeakedOfSeries(recorded, axis); a != 500*b || b == 0 {
		t.Errorf("bounds %g and %g", a, b)
	}
	said := func(r *score.Result, text string) bool {
		return slices.ContainsFunc(r.Clauses, func(c score.Clause) bool { return strings.Contains(c.Text, text) })
	}
	if !said(&all, "From 10 to 120 recorded blocks") || said(&plain, "recorded") || said(&all, "UMDH") || !said(&plain, "UMDH") {
		t.Errorf("%+v", all.Clauses)
	}
}

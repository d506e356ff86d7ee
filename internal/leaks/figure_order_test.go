package leaks_test

import (
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/score"
	"heapdrift/internal/leaks"
)

// Figures are in the order in which a team looks at them. Each stands before the next; what is not known of a figure,
// its rate or its growth, is no reason to show it first.
func TestOrderOfFigures(t *testing.T) {
	rate := func(bytes float64, unit string) *score.Rate { return &score.Rate{Bytes: bytes, Unit: unit} }
	held := func(bytes int64) analysis.Amount { return analysis.Amount{Bytes: bytes} }
	grown := func(bytes int64) *analysis.Amount { return &analysis.Amount{Bytes: bytes} }
	high, low := 0.9, 0.2
	for name, test := range map[string]struct {
		compare func(a, b *leaks.Figure) int
		order   []leaks.Figure
	}{
		"urgency": {leaks.CompareUrgency, []leaks.Figure{
			{Class: analysis.ClassStable, Certain: true},
			{Class: analysis.ClassLeak, Rate: rate(9, "hour")},
			{Class: analysis.ClassLeak, Rate: rate(8, "hour"), Growth: grown(7)},
			{Class: analysis.ClassGrowing, Rate: rate(99, "hour")},
		}},
		"urgency by other units": {leaks.CompareUrgency, []leaks.Figure{
			{Class: analysis.ClassLeak, Rate: rate(1, "hour"), Growth: grown(3)},
			{Class: analysis.ClassLeak, Rate: rate(2, "request"), Growth: grown(2)},
			{Class: analysis.ClassLeak, Growth: grown(1)},
		}},
		"urgency without a rate": {leaks.CompareUrgency, []leaks.Figure{
			{Class: analysis.ClassLeak, Growth: grown(2)},
			{Class: analysis.ClassLeak, Rate: rate(5, "hour"), Growth: grown(1)},
			{Class: analysis.ClassLeak, Outstanding: held(9)},
		}},
		"gravity": {leaks.CompareGravity, []leaks.Figure{
			{Class: analysis.ClassLeak, Certain: true, Score: &low},
			{Class: analysis.ClassLeak, Score: &high},
			{Class: analysis.ClassLeak, Score: &low, Growth: grown(2)},
			{Class: analysis.ClassLeak, Score: &low, Growth: grown(1), Outstanding: held(9)},
			{Class: analysis.ClassLeak, Score: &low, Growth: grown(1), Outstanding: held(8)},
			{Class: analysis.ClassLeak, Score: &low, Growth: grown(-5)},
			{Class: analysis.ClassLeak, Score: &low, Outstanding: held(99)},
			{Class: analysis.ClassGrowing, Certain: true, Score: &high, Growth: grown(9)},
			{Class: analysis.ClassStable, Certain: true, Score: &high, Growth: grown(9)},
		}},
	} {
		for i := range test.order {
			if got := test.compare(&test.order[i], &test.order[i]); got != 0 {
				t.Errorf("%s: figure %d and itself: %d", name, i, got)
			}
			for k := range i {
				before, behind := test.compare(&test.order[k], &test.order[i]), test.compare(&test.order[i], &test.order[k])
				if before >= 0 || behind <= 0 {
					t.Errorf("%s: figures %d and %d: %d, the other way %d", name, k, i, before, behind)
				}
			}
		}
	}
}

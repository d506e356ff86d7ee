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
		"urgency of short runs": {leaks.CompareUrgency, []leaks.Figure{ // 127 MB/hour of a minute is no more than 2 MB/hour
			{Class: analysis.ClassLeak, Rate: &score.Rate{Bytes: 2 << 20, Unit: "hour", Over: 1}, Growth: grown(3)},
			{Class: analysis.ClassLeak, Rate: &score.Rate{Bytes: 127 << 20, Unit: "hour", Over: 0.016}, Growth: grown(2)},
			{Class: analysis.ClassLeak, Rate: &score.Rate{Bytes: 126 << 20, Unit: "hour", Over: 0.016}, Growth: grown(2)},
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

// A leak's growth is stated by the run that tells it per hour or unit of work, where another is too short for that and
// the two agree on the leak.
func TestTellsMore(t *testing.T) {
	rated := func(class analysis.Class, unit string, over float64) *leaks.Figure {
		return &leaks.Figure{Class: class, Rate: &score.Rate{Bytes: 1, Unit: unit, Over: over}}
	}
	short := rated(analysis.ClassLeak, "hour", 0.1)
	for name, test := range map[string]struct {
		a, b *leaks.Figure
		more bool
	}{
		"an hour":         {rated(analysis.ClassLeak, "hour", 1), short, true},
		"work":            {rated(analysis.ClassLeak, "document", 9), short, true},
		"short":           {short, short, false},
		"both tell":       {rated(analysis.ClassLeak, "hour", 1), rated(analysis.ClassLeak, "hour", 2), false},
		"another class":   {rated(analysis.ClassGrowing, "hour", 1), short, false},
		"nothing known":   {&leaks.Figure{Class: analysis.ClassLeak}, short, false},
		"in place of nil": {rated(analysis.ClassLeak, "hour", 1), &leaks.Figure{Class: analysis.ClassLeak}, false},
	} {
		if got := leaks.TellsMore(test.a, test.b); got != test.more {
			t.Errorf("%s: %v", name, got)
		}
	}
}

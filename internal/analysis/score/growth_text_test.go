package score

import "testing"

// Growth is stated per hour from runs of half an hour, per unit of work whatever the length, and else in the run.
func TestStateGrowth(t *testing.T) {
	grown := int64(3 << 20)
	for name, test := range map[string]struct {
		rate  Rate
		grown *int64
		text  string
		page  string
	}{
		"below half an hour": {Rate{Unit: "hour", Bytes: 4 << 20, Over: 0.4999}, nil, "2.00 MB in 30 min", " in 30 min"},
		"half an hour":       {Rate{Unit: "hour", Bytes: 4 << 20, Over: 0.5}, nil, "4.00 MB per hour", "/hour"},
		"above":              {Rate{Unit: "hour", Bytes: 4 << 20, Over: 0.5001}, nil, "4.00 MB per hour", "/hour"},
		"what the run grew by": {Rate{Unit: "hour", Bytes: 127 << 20, Over: 59.0 / 3600, Span: 61.0 / 3600}, &grown,
			"3.00 MB in 61 s", " in 61 s"},
		"a run whose judged part is below": {Rate{Unit: "hour", Bytes: 4 << 20, Over: 0.45, Span: 0.5}, &grown,
			"4.00 MB per hour", "/hour"},
		"work":           {Rate{Unit: "document", Bytes: 1024, Over: 0.1}, &grown, "1.00 KB per document", "/document"},
		"unknown length": {Rate{Unit: "hour", Bytes: 1024}, &grown, "1.00 KB per hour", "/hour"},
	} {
		g := test.rate.State(test.grown)
		if g.Text() != test.text || g.Basis() != test.page {
			t.Errorf("%s: %q, %q", name, g.Text(), g.Basis())
		}
	}
	g := (&Rate{Unit: "hour", Bytes: 1 << 20, Over: 0.1}).State(nil)
	if got := g.TextBeside(); got != ", in 6 min" {
		t.Error(got)
	}
}

// Growth of short runs compares with that of runs of about the same length only.
func TestAreAlike(t *testing.T) {
	rate := func(unit string, over float64) StatedGrowth {
		return (&Rate{Unit: unit, Bytes: 1, Over: over}).State(nil)
	}
	for name, test := range map[string]struct {
		a, b  StatedGrowth
		alike bool
	}{
		"hours":                      {rate("hour", 1), rate("hour", 24), true},
		"an hour and a short run":    {rate("hour", 1), rate("hour", 0.1), false},
		"short runs of one length":   {rate("hour", 0.1), rate("hour", 0.1), true},
		"a quarter longer":           {rate("hour", 0.1), rate("hour", 0.125), true},
		"more than a quarter longer": {rate("hour", 0.126), rate("hour", 0.1), false},
		"units of work":              {rate("document", 1), rate("page", 1), false},
		"work and hours":             {rate("document", 1), rate("hour", 1), false},
	} {
		if AreAlike(&test.a, &test.b) != test.alike || AreAlike(&test.b, &test.a) != test.alike {
			t.Errorf("%s: not %v", name, test.alike)
		}
	}
}

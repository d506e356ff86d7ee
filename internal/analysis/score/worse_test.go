package score_test

import (
	"math"
	"slices"
	"testing"

	"heapdrift/internal/analysis/score"
)

func TestWorse(t *testing.T) {
	for name, c := range map[string]struct {
		base, head score.Exposure
		want       float64
	}{
		// Without blocks in the base, 1 − (1.25/2.25)^k.
		"8 against none":    {score.Exposure{Over: 1}, score.Exposure{Count: 8, Over: 1}, 1 - math.Pow(1.25/2.25, 8)},
		"1 against none":    {score.Exposure{Over: 1}, score.Exposure{Count: 1, Over: 1}, 1 - 1.25/2.25},
		"none against none": {score.Exposure{Over: 1}, score.Exposure{Over: 1}, 0},
		"bursts of ten": {score.Exposure{Over: 1}, score.Exposure{Count: 80, Over: 1, Dispersion: 10},
			1 - math.Pow(1.25/2.25, 8)},
		"longer":               {score.Exposure{Over: 1}, score.Exposure{Count: 8, Over: 3}, 1 - math.Pow(3.75/4.75, 8)},
		"no time":              {score.Exposure{Over: 1}, score.Exposure{Count: 8}, 0},
		"counts that are none": {score.Exposure{Count: math.NaN(), Over: 1}, score.Exposure{Count: 8, Over: 1}, 0},
	} {
		if got := score.ProbabilityOfFaster(c.base, c.head); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if p := score.ProbabilityOfFaster(score.Exposure{Count: 1e7, Over: 1}, score.Exposure{Count: 1.26e7, Over: 1}); p < 0.99 {
		t.Errorf("1.26 times ten million blocks: %v", p)
	}
	if p := score.ProbabilityOfFaster(score.Exposure{Count: 1000, Over: 1}, score.Exposure{Count: 1100, Over: 1}); p > 0.01 {
		t.Errorf("a tenth more: %v", p)
	}
}

func TestDiscoveries(t *testing.T) {
	// The example of Benjamini and Hochberg's paper: four are found at q = 0.05.
	p := []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
		0.5719, 0.6528, 0.7590, 1}
	found := score.Discoveries(p, 0.05)
	for i := range found {
		if found[i] != (i < 4) {
			t.Errorf("p = %v: %v", p[i], found[i])
		}
	}
	if got := score.Discoveries([]float64{math.NaN(), 0.001}, 0.05); !slices.Equal(got, []bool{false, true}) {
		t.Errorf("%v", got)
	}
	if len(score.Discoveries(nil, 0.05)) != 0 {
		t.Error("found something in nothing")
	}
}

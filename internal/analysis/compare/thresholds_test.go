package compare

import (
	"testing"

	"heapdrift/internal/analysis/score"
)

// at is a finding with so many blocks in 100 hours.
func at(blocks float64) *Finding {
	return &Finding{Class: score.Leak, RateUnit: "hour", RateCount: blocks / 100, Exposure: 100, Dispersion: 1}
}

// Growth is noticed from the factor and the sureness on, and not below either of them.
func TestSpeedThresholds(t *testing.T) {
	for _, c := range []struct {
		name       string
		base, head float64
		want       Change
	}{
		{"just below the factor, however sure", 1_000_000, 1_249_999, Persisting},
		{"at the factor, which is not sure to be passed", 1_000_000, 1_250_000, Persisting},
		{"above the factor and sure", 1_000_000, 1_254_000, Grown},
		{"just below sureness", 100, 168, Persisting},
		{"just above sureness", 100, 169, Grown},
		{"slower, just below sureness", 168, 100, Persisting},
		{"slower, just above sureness", 169, 100, Shrunk},
	} {
		if got, why, chance := speed(at(c.base), at(c.head)); got != c.want {
			t.Errorf("%s: %s, want %s (%s, by chance %.4f)", c.name, got, c.want, why, chance)
		}
	}
}

// Of changes of speed that chance makes among many leaks, falseShare is let through.
func TestDoubtThresholds(t *testing.T) {
	for _, c := range []struct {
		name   string
		chance float64
		want   Change
	}{
		{"just below", 0.0049, Grown}, {"at it", 0.005, Grown}, {"just above", 0.0051, Persisting},
	} {
		list := &Comparison{}
		for range 9 {
			list.Rows = append(list.Rows, Row{Base: at(1), Head: at(1), Change: Persisting, chance: 1})
		}
		list.Rows = append(list.Rows, Row{Base: at(1), Head: at(2), Change: Grown, chance: c.chance})
		if list.doubt(); list.Rows[9].Change != c.want {
			t.Errorf("%s: a chance of %v among ten leaks: %s, want %s", c.name, c.chance, list.Rows[9].Change, c.want)
		}
	}
}

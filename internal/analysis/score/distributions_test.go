package score

import (
	"math"
	"testing"
)

// TestDistributions compares with tables: Abramowitz & Stegun 26.10 (t), Garwood's interval, and the binomial sum.
func TestDistributions(t *testing.T) {
	for _, c := range []struct {
		name            string
		got, want, near float64
	}{
		{"t of 12.706 with 1 degree", studentCDF(12.7062, 1), 0.975, 1e-6},
		{"t of 2.571 with 5 degrees", studentCDF(2.570582, 5), 0.975, 1e-6},
		{"t of −2.571 with 5 degrees", studentCDF(-2.570582, 5), 0.025, 1e-6},
		{"t of 0", studentCDF(0, 3), 0.5, 1e-12},
		{"t without end", studentCDF(math.Inf(1), 3), 1, 0},
		{"I of 0.3 (2, 5)", betaRegularized(0.3, 2, 5), 0.579825, 1e-6},
		{"I of 0.5 (1e6, 1e6)", betaRegularized(0.5, 1e6, 1e6), 0.5, 1e-6},
		{"P(3, 2)", gammaRegularized(3, 2), 0.3233236, 1e-6},
		{"P(3, 20)", gammaRegularized(3, 20), 1 - 221*math.Exp(-20), 1e-9},
	} {
		if !(math.Abs(c.got-c.want) <= c.near) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	for k, want := range map[int64][2]float64{0: {0, 3.6889}, 1: {0.0253, 5.5716}, 10: {4.7954, 18.3904},
		100: {81.3640, 121.6272}, 101: {82.27, 122.73}} {
		low, high := poissonInterval(k)
		if math.Abs(low-want[0]) > 0.02 || math.Abs(high-want[1]) > 0.02 {
			t.Errorf("%d: %v to %v, want %v", k, low, high, want)
		}
	}
}

func TestLogGamma(t *testing.T) {
	for x := 1e-9; x < 1e9; x *= 1.37 {
		want, _ := math.Lgamma(x)
		if got := lgamma(x); math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
			t.Errorf("ln Γ(%v) = %v, want %v", x, got, want)
		}
	}
	for _, x := range []float64{1e-12, 0.001, 0.37, 3, 5, 100} {
		for d := range 12 {
			a, _ := math.Lgamma(x + float64(d))
			b, _ := math.Lgamma(x)
			if got := lnRising(x, float64(d)); math.Abs(got-(a-b)) > 1e-8 {
				t.Errorf("x = %v, d = %d: %v, want %v", x, d, got, a-b)
			}
		}
	}
}

// The interval of a count is exact up to 100. Above it is an approximation, which differs by less than 1 in 1,000.
func TestWhereTheIntervalIsExact(t *testing.T) {
	for k, exact := range map[int64]bool{1: true, 2: true, 99: true, 100: true, 101: false, 102: false, 1000: false} {
		low, high := poissonInterval(k)
		n := float64(k)
		off := max(math.Abs(gammaRegularized(n, low)-0.025), math.Abs(gammaRegularized(n+1, high)-0.975))
		if (off < 1e-9) != exact || off > 1e-3 {
			t.Errorf("the interval of %d is off by %g", k, off)
		}
	}
}

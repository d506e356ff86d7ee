package compare

import "testing"

// An amount within the range of others is as they are. Those that are not known, which are 0, do not count; amounts
// below 1 do, such as half a block an hour.
func TestRatioToAny(t *testing.T) {
	for _, test := range []struct {
		a      float64
		others []float64
		want   float64
	}{
		{1, nil, 0}, {1, []float64{0, 0}, 0}, {0.5, []float64{0, 0.5}, 1}, {0.5, []float64{0.25, 1}, 1}, {1, []float64{1}, 1},
		{2, []float64{1}, ratio(2, 1)}, {0.5, []float64{0, 1}, ratio(0.5, 1)}, {4, []float64{0.5, 2}, ratio(4, 2)},
	} {
		if got := ratioToAny(test.a, test.others); got != test.want {
			t.Errorf("%g to %v: %g, want %g", test.a, test.others, got, test.want)
		}
	}
}

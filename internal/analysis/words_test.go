package analysis_test

import (
	"testing"

	"heapdrift/internal/analysis"
)

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 0.01234: "0.0123", 12.34: "12.3", 99.94: "99.9", 99.96: "100", 6781.5: "6,782", 1e9: "1,000,000,000", -250.2: "−250"} {
		if got := analysis.Number(x); got != want {
			t.Errorf("%g: %s, want %s", x, got, want)
		}
	}
}

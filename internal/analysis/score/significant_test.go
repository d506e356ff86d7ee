package score

import "testing"

// Two digits, rounded up, and never as a power of ten.
func TestSignificant(t *testing.T) {
	for v, want := range map[float64]string{
		-1: "0", 0: "0", 0.0101: "0.011", 0.99: "0.99", 0.991: "1", 1.01: "1.1", 9.91: "10", 10.1: "11", 99: "99", 99.1: "100",
		100: "100", 100.5: "110", 990: "990", 991: "1,000", 12345: "13,000",
	} {
		if got := significant(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

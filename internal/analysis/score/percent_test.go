package score

import "testing"

// A share that is not whole never reads as nothing or as all.
func TestPercent(t *testing.T) {
	for p, want := range map[float64]string{
		0: "0 %", 0.0001: "less than 1 %", 0.0049: "less than 1 %", 0.005: "1 %", 0.5: "50 %", 0.99: "99 %", 0.9901: "more than 99 %",
		0.9999: "more than 99 %", 1: "100 %", 1.006: "101 %", 9.99: "999 %", 9.991: "more than 999 %",
	} {
		if got := percent(p); got != want {
			t.Errorf("%v: %s, want %s", p, got, want)
		}
	}
}

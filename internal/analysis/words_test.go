package analysis_test

import (
	"testing"
	"time"

	"heapdrift/internal/analysis"
)

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 0.01234: "0.0123", 12.34: "12.3", 99.94: "99.9", 99.96: "100",
		6781.5: "6,782", 1e9: "1,000,000,000", -250.2: "−250"} {
		if got := analysis.Number(x); got != want {
			t.Errorf("%g: %s, want %s", x, got, want)
		}
	}
}

// A duration is printed in the largest unit of which it has at least two.
func TestSpans(t *testing.T) {
	for d, want := range map[time.Duration][2]string{
		0:                                {"0 seconds", "0 s"},
		400 * time.Microsecond:           {"0.0004 seconds", "0.0004 s"},
		time.Second:                      {"1 second", "1 s"},
		90 * time.Second:                 {"90 seconds", "90 s"},
		2*time.Minute - time.Millisecond: {"120 seconds", "120 s"},
		2 * time.Minute:                  {"2 minutes", "2 min"},
		150 * time.Second:                {"2.5 minutes", "2.5 min"},
		2*time.Hour - time.Second:        {"120 minutes", "120 min"},
		2 * time.Hour:                    {"2 hours", "2 h"},
		2*time.Hour + 30*time.Minute:     {"2.5 hours", "2.5 h"},
		48*time.Hour - time.Minute:       {"48 hours", "48 h"},
		48 * time.Hour:                   {"2 days", "2 d"},
		100 * 24 * time.Hour:             {"100 days", "100 d"},
	} {
		if got := [2]string{analysis.Lasting(d), analysis.Span(d)}; got != want {
			t.Errorf("%v is %q, not %q", d, got, want)
		}
	}
}

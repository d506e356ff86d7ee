package quantity_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"heapdrift/ingest/quantity"
)

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 0.01234: "0.0123", 12.34: "12.3", 99.94: "99.9", 99.95: "100", 99.96: "100",
		6781.5: "6,782", 1e9: "1,000,000,000", -250.2: "−250"} {
		if got := quantity.Number(x); got != want {
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
		if got := [2]string{quantity.LongDuration(d), quantity.ShortDuration(d)}; got != want {
			t.Errorf("%v is %q, not %q", d, got, want)
		}
	}
}

func TestPlural(t *testing.T) {
	for want, got := range map[string]string{
		"0 blocks": quantity.Plural(0, "block"), "1 block": quantity.Plural(1, "block"),
		"2,041 blocks": quantity.Plural(int64(2041), "block"), "1 entry": quantity.Plural(1, "entry"),
		"3 entries": quantity.Plural(3, "entry"), "2 keys": quantity.Plural(2, "key"), "2 days": quantity.Plural(2, "day"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Sizes have three significant digits, and never 1,000 of a unit that has a larger one.
func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1: "1 B", 1023: "1,023 B", 1024: "1.00 KB", -1536: "−1.50 KB",
		10229: "9.99 KB", 10235: "10.0 KB", 102348: "99.9 KB", 102349: "100 KB",
		10 << 20: "10.0 MB", 999<<20 + 1<<19 - 1: "999 MB", 999<<20 + 1<<19: "0.98 GB", 1 << 40: "1.00 TB",
		math.MaxInt64: "8388608 TB"} {
		if got := quantity.Bytes(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func ExamplePlural() {
	fmt.Println(quantity.Plural(2041, "block"), "of", quantity.Bytes(3<<20))
	// Output: 2,041 blocks of 3.00 MB
}

// A score that is neither 0 nor 1 never looks like one of these.
func TestScore(t *testing.T) {
	for p, want := range map[float64]string{
		0: "0.00", 1: "1.00", 0.5: "0.50", 0.0051: "0.01", 0.0049: "0.005", 0.002: "0.002", 0.0004: "0.0004",
		0.00004: "<0.0001", 0.0177: "0.02", 0.9949: "0.99", 0.9951: "0.995", 0.9978: "0.998",
		0.99951: "0.9995", 0.99996: ">0.9999",
	} {
		if got := quantity.Score(p); got != want {
			t.Errorf("%v: %q, want %q", p, got, want)
		}
	}
}

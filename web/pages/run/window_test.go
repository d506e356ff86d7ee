package run

import (
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
)

// A time of an address is a number of seconds within three years; anything else counts as not there.
func TestSecondsOfAnAddress(t *testing.T) {
	for _, test := range []struct {
		text string
		ns   int64
		ok   bool
	}{
		{"0", 0, true}, {" 1.5 ", 1_500_000_000, true}, {"-2", -2_000_000_000, true}, {"1e-9", 1, true}, {"0.4e-9", 0, true},
		{"1e8", 1e17, true}, {"-1e8", -1e17, true}, {"100000000.1", 0, false}, {"-100000000.1", 0, false},
		{"", 0, false}, {"soon", 0, false}, {"NaN", 0, false}, {"Inf", 0, false}, {"-Inf", 0, false}, {"1e400", 0, false},
	} {
		if ns, ok := parseSeconds(test.text); ns != test.ns || ok != test.ok {
			t.Errorf("%q: %d, %t", test.text, ns, ok)
		}
	}
}

// A time reads with the digits that it needs.
func TestClock(t *testing.T) {
	for ns, want := range map[int64]string{0: "0.0 s", 1e9: "1.0 s", 999_999_999: "1.000 s", 1e6: "0.001 s", 999_999: "0.001000 s",
		1_000: "0.000001 s", 1_234_560_000_000: "1,234.6 s", -500_000_000: "−0.500 s", -2e9: "−2.0 s"} {
		if got := clock(ns); got != want {
			t.Errorf("%d ns: %q, want %q", ns, got, want)
		}
	}
}

// The end of a window is shown without the noise of nanoseconds, and what is shown leads back to the same window.
func TestShownSeconds(t *testing.T) {
	for ns, want := range map[int64]string{0: "0", 1: "0.000000001", 999_999_999: "0.999999999", 1e9: "1", 38_499_999_999: "38.5",
		38_499_400_000: "38.499", -38_499_999_999: "-38.5"} {
		if got := shownSeconds(ns); got != want {
			t.Errorf("%d ns: %q, want %q", ns, got, want)
		}
	}
	r := &analysis.Report{Trace: &analysis.Trace{FromNS: 0, ToNS: 38_499_999_999}}
	for to, want := range map[string]int64{"38.5": 38_499_999_999, "38.499": 38_499_000_000, "38.4999": 38_499_900_000} {
		if w := windowOf(r, "0", to); w.To != want || w.part != (want != 38_499_999_999) {
			t.Errorf("%s: %+v", to, w)
		}
	}
}

// A window lies in its trace, its ends in order; one without an end takes that of the page.
func TestWindowOfAnAddress(t *testing.T) {
	r := &analysis.Report{Trace: &analysis.Trace{FromNS: 2e9, ToNS: 10e9}}
	whole := capture.Window{From: 0, To: 10e9}
	for _, test := range []struct {
		from, to string
		want     capture.Window
		chosen   bool
	}{
		{"", "", whole, false}, {"soon", "late", whole, false}, {"0", "10", whole, false}, {"-1", "11", whole, false},
		{"3", "", capture.Window{From: 3e9, To: 10e9}, true}, {"", "4", capture.Window{From: 0, To: 4e9}, true},
		{"5", "4", capture.Window{From: 4e9, To: 5e9}, true}, {"5", "5", capture.Window{From: 5e9, To: 5e9}, true},
		{"12", "13", capture.Window{From: 10e9, To: 10e9}, true}, {"-3", "-2", capture.Window{}, true},
	} {
		got := windowOf(r, test.from, test.to)
		if got.Window != test.want || got.isChosen() != test.chosen || got.scanned != test.chosen || got.beforeExit() {
			t.Errorf("%q to %q: %+v, want %+v", test.from, test.to, got, test.want)
		}
	}
}

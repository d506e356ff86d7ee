package leaks

import (
	"fmt"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
)

// What a module holds on a side is the same whatever the side is compared with.
func TestModulesOfSides(t *testing.T) {
	of := func(signature string, class analysis.Class, bytes int64) compare.Finding {
		return compare.Finding{Signature: signature, Frames: []string{signature, "shop!main"}, Class: class,
			Outstanding: analysis.Amount{Count: 1, Bytes: bytes}}
	}
	side := func(list ...compare.Finding) *compare.BuildResult { return &compare.BuildResult{Findings: list} }
	leaky := side(of("shop!A", analysis.ClassLeak, 1000), of("shop!B", analysis.ClassGrowing, 200),
		of("audit!<unknown>+0x10@0xf000", analysis.ClassLeak, 30), of("shop!D", analysis.ClassCache, 4))
	for name, test := range map[string]struct {
		base, head *compare.BuildResult
		want       string
	}{
		"the head exercises nothing": {leaky, side(), "[{shop 1200 0} {audit 30 0}]"},
		"the base had nothing":       {side(), leaky, "[{shop 0 1200} {audit 0 30}]"},
		"the head is clean": {leaky, side(of("shop!A", analysis.ClassStable, 5), of("shop!B", analysis.ClassUnknown, 6),
			of("audit!C", analysis.ClassOneTime, 7)), "[{shop 1200 0} {audit 30 0}]"},
		"the head leaks less": {leaky, side(of("shop!A", analysis.ClassLeak, 1), of("audit!C", analysis.ClassLeak, 30)),
			"[{shop 1200 1} {audit 30 30}]"},
		"neither leaks": {side(of("shop!D", analysis.ClassCache, 4)), side(), "[]"},
	} {
		if got := fmt.Sprint(modulesOf(test.base, test.head)); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// The growth of two builds is compared where it is of one unit, or of runs of about the same length.
func TestDifferenceOfGrowth(t *testing.T) {
	rated := func(bytesPerHour, hours float64) *compare.Finding {
		return &compare.Finding{RateUnit: "hour", RateBytes: bytesPerHour, Length: hours}
	}
	for name, test := range map[string]struct {
		row  compare.Row
		text string
	}{
		"hours":                 {compare.Row{Base: rated(1<<20, 1), Head: rated(3<<20, 2)}, "▲ +2.00 MB/hour"},
		"short runs":            {compare.Row{Base: rated(1<<20, 0.1), Head: rated(11<<20, 0.1)}, "▲ +1.00 MB in 6 min"},
		"a short and a long":    {compare.Row{Base: rated(1<<20, 1), Head: rated(127<<20, 0.016)}, "–"},
		"new in a short run":    {compare.Row{Head: rated(10<<20, 0.1)}, "▲ +1.00 MB in 6 min"},
		"gone from a short run": {compare.Row{Base: rated(10<<20, 0.1)}, "▼ −1.00 MB in 6 min"},
	} {
		if got := difference(test.row).Text; got != test.text {
			t.Errorf("%s: %q, want %q", name, got, test.text)
		}
	}
}

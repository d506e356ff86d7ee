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

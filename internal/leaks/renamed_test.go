package leaks_test

import (
	"testing"

	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
)

// Frames with the same callers and leaf give 0.63 of likeness, blocks of one size 0.15, and the pace the rest: a leak
// is renamed from 0.8 on, and below it only may be.
func TestSurelyRenamed(t *testing.T) {
	finding := func(name string, rate float64, caller string) compare.Finding {
		return compare.Finding{Signature: name, Kind: "heap", Leaf: "malloc", Class: leak, Certain: true,
			Frames: []string{"app!" + name, caller}, RateUnit: "hour", RateCount: rate, RateBytes: 64 * rate}
	}
	for _, test := range []struct {
		name   string
		rate   float64 // of what came in; what is gone leaks 1000 blocks an hour
		caller string
		origin leaks.Origin
		is     bool
	}{
		{"just below", 133, "app!Serve", leaks.Origin{Since: "7"}, false},
		{"just above", 134, "app!Serve", leaks.Origin{Since: "7"}, true},
		{"since an older build", 1000, "app!Serve", leaks.Origin{Since: "6"}, true},
		{"another caller", 1000, "app!Other", leaks.Origin{Since: "7"}, false},
		{"a build failed for it", 1000, "app!Serve", leaks.Origin{Since: "6", Told: "6"}, false},
		{"it was there first", 1000, "app!Serve", leaks.Origin{Found: true}, false},
		{"it came back", 1000, "app!Serve", leaks.Origin{Regressed: true}, false},
	} {
		c := &leaks.Case{Head: &compare.Side{Build: "7", Findings: []compare.Finding{finding("New", test.rate, test.caller)}},
			Gone: []compare.Finding{finding("Old", 1000, "app!Serve")}, Origins: map[string]leaks.Origin{"New": test.origin}}
		if got := leaks.RenamedLeaks(c); len(got) > 0 != test.is {
			t.Errorf("%s: %+v, want a renamed leak: %v", test.name, got, test.is)
		}
	}
}

package leaks_test

import (
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/leaks"
)

// A leak is renamed where size and pace are like enough, which is less where the class or the function has its old
// name.
func TestSurelyRenamed(t *testing.T) {
	type origin = leaks.Origin
	finding := func(name string, rate, size float64, caller string) compare.Finding {
		return compare.Finding{Signature: name, Kind: "heap", Leaf: name, Class: leak, Certain: true,
			Frames: []string{"app!" + name, caller}, RateUnit: "hour", RateCount: rate, RateBytes: size * rate}
	}
	const renamed, sameName, other = "Receipt::AppendLine", "Printer::Append", "Order::Copy"
	for _, test := range []struct {
		name       string
		function   string
		rate, size float64 // of what came in; what is gone leaks 1000 blocks of 100 bytes an hour
		caller     string
		origin     origin
		is         bool
	}{
		{"slower, just below", renamed, 249, 100, "app!Serve", origin{Since: "7"}, false},
		{"slower, at it", renamed, 250, 100, "app!Serve", origin{Since: "7"}, true},
		{"slower, just above", renamed, 251, 100, "app!Serve", origin{Since: "7"}, true},
		{"faster", renamed, 4001, 100, "app!Serve", origin{Since: "7"}, false},
		{"smaller, just below", renamed, 1000, 79.9, "app!Serve", origin{Since: "7"}, false},
		{"smaller, at it", renamed, 1000, 80, "app!Serve", origin{Since: "7"}, true},
		{"smaller, just above", renamed, 1000, 80.1, "app!Serve", origin{Since: "7"}, true},
		{"in another class", sameName, 1000, 100, "app!Serve", origin{Since: "7"}, true},
		{"another name, slower, just below", other, 499, 100, "app!Serve", origin{Since: "7"}, false},
		{"another name, slower, at it", other, 500, 100, "app!Serve", origin{Since: "7"}, true},
		{"another name, slower, just above", other, 501, 100, "app!Serve", origin{Since: "7"}, true},
		{"another name, smaller, just below", other, 1000, 94.9, "app!Serve", origin{Since: "7"}, false},
		{"another name, smaller, at it", other, 1000, 95, "app!Serve", origin{Since: "7"}, true},
		{"another name, smaller, just above", other, 1000, 95.1, "app!Serve", origin{Since: "7"}, true},
		{"since an older build", renamed, 1000, 100, "app!Serve", origin{Since: "6"}, true},
		{"another caller", renamed, 1000, 100, "app!Other", origin{Since: "7"}, false},
		{"a build failed for it", renamed, 1000, 100, "app!Serve", origin{Since: "6", FailedIn: "6"}, false},
		{"it was there first", renamed, 1000, 100, "app!Serve", origin{Found: true}, false},
		{"it came back", renamed, 1000, 100, "app!Serve", origin{Regressed: true}, false},
	} {
		c := &leaks.GateCase{Head: &compare.BuildResult{Build: "7",
			Findings: []compare.Finding{finding(test.function, test.rate, test.size, test.caller)}},
			Gone:    []compare.Finding{finding("Receipt::Append", 1000, 100, "app!Serve")},
			Origins: map[string]leaks.Origin{test.function: test.origin}}
		if got := leaks.RenamedLeaks(c); len(got) > 0 != test.is {
			t.Errorf("%s: %+v, want a renamed leak: %v", test.name, got, test.is)
		}
	}
}

// What several runs showed of the leak that is gone is a range: its size and pace differ from run to run. Where nobody
// knows how fast the new leak is, its size decides, if the names are alike.
func TestRenamedLeakIsWithinItsRuns(t *testing.T) {
	finding := func(name string, rate, size float64) compare.Finding {
		return compare.Finding{Signature: name, Kind: "heap", Class: leak, Certain: true, Frames: []string{"app!" + name, "app!Serve"},
			RateUnit: "hour", RateCount: rate, RateBytes: size * rate}
	}
	unknown := finding("Receipt::AppendLine", 0, 0)
	unknown.RateUnit, unknown.Outstanding = "", analysis.Amount{Count: 10, Bytes: 1000}
	elsewhere := unknown
	elsewhere.Signature, elsewhere.Frames = "Order::Copy", []string{"app!Order::Copy", "app!Serve"}
	for _, test := range []struct {
		name string
		came compare.Finding
		is   bool
	}{
		{"between the runs", finding("Receipt::AppendLine", 200, 100), true},
		{"just outside in size", finding("Receipt::AppendLine", 200, 301), false},
		{"at it", finding("Receipt::AppendLine", 200, 300), true},
		{"just outside in pace", finding("Receipt::AppendLine", 2001, 100), false},
		{"at it in pace", finding("Receipt::AppendLine", 2000, 100), true},
		{"nobody knows how fast", unknown, true},
		{"nor what it is called", elsewhere, false},
	} {
		c := &leaks.GateCase{Head: &compare.BuildResult{Build: "7", Findings: []compare.Finding{test.came}},
			Gone:    []compare.Finding{finding("Receipt::Append", 50, 240), finding("Receipt::Append", 500, 60)},
			Origins: map[string]leaks.Origin{test.came.Signature: {Since: "7"}}}
		if got := leaks.RenamedLeaks(c); len(got) > 0 != test.is {
			t.Errorf("%s: %+v, want a renamed leak: %v", test.name, got, test.is)
		}
	}
}

// Where it is not sure, the gate fails and says what the leak may have been called, from a half of likeness on.
func TestMayBeRenamed(t *testing.T) {
	finding := func(name string, rate, size float64) compare.Finding {
		return compare.Finding{Signature: name, Kind: "heap", Title: name, Class: leak, Certain: true,
			Frames: []string{"app!" + name, "app!Serve"}, RateUnit: "hour", RateCount: rate, RateBytes: size * rate}
	}
	for rate, says := range map[float64]bool{499: false, 500: true, 501: true} { // blocks of half the size
		d := leaks.Decide(&leaks.GateCase{Policy: &leaks.Policy{FailOn: []leaks.FailOn{leaks.FailOnNew}}, Version: 1, Suffices: true,
			Head: &compare.BuildResult{Build: "7", Findings: []compare.Finding{finding("copy", rate, 32)}},
			Gone: []compare.Finding{finding("append", 1000, 64)}, Origins: map[string]leaks.Origin{"copy": {Since: "7"}}})
		if strings.Contains(d.Reasons[0].Sentence, "it may be append") != says {
			t.Errorf("%v blocks: %s", rate, d.Reasons[0].Sentence)
		}
	}
}

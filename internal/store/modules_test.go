package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// blaming is a report of findings whose blamed modules are given.
func blaming(modules []string, findings ...finding) *analysis.Report {
	r := leaksReport(findings...)
	for i := range r.Findings {
		if r.Findings[i].Blame = nil; modules[i] != "" {
			r.Findings[i].Blame = &analysis.Blame{Module: modules[i], Function: "F"}
		}
	}
	return r
}

// Open leaks are counted by the module that they blame, and the list of a module holds exactly these.
func TestOpenByModule(t *testing.T) {
	l := newLab(t)
	l.run("100", blaming([]string{"shopd", "shopd", "audit", "", "zlib", "shopd"},
		finding{signature: "A", class: leak, bytes: 500}, finding{signature: "B", class: leak, bytes: 70},
		finding{signature: "C", class: grows, bytes: 9},
		finding{signature: "D", class: leak, bytes: 4}, finding{signature: "E", class: leak, bytes: 3},
		finding{signature: "F", class: stable}))
	l.change("B", leaks.TriageChange{Version: -1, Known: &leaks.Toleration{Reason: "vendor"}})
	rows := must[[]leaks.ModuleRow](t)(l.now().ListLeakingModules(t.Context(), "demo"))
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%q %g/%s of %d", r.Module, r.Bytes, r.Unit, r.Signatures))
	}
	if want := `"" 4/hour of 1, "audit" 9/hour of 1, "shopd" 500/hour of 1, "zlib" 3/hour of 1`; strings.Join(got,
		", ") != want {
		t.Errorf("\n got %s\nwant %s", strings.Join(got, ", "), want)
	}
	for module, want := range map[string]string{"shopd": "A B", "audit": "C", leaks.NoModule: "D",
		"nosuch": "", "": "A B C D E"} {
		page := l.list(store.SignatureQuery{Module: module, Order: store.BySignatureGrowth})
		if got := listed(page); got != want || page.Total != len(strings.Fields(want)) {
			t.Errorf("module %q: %s, of %d", module, got, page.Total)
		}
	}
	if page := l.list(store.SignatureQuery{Module: "shopd", State: leaks.StateKnown}); listed(page) != "B" ||
		page.Counts[leaks.StateFound] != 1 {
		t.Errorf("%s %v", listed(page), page.Counts)
	}
	if _, err := l.now().ListLeakingModules(t.Context(), "nosuch"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

package run_test

import (
	"fmt"
	"net/http"
	"testing"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/pagestest"
)

// The gate on the page of a run says what matters, by the policy as it is now, and what a call was told under another.
func TestGateSaysWhatMatters(t *testing.T) {
	s, runs := pagestest.OpenHistory(t)
	page := fmt.Sprintf("/runs/%d?gate=now", runs[0])
	pagestest.Has(t, pagestest.Words(s.Page(page)), "What matters here: 10.0 MB per day (the default).")
	status, _ := s.Fill("/projects/shopd/policy", "text", `{"scenarios": {"soak-60min": {"matters": "1MB/day"}}}`,
		"version", "0", "do", "save", "actor", "Ada")
	if status != http.StatusSeeOther {
		t.Fatalf("save: %d", status)
	}
	pagestest.Has(t, pagestest.Words(s.Page(page)),
		"What matters here: 1.00 MB per day (set for the scenario soak-60min).")
	asked := store.GateQuestion{Matters: &analysis.Threshold{Growth: analysis.Growth{Bytes: 1024, Unit: "day"}}}
	told := &leaks.Decision{Gate: leaks.GateError, Why: "told"}
	if err := s.Store.CreateDecision(t.Context(), runs[0], asked, told); err != nil {
		t.Fatal(err)
	}
	pagestest.Has(t, pagestest.Words(s.Page(page)), "ignoring leaks up to 1.00 KB per day: told")
}

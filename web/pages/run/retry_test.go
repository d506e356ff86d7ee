package run_test

import (
	"fmt"
	"net/http"
	"testing"

	"heapdrift/internal/store"
	"heapdrift/web/pages/pagestest"
)

// A run that failed for reasons that may be gone has a button that tries again, and one at work has a button that
// cancels it.
func TestTryAgainAndCancel(t *testing.T) {
	s := pagestest.Open(t)
	e := pagestest.AddEvidence(t, s.Store, pagestest.DefaultTarget, "a.txt")
	path := fmt.Sprintf("/runs/%d", e.RunID)
	pagestest.Has(t, s.Page(path), fmt.Sprintf(`action="%s/cancel"`, path), "Cancel")
	if status, to := s.PostTo(path + "/cancel"); status != http.StatusSeeOther || to != path {
		t.Fatal(status, to)
	}
	page := s.Page(path)
	pagestest.Has(t, page, fmt.Sprintf(`action="%s/retry"`, path), "Retry", "cancelled", "has cancelled it")
	pagestest.Lacks(t, page, path+"/cancel")
	if status, to := s.PostTo(path + "/retry"); status != http.StatusSeeOther || to != path {
		t.Fatal(status, to)
	}
	page = s.Page(path)
	pagestest.Has(t, page, path+"/cancel")
	pagestest.Lacks(t, page, path+"/retry")
	pagestest.FailRead(t, s.Store, e.RunID, store.Failure{Code: "unknown-format", Message: "not evidence", Final: true})
	pagestest.Lacks(t, s.Page(path), path+"/retry")
	for _, what := range []string{"/retry", "/cancel"} {
		if status, _ := s.PostTo("/runs/999" + what); status != http.StatusNotFound {
			t.Errorf("%s: %d", what, status)
		}
	}
}

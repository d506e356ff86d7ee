package pages_test

import (
	"fmt"
	"net/http"
	"testing"

	"heapdrift/internal/store"
)

// A run that failed for reasons that may be gone has a button that tries again, and one at work has a button that
// cancels it.
func TestTryAgainAndCancel(t *testing.T) {
	s := open(t)
	e := addEvidence(t, s.store, target, "a.txt")
	path := fmt.Sprintf("/runs/%d", e.RunID)
	has(t, s.page(path), fmt.Sprintf(`action="%s/cancel"`, path), "Cancel")
	if status, to := s.postTo(path + "/cancel"); status != http.StatusSeeOther || to != path {
		t.Fatal(status, to)
	}
	page := s.page(path)
	has(t, page, fmt.Sprintf(`action="%s/retry"`, path), "Retry", "cancelled", "has cancelled it")
	lacks(t, page, path+"/cancel")
	if status, to := s.postTo(path + "/retry"); status != http.StatusSeeOther || to != path {
		t.Fatal(status, to)
	}
	page = s.page(path)
	has(t, page, path+"/cancel")
	lacks(t, page, path+"/retry")
	fail(t, s.store, e.RunID, store.Failure{Code: "unknown-format", Message: "not evidence", Final: true})
	lacks(t, s.page(path), path+"/retry")
	for _, what := range []string{"/retry", "/cancel"} {
		if status, _ := s.postTo("/runs/999" + what); status != http.StatusNotFound {
			t.Errorf("%s: %d", what, status)
		}
	}
}

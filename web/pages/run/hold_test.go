package run_test

import (
	"fmt"
	"net/http"
	"testing"

	"heapdrift/web/pages/pagestest"
)

// The page of a run has a form for a legal hold. While one stands, it says so, and the run cannot be deleted.
func TestLegalHold(t *testing.T) {
	s := pagestest.Open(t)
	path := fmt.Sprintf("/runs/%d", pagestest.AddRun(t, s.Store, pagestest.DefaultTarget, largeCaptures(3)))
	pagestest.Has(t, s.Page(path), "Add legal hold", "Delete run")
	if status, to := s.Fill(path+"/hold", "reason", "case <7>"); status != http.StatusSeeOther || to != path {
		t.Fatal(status, to)
	}
	page := s.Page(path)
	pagestest.Has(t, page, "case &lt;7&gt;", "Remove legal hold")
	pagestest.Lacks(t, page, "Delete run")
	if status, to := s.Fill(path+"/hold", "lift", "1"); status != http.StatusSeeOther || to != path {
		t.Fatal(status, to)
	}
	pagestest.Has(t, s.Page(path), "Add legal hold", "Delete run")
}

package leaks_test

import (
	"net/http"
	"testing"

	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/web/pages/pagestest"
)

func TestPolicyPage(t *testing.T) {
	s, _ := pagestest.OpenHistory(t)
	const path = "/projects/shopd/policy"
	pagestest.Has(t, pagestest.Words(s.Page(path)), "Failure conditions",
		"Any leak fails, unless a call says what fails instead", "Evidence that does not decide warns (exit 4).",
		"No policy is saved: the request’s fail_on decides.")
	pagestest.Has(t, pagestest.Words(s.Page(path)),
		"What matters: leaks of more than 10.0 MB per day, or 8.00 KB per run where the evidence has no times (the default).")
	const lenient = `{"default": {"fail_on": [], "canary": "Canary::Leak"}, "scenarios": {"soak": {"fail_on": ["leak"], "matters": "1MB/day"}}}`
	status, page := s.Fill(path, "text", lenient, "version", "0", "do", "preview")
	if status != http.StatusOK {
		t.Fatalf("preview: %d %.300s", status, page)
	}
	pagestest.Lacks(t, pagestest.Words(page), "unless a call says what fails instead") // it would be saved
	pagestest.Has(t, pagestest.Words(page), "All other scenarios", "Canary::Leak must be found in each run",
		"Scenario soak",
		"What matters: leaks of more than 1.00 MB per day.",
		"Preview of changes", "Changed verdicts", "failed", "inconclusive")
	if file := pagestest.Must[store.PolicyFile](t)(storetest.Now(t, s.Store).FindPolicy(t.Context(),
		"shopd")); file.Version != 0 {
		t.Errorf("a preview saved %+v", file)
	}
	status, location := s.Fill(path, "text", lenient, "version", "0", "do", "save", "note", "first", "actor", "Ada")
	if status != http.StatusSeeOther || location != path+"?saved=1" {
		t.Fatalf("save: %d %.300s", status, location)
	}
	pagestest.Has(t, pagestest.Words(s.Page(location)), "Saved.", "current version: 1", "first", "Ada")
	pagestest.Has(t, pagestest.Words(s.Page(path)), "Scenario soak",
		"Any leak fails. A call may ask for more, never for less.")
	if status, page = s.Fill(path, "text", `{"default": {"fail": 1}}`, "version", "1", "do",
		"save"); status != http.StatusUnprocessableEntity {
		t.Errorf("a wrong policy: %d", status)
	}
	pagestest.Has(t, pagestest.Words(page), "unknown field")
	if status, page = s.Fill(path, "text", `{}`, "version", "0", "do", "save"); status != http.StatusConflict {
		t.Errorf("an old page: %d", status)
	}
	pagestest.Has(t, pagestest.Words(page), "Compare your text with version 1", "another user saved it first.")
	if status, _ = s.Fill(path, "text", `{}`, "version", "1", "do", "save"); status != http.StatusSeeOther {
		t.Errorf("a second version: %d", status)
	}
	pagestest.Has(t, pagestest.Words(s.Page(path+"?version=1")), "Version 1 (superseded)", "Canary::Leak")
	if status, _ := s.Get("/projects/nobody/policy", "Accept", "text/html"); status != http.StatusNotFound {
		t.Errorf("no project: %d", status)
	}
}

// The preview of rules that call everything known says which leaks are silenced, and which verdicts change.
func TestRulesPageSaysWhatFallsSilent(t *testing.T) {
	s, _ := pagestest.OpenHistory(t)
	status, page := s.Fill("/projects/shopd/rules", "text", `module:* -> known="x"`, "version", "0", "do", "preview")
	if status != http.StatusOK {
		t.Fatalf("%d %.300s", status, page)
	}
	pagestest.Has(t, pagestest.Words(page), "No longer counted", "known-by-rule", "Changed verdicts", "passed",
		"Every stack keeps its signature.")
}

package operators_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/store"
	"heapdrift/web/pages/pagestest"
)

func TestOperators(t *testing.T) {
	s := pagestest.Open(t)
	pagestest.Has(t, s.Page("/operators"), "Operators", "version <b>1.2.3</b>", "No job is waiting",
		"no server or worker has reported", "No job has failed", "No project exists", "No file was searched for")
	e := pagestest.AddEvidence(t, s.Store, pagestest.DefaultTarget, "a.txt")
	pagestest.FailRead(t, s.Store, e.RunID, store.Failure{Code: "reader-crashed", Message: "<b>its reader crashed",
		Final: true, Worker: "w2", PID: 4121, Version: "1.2.3", Cause: "signal: killed 7"})
	pagestest.AddEvidence(t, s.Store, pagestest.DefaultTarget, "b.txt")
	for _, n := range []store.Node{
		{ID: "1", Role: "serve", Host: "front", Version: "1.2.3", SchemaVersion: 16},
		{ID: "2", Role: "work", Host: "back", PID: 4711, Version: "1.2.3", SchemaVersion: 16, Slots: 3, Running: 2},
		{ID: "3", Role: "work", Host: "old", Version: "1.2.2", SchemaVersion: 15, Slots: 3, Says: "the database has another schema"},
	} {
		if err := s.Store.UpdateNode(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := s.Store.UpdateSymbolSources(t.Context(),
			[]store.SymbolSourceAnswer{{Place: "msdl.example.com", Result: "found", Count: 3, LastAt: time.Now()}}); err != nil {
			t.Fatal(err)
		}
	}
	pagestest.Has(t, s.Page("/operators"), "Freed storage", "Nothing was deleted.")
	if err := s.Store.CreateFreed(t.Context(), "orphans", store.Removal{Files: 12, Bytes: 3 << 20}); err != nil {
		t.Fatal(err)
	}
	page := s.Page("/operators")
	pagestest.Has(t, page, "Freed storage", "Blobs that no row named", ">12<", "3.00 MB")
	pagestest.Has(t, page, "no job is stuck", "read", "failed", "queued", "front", "serves", "back", "4711", "runs 2 of 3 jobs",
		"old", "another schema", "signal: killed #", "Retry jobs",
		"job-1", pagestest.DefaultTarget.Project+" · "+pagestest.DefaultTarget.Build, `href="/api/v1/runs/1/evidence/1"`, "a.txt",
		"w2 (PID 4121, version 1.2.3)", "reader-crashed", "&lt;b&gt;its reader crashed", "The job&#39;s process was killed", "signal: killed 7", pagestest.DefaultTarget.Project, "msdl.example.com", "found", ">6<")
	pagestest.Has(t, s.Page("/"), `href="/operators"`)
	if err := s.Store.DeleteNode(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	pagestest.Lacks(t, s.Page("/operators"), "front")
}

// A user sends the ID of an error, and the operator finds that error alone.
func TestLookUpOfAnError(t *testing.T) {
	s := pagestest.Open(t)
	for _, name := range []string{"a.txt", "b.txt"} {
		e := pagestest.AddEvidence(t, s.Store, pagestest.DefaultTarget, name)
		pagestest.FailRead(t, s.Store, e.RunID, store.Failure{Code: "internal", Message: "x", Cause: "of " + name, Final: true})
	}
	for _, id := range []string{"job-1", "1", "+job-1+"} {
		page := s.Page("/operators?job=" + id)
		pagestest.Has(t, page, "Last errors", "of a.txt")
		_, errors, _ := strings.Cut(page, "Last errors")
		pagestest.Lacks(t, errors, "of b.txt")
	}
	for _, id := range []string{"job-3", "job-", "job--1", "x", "job-99999999999999999999"} {
		pagestest.Has(t, s.Page("/operators?job="+id), "No failed job has this ID")
	}
}

// The button queues again what failed for a cause, once, and says how much that was.
func TestRetryOfACause(t *testing.T) {
	s := pagestest.Open(t)
	for _, name := range []string{"a.txt", "b.txt"} {
		e := pagestest.AddEvidence(t, s.Store, pagestest.DefaultTarget, name)
		pagestest.FailRead(t, s.Store, e.RunID, store.Failure{Code: "internal", Message: "x", Cause: "disk 7", Final: true})
	}
	pagestest.Has(t, s.Page("/operators"), `name="code" value="internal"`, `name="cause" value="disk #"`, "Retry jobs")
	for _, jobs := range []string{"2", "0"} {
		if status, to := s.Fill("/operators/retry", "code", "internal", "cause", "disk #"); status != http.StatusSeeOther || to != "/operators?retried="+jobs {
			t.Fatalf("%d to %s, want %s jobs", status, to, jobs)
		}
		pagestest.Has(t, s.Page("/operators?retried="+jobs), jobs+" jobs are queued again", "No failed job waits for a retry")
	}
	if status, _ := s.Submit("/operators/retry", url.Values{"code": {"internal"}, "cause": {"\x00\xff"}}); status >= http.StatusInternalServerError {
		t.Error(status)
	}
	pagestest.Has(t, s.Page("/operators?retried=1"), "1 job is queued again")
}

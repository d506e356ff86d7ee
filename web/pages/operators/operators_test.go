package operators_test

import (
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
		Final: true})
	pagestest.AddEvidence(t, s.Store, pagestest.DefaultTarget, "b.txt")
	for _, n := range []store.Node{
		{ID: "1", Role: "serve", Host: "front", Version: "1.2.3", Schema: 16},
		{ID: "2", Role: "work", Host: "back", Version: "1.2.3", Schema: 16, Slots: 3, Running: 2},
		{ID: "3", Role: "work", Host: "old", Version: "1.2.2", Schema: 15, Slots: 3, Says: "the database has another schema"},
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
	pagestest.Has(t, page, "no job is stuck", "read", "failed", "queued", "front", "serves", "back", "runs 2 of 3 jobs",
		"old", "another schema",
		"reader-crashed", "&lt;b&gt;its reader crashed", pagestest.DefaultTarget.Project, "msdl.example.com", "found", ">6<")
	pagestest.Has(t, s.Page("/"), `href="/operators"`)
	if err := s.Store.DeleteNode(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	pagestest.Lacks(t, s.Page("/operators"), "front")
}

package run_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/exitlog"
	"heapdrift/ingest/exitlog/exitlogtest"
	"heapdrift/internal/leaks"
	"heapdrift/web/pages/pagestest"
)

// The page of a run shows the tests that left most, and its page of tests all of them with their history.
func TestTestsPages(t *testing.T) {
	s := pagestest.Open(t)
	var run int64
	for build := 1; build <= 2; build++ {
		suite := exitlogtest.Suite{Program: "tests.exe", Seed: uint64(build)}
		for i := range 7 {
			test := exitlogtest.Test{Name: fmt.Sprintf("Suite.Test%d", i)}
			if i < 2 || build == 2 && i == 2 {
				test.Left = []exitlogtest.Block{{File: fmt.Sprintf(`c:\src\file%d.cpp`, i), Line: 20, Size: 16 * (i + 1)}}
			}
			suite.Tests = append(suite.Tests, test)
		}
		captures := pagestest.Must[[]*capture.Capture](t)(exitlog.Read(t.Context(), strings.NewReader(suite.CRT())))
		run = pagestest.AddRun(t, s.Store, leaks.UploadTarget{Project: "shopd", Build: fmt.Sprint(build), Branch: "main", Scenario: "unit-tests", Run: "1"}, captures)
	}
	page := fmt.Sprintf("/runs/%d", run)
	text := s.Page(page)
	pagestest.Has(t, pagestest.Words(text), "7 tests", "Suite.Test2", "new", "Suite.Test1", "open")
	pagestest.Has(t, text, page+"/tests", "/projects/shopd?test=Suite.Test2")
	text = s.Page(page + "/tests")
	pagestest.Has(t, pagestest.Words(text), "all 7", "new 1", "open 2", "clean 4", "Suite.Test2", "new", "Suite.Test6", "clean")
	pagestest.Has(t, text, `aria-label="new leaks in 1, clean in 1"`)
	pagestest.Has(t, pagestest.Words(s.Page(page+"/tests?state=clean&q=test6")), "all 1", "Suite.Test6")
	pagestest.Has(t, pagestest.Words(s.Page(page+"/tests?state=new&q=test6")), "No test matches.")
	pagestest.Lacks(t, pagestest.Words(s.Page(page+"/tests?q=test6")), "Suite.Test5")
	pagestest.Has(t, pagestest.Words(s.Page("/projects/shopd?test=Suite.Test2")), "test Suite.Test2", "file2.cpp")
	_, list, _ := strings.Cut(s.Page("/projects/shopd?test=Suite.Test2"), `<div id="leaks">`)
	list, _, _ = strings.Cut(list, `heat-key`)
	pagestest.Lacks(t, list, "file1.cpp")
	if status, _ := s.Get("/runs/99999/tests"); status != 404 {
		t.Errorf("no run: %d", status)
	}
}

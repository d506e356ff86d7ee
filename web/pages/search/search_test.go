package search_test

import (
	"testing"

	"heapdrift/internal/leaks"
	"heapdrift/web/pages/pagestest"
)

func TestSearch(t *testing.T) {
	s, _ := pagestest.OpenHistory(t)
	bob := "bob"
	leak := pagestest.SignatureOf(t, s, pagestest.AppendLine)
	pagestest.Must[leaks.Triage](t)(s.Store.UpdateTriage(t.Context(), "shopd", leak.Text,
		leaks.TriageChange{Version: -1, Actor: "ada", Assignee: &bob}))
	found := func(q string) string { return pagestest.Words(s.Page("/search?q="+q, "HX-Request", "true")) }
	for q, want := range map[string][]string{
		"appendline":      {"Leaks", "shopd!", "AppendLine", "receipt.cpp:118 · shopd, last leaked in 4813"},
		"RECEIPT.CPP":     {"Leaks", "AppendLine"},
		leak.Text:         {"Leaks", "AppendLine"},
		"owner:bob":       {"Leaks", "AppendLine"},
		"owner:bob+xyzzy": {"No result in the projects that you can read."},
		"file:receipt":    {"Leaks", "AppendLine"},
		"build:4812":      {"Leaks", "AppendLine", "Builds", "4812", "Runs", "soak-60min, run 1"},
		"481":             {"Builds", "4813", "4812", "4811"},
		"soak":            {"Runs", "soak-60min, run 1", "shopd 4813 Leaking #"},
		"shop":            {"Leaks", "Projects", "shopd", "Modules", "shopd", "in shopd"},
		".log":            {"Files"},
		"%25":             {"No result in the projects that you can read."},
	} {
		pagestest.Has(t, found(q), want...)
	}
	if text := found(""); text != "" {
		t.Errorf("nothing asked, and found %s", text)
	}
	pagestest.Has(t, s.Page("/search?q=appendline"), `<h1>Search</h1>`, `value="appendline"`,
		`href="/projects/shopd/signatures/`+
			leak.Text+`"`)
	pagestest.Has(t, s.Page("/"), `href="/search" data-palette`, `id="palette"`)
}

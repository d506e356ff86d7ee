package pages_test

import (
	"testing"

	"heapdrift/internal/leaks"
)

func TestSearch(t *testing.T) {
	s, _ := openHistory(t)
	bob := "bob"
	leak := signatureOf(t, s, appendLine)
	must[leaks.Triage](t)(s.store.UpdateTriage(t.Context(), "shopd", leak.Text,
		leaks.Change{Version: -1, Actor: "ada", Assignee: &bob}))
	found := func(q string) string { return words(s.page("/search?q="+q, "HX-Request", "true")) }
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
		has(t, found(q), want...)
	}
	if text := found(""); text != "" {
		t.Errorf("nothing asked, and found %s", text)
	}
	has(t, s.page("/search?q=appendline"), `<h1>Search</h1>`, `value="appendline"`, `href="/projects/shopd/signatures/`+
		leak.Text+`"`)
	has(t, s.page("/"), `href="/search" data-palette`, `id="palette"`)
}

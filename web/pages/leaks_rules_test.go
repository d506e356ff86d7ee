package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

func TestRulesPage(t *testing.T) {
	s, _ := openHistory(t)
	path := "/projects/shopd/rules"
	has(t, words(s.page(path)), "Rule file", "Preview changes", "Rule syntax", "Import")
	rule := "module:shopd function:Shop::Orders::Receipts::Receipt::AppendLine -> plumbing\n"
	status, page := s.fill(path, "text", rule, "version", "0", "do", "preview")
	if status != http.StatusOK {
		t.Fatalf("preview: %d %.300s", status, page)
	}
	has(t, words(page), "AppendLine -&gt; plumbing", "stacks of recent runs compared",
		"shopd!Shop::Orders::Receipts::Receipt::AppendLine", "your own", "shopd!Shop::Orders::Order::Commit")
	has(t, page, signatureOf(t, s, appendLine).Text) // the stacks are judged as in the analysis
	if file := must[store.RuleFile](t)(storetest.Now(t, s.store).FindRules(t.Context(), "shopd")); file.Version != 0 {
		t.Errorf("a preview saved %+v", file)
	}
	status, location := s.fill(path, "text", "# ours\r\n"+rule, "version", "0", "do", "save", "note",
		"first", "actor", "Ada")
	if status != http.StatusSeeOther || location != path+"?saved=1" {
		t.Fatalf("save: %d %.300s", status, location)
	}
	has(t, words(s.page(location)), "Saved.", "current version: 1", "Versions", "first", "Ada")
	has(t, s.page(path), "\n# ours\n"+strings.ReplaceAll(rule, ">", "&gt;"))

	if status, page = s.fill(path, "text", "nonsense\n\nmodule:x -> fly", "version", "1", "do",
		"save"); status != http.StatusUnprocessableEntity {
		t.Errorf("wrong rules: %d", status)
	}
	has(t, words(page), "nonsense", "Line 1:", "Line 3:")
	if status, page = s.fill(path, "text", "module:x -> +app", "version", "0", "do",
		"save"); status != http.StatusConflict {
		t.Errorf("an old page: %d", status)
	}
	has(t, words(page), "Compare your text with version 1", "another user saved it first.", "module:x -&gt; +app")
	if status, _ = s.fill(path, "text", "module:x -> +app", "version", "1", "do", "save"); status != http.StatusSeeOther {
		t.Errorf("a second version: %d", status)
	}
	has(t, words(s.page(path+"?version=1")), "Version 1 (superseded)", "# ours")
	has(t, words(s.page(path+"?add=module:a+-%3E+base%0Amodule:b+-%3E+base")), "The proposed rule is the last line below.",
		"module:a -&gt; base", "module:b -&gt; base")
	for name, form := range map[string][]string{"no version": {"text", "", "do", "save"},
		"too long": {"text", strings.Repeat("# x\n", 300_000), "version", "2", "do", "save"},
		"no text":  {"text", "\x00", "version", "2", "do", "save"}} {
		if status, _ := s.fill(path, form...); status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", name, status)
		}
	}
	if status, _ := s.get("/projects/nobody/rules", "Accept", "text/html"); status != http.StatusNotFound {
		t.Errorf("no project: %d", status)
	}
}

func TestRulesImport(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	s, _ := openHistory(t)
	path := "/projects/shopd/rules/import"
	status, page := s.postTo(path, formPart{"kind", "", "triage"},
		formPart{"import", "", "[owners]\nshopd!Log*=logs\nnonsense\n"})
	if status != http.StatusOK {
		t.Fatalf("%d %.300s", status, page)
	}
	has(t, words(page), "1 line imported at the end of the text below. Save to apply: nothing is saved yet.",
		"Not translated:", "owner=logs")
	status, page = s.postTo(path, formPart{"kind", "", "lsan"}, formPart{"import", "", ""},
		formPart{"file", "lsan.txt", "leak:Log::Rotate\n"})
	if status != http.StatusOK {
		t.Fatalf("%d %.300s", status, page)
	}
	has(t, words(page), "1 line imported at the end of the text below", "Log::Rotate", "known=")
	if status, _ := s.postTo(path, formPart{"kind", "", "x"},
		formPart{"import", "", "x"}); status != http.StatusUnprocessableEntity {
		t.Errorf("another kind: %d", status)
	}
	if status, _ := s.postTo(path, formPart{"kind", "", "lsan"},
		formPart{"file", "a", strings.Repeat("x", 2<<20)}); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large file: %d", status)
	}
}

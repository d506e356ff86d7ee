package leaks_test

import (
	"net/http"
	"strings"
	"testing"

	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/web/pages/pagestest"
)

func TestRulesPage(t *testing.T) {
	s, _ := pagestest.OpenHistory(t)
	path := "/projects/shopd/rules"
	pagestest.Has(t, pagestest.Words(s.Page(path)), "Rule file", "Preview changes", "Rule syntax", "Import",
		"Export the known leaks for LeakSanitizer · Valgrind · Dr. Memory")
	pagestest.Has(t, s.Page(path), `href="/api/v1/projects/shopd/suppressions?form=drmemory"`)
	rule := "module:shopd function:Shop::Orders::Receipts::Receipt::AppendLine -> plumbing\n"
	status, page := s.Fill(path, "text", rule, "version", "0", "do", "preview")
	if status != http.StatusOK {
		t.Fatalf("preview: %d %.300s", status, page)
	}
	pagestest.Has(t, pagestest.Words(page), "AppendLine -&gt; plumbing", "stacks of recent runs compared",
		"shopd!Shop::Orders::Receipts::Receipt::AppendLine", "your own", "shopd!Shop::Orders::Order::Commit")
	pagestest.Has(t, page,
		pagestest.SignatureOf(t, s, pagestest.AppendLine).Text) // the stacks are judged as in the analysis
	if file := pagestest.Must[store.RuleFile](t)(storetest.Now(t, s.Store).FindRules(t.Context(),
		"shopd")); file.Version != 0 {
		t.Errorf("a preview saved %+v", file)
	}
	status, location := s.Fill(path, "text", "# ours\r\n"+rule, "version", "0", "do", "save", "note",
		"first", "actor", "Ada")
	if status != http.StatusSeeOther || location != path+"?saved=1" {
		t.Fatalf("save: %d %.300s", status, location)
	}
	pagestest.Has(t, pagestest.Words(s.Page(location)), "Saved.", "current version: 1", "Versions", "first", "Ada")
	pagestest.Has(t, s.Page(path), "\n# ours\n"+strings.ReplaceAll(rule, ">", "&gt;"))

	if status, page = s.Fill(path, "text", "nonsense\n\nmodule:x -> fly", "version", "1", "do",
		"save"); status != http.StatusUnprocessableEntity {
		t.Errorf("wrong rules: %d", status)
	}
	pagestest.Has(t, pagestest.Words(page), "nonsense", "Line 1:", "Line 3:")
	if status, page = s.Fill(path, "text", "module:x -> +app", "version", "0", "do",
		"save"); status != http.StatusConflict {
		t.Errorf("an old page: %d", status)
	}
	pagestest.Has(t, pagestest.Words(page), "Compare your text with version 1", "another user saved it first.",
		"module:x -&gt; +app")
	if status, _ = s.Fill(path, "text", "module:x -> +app", "version", "1", "do", "save"); status != http.StatusSeeOther {
		t.Errorf("a second version: %d", status)
	}
	pagestest.Has(t, pagestest.Words(s.Page(path+"?version=1")), "Version 1 (superseded)", "# ours")
	pagestest.Has(t, pagestest.Words(s.Page(path+"?add=module:a+-%3E+base%0Amodule:b+-%3E+base")),
		"The proposed rule is the last line below.",
		"module:a -&gt; base", "module:b -&gt; base")
	for name, form := range map[string][]string{"no version": {"text", "", "do", "save"},
		"too long": {"text", strings.Repeat("# x\n", 300_000), "version", "2", "do", "save"},
		"no text":  {"text", "\x00", "version", "2", "do", "save"}} {
		if status, _ := s.Fill(path, form...); status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", name, status)
		}
	}
	if status, _ := s.Get("/projects/nobody/rules", "Accept", "text/html"); status != http.StatusNotFound {
		t.Errorf("no project: %d", status)
	}
}

func TestRulesImport(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	s, _ := pagestest.OpenHistory(t)
	path := "/projects/shopd/rules/import"
	status, page := s.PostTo(path, pagestest.FormPart{Field: "kind", File: "", Content: "triage"},
		pagestest.FormPart{Field: "import", File: "", Content: "[owners]\nshopd!Log*=logs\nnonsense\n"})
	if status != http.StatusOK {
		t.Fatalf("%d %.300s", status, page)
	}
	pagestest.Has(t, pagestest.Words(page),
		"1 line imported at the end of the text below. Save to apply: nothing is saved yet.",
		"Not translated:", "owner=logs")
	status, page = s.PostTo(path, pagestest.FormPart{Field: "kind", File: "", Content: "suppressions"},
		pagestest.FormPart{Field: "import", File: "", Content: ""},
		pagestest.FormPart{Field: "file", File: "lsan.txt", Content: "leak:Log::Rotate\n"})
	if status != http.StatusOK {
		t.Fatalf("%d %.300s", status, page)
	}
	pagestest.Has(t, pagestest.Words(page), "1 line imported at the end of the text below", "Log::Rotate", "known=")
	if status, _ := s.PostTo(path, pagestest.FormPart{Field: "kind", File: "", Content: "x"},
		pagestest.FormPart{Field: "import", File: "", Content: "x"}); status != http.StatusUnprocessableEntity {
		t.Errorf("another kind: %d", status)
	}
	if status, _ := s.PostTo(path, pagestest.FormPart{Field: "kind", File: "", Content: "lsan"},
		pagestest.FormPart{Field: "file", File: "a",
			Content: strings.Repeat("x", 2<<20)}); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large file: %d", status)
	}
}

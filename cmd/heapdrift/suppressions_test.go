package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/analysis"
)

const someSuppressions = "leak:Cache::Add\nrace:x\n{\n   nodes\n   Memcheck:Leak\n   fun:_Znwm\n   fun:_ZN4NodeC1EPS_\n}\n"

func writeSuppressions(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "known.supp")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// The leaks that files of suppressions name are known to analyze, which says what it cannot take over.
func TestAnalyzeWithSuppressions(t *testing.T) {
	const log = "../../ingest/exitlog/testdata/sanitizer.log"
	file := writeSuppressions(t, someSuppressions)
	out, errOut, code := cli(t, "analyze", "--format", "json", "--suppressions", file, log)
	if code != exitOK {
		t.Errorf("every leak is known, and analyze exits with %d: %s", code, errOut)
	}
	if want := "known.supp:2: not imported: race:x: not about leaks"; !strings.Contains(errOut, want) {
		t.Errorf("%q has no %q", errOut, want)
	}
	var r analysis.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	for _, f := range r.Findings {
		known[f.Title] = f.Known
	}
	for title, want := range map[string]string{
		"Cache::Add": "suppressed for LeakSanitizer: Cache::Add", "Node::Node": "suppressed for Valgrind: nodes",
	} {
		if known[title] != want {
			t.Errorf("%s: %q, want %q; %v", title, known[title], want, known)
		}
	}
	rules := filepath.Join(t.TempDir(), "rules.txt")
	if err := os.WriteFile(rules, []byte("function:Cache::* -> known=ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, code := cli(t, "analyze", "--rules", rules, "--suppressions", file, log); code != exitOK {
		t.Errorf("with rules: exit %d", code)
	}
	if _, _, code := cli(t, "analyze", log); code != exitLeak {
		t.Errorf("without: exit %d", code)
	}
	if _, errOut, code := cli(t, "analyze", "--suppressions", filepath.Join(t.TempDir(), "none"), log); code != exitUsage ||
		!strings.Contains(errOut, "--suppressions") {
		t.Errorf("no file: exit %d, %s", code, errOut)
	}
}

func TestSuppressionsOfProject(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, r.Method+" "+r.URL.RequestURI()+" "+string(body))
		switch {
		case r.Header.Get("Authorization") != "Bearer hd_ok":
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"code":"not-allowed","detail":"no"}`)
		case r.Method == http.MethodGet:
			fmt.Fprint(w, "# 1 known leak\nleak:Cache::Put\n")
		default:
			fmt.Fprint(w, `{"lines":["frame:x -> known=y"],"rejected":[{"line":2,"code":"not-translated","message":"race:x: not about leaks"}],"saved":{"version":4,"runs":12}}`)
		}
	}))
	t.Cleanup(server.Close)
	remote := []string{"--url", server.URL, "--project", "shop", "--token", "hd_ok"}
	file := writeSuppressions(t, someSuppressions)
	code, out, errs := ran(t, append([]string{"suppressions", "import", file}, remote...)...)
	if code != exitOK || out != "1 suppression imported into the rules of project shop (version 4); 12 runs analysed again, 1 not imported\n" ||
		errs != file+":2: not imported: race:x: not about leaks\n" {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	if want := "POST /api/v1/projects/shop/rules/import?apply=1&kind=suppressions " + someSuppressions; len(asked) != 1 || asked[0] != want {
		t.Errorf("%q", asked)
	}
	code, out, errs = ran(t, append([]string{"suppressions", "export", "--form", "lsan"}, remote...)...)
	if code != exitOK || out != "# 1 known leak\nleak:Cache::Put\n" || errs != "" {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	target := filepath.Join(t.TempDir(), "out.supp")
	if code, out, _ = ran(t, append([]string{"suppressions", "export", "--form", "drmemory", "-o", target}, remote...)...); code != exitOK || out != "" {
		t.Errorf("exit %d\n%s", code, out)
	}
	if text, err := os.ReadFile(target); err != nil || string(text) != "# 1 known leak\nleak:Cache::Put\n" ||
		asked[len(asked)-1] != "GET /api/v1/projects/shop/suppressions?form=drmemory " {
		t.Errorf("%q %v, %q", text, err, asked[len(asked)-1])
	}
	before := len(asked)
	code, out, errs = ran(t, "suppressions", "import", "--dry-run", file)
	if want := "frame:*Cache::Add* -> known=\"suppressed for LeakSanitizer: Cache::Add\"\nstack:Node::Node -> known=\"suppressed for Valgrind: nodes\"\n"; code != exitOK || out != want ||
		errs != file+":2: not imported: race:x: not about leaks: only leak: lines are imported\n" || len(asked) != before {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	for want, args := range map[int][][]string{
		exitUsage: {{"import"}, {"import", file, file}, {"export"}, {"export", "--form", "x"}, {"export", "--form", "lsan", "more"}},
		exitInput: {{"import", filepath.Join(t.TempDir(), "none")}, {"export", "--form", "lsan", "-o", t.TempDir()},
			{"export", "--form", "lsan", "--token", "hd_no"}},
	} {
		for _, a := range args {
			if code, _, errs := ran(t, append(append([]string{"suppressions", a[0]}, remote...), a[1:]...)...); code != want || errs == "" {
				t.Errorf("%q: exit %d, want %d: %s", a, code, want, errs)
			}
		}
	}
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/accounts"
	"heapdrift/tools/demo/shopd"
)

// A job may tighten what matters, and not loosen it; the log, the verdict and the files for the CI system say what
// counts.
func TestPushTightensWhatMatters(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program")
	}
	server, db := startServerAs(t, "0")
	if err := db.CreateProject(t.Context(), "shopd", 0, "test"); err != nil {
		t.Fatal(err)
	}
	token := tokenFor(t, db, "shopd", accounts.ScopeUpload, accounts.ScopeRead)
	dir := t.TempDir()
	if err := shopd.WriteFiles(t.Context(), dir, shopd.Clean); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ matters, source, says string }{
		{"1B/day", "call", "What matters here: 1 B per day (asked for by the call, less than 10.0 MB per day, the default)"},
		{"1GB/day", "default", "What matters here: 10.0 MB per day (the default; 1.00 GB per day, asked for by the call, is ignored: a call may only lower this)"},
	} {
		j := runJob(t, dir, []string{"HEAPDRIFT_URL=" + server, "HEAPDRIFT_TOKEN=" + token}, "push", "--project", "shopd", "--build", "1",
			"--branch", "main", "--wait", "5m", "--symbols", "symbols", "--matters", test.matters,
			"--json", "verdict.json", "--junit", "junit.xml", "--markdown", "comment.md", "shopd-*.log")
		if !strings.Contains(j.stdout, "\n"+test.says+"\n") && !strings.HasPrefix(j.stdout, test.says+"\n") {
			t.Errorf("%s: the log ends with %d\n%s%s", test.matters, j.code, j.stdout, j.stderr)
		}
		for _, name := range []string{"junit.xml", "comment.md", "verdict.json"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil || !strings.Contains(string(text), test.says) {
				t.Errorf("%s, %s: %v\n%s", test.matters, name, err, text)
			}
			if name != "verdict.json" {
				continue
			}
			var verdict struct{ Matters struct{ Source string } }
			if err := json.Unmarshal(text, &verdict); err != nil || verdict.Matters.Source != test.source {
				t.Errorf("%s: %v %+v", test.matters, err, verdict)
			}
		}
	}
}

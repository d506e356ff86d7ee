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

// The first build of a scenario shows leaks that were there before: the gate does not decide about them until somebody
// accepts them, by one flag. From then on they are known and fail nothing. A token that may not do so is told.
func TestPushAcceptsWhatIsPresent(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program")
	}
	server, db := startServerAs(t, "0")
	if err := db.CreateProject(t.Context(), "shopd", 0, "test"); err != nil {
		t.Fatal(err)
	}
	ci := tokenFor(t, db, "shopd", accounts.ScopeUpload, accounts.ScopeRead)
	admin := tokenFor(t, db, "shopd", accounts.ScopeUpload, accounts.ScopeRead, accounts.ScopeAdmin)
	dir := t.TempDir()
	if err := shopd.WriteFiles(t.Context(), dir, shopd.Leaking); err != nil {
		t.Fatal(err)
	}
	push := func(token, build string, flags ...string) (*job, string) {
		t.Helper()
		args := append([]string{"push", "--project", "shopd", "--build", build, "--branch", "main", "--scenario", "soak", "--wait", "5m",
			"--fail-on", "new,leak", "--symbols", "symbols", "--json", "verdict.json"}, flags...)
		j := runJob(t, dir, []string{"HEAPDRIFT_URL=" + server, "HEAPDRIFT_TOKEN=" + token}, append(args, "shopd-*.log")...)
		text, err := os.ReadFile(filepath.Join(dir, "verdict.json"))
		if err != nil {
			t.Fatal(err)
		}
		var verdict struct{ Gate string }
		if err := json.Unmarshal(text, &verdict); err != nil {
			t.Fatal(err)
		}
		return j, verdict.Gate
	}
	if j, gate := push(ci, "1", "--fail-on", "new"); j.code != exitInconclusive || gate != "inconclusive" {
		t.Fatalf("the first build: %d %s\n%s%s", j.code, gate, j.stdout, j.stderr)
	}
	if j, gate := push(ci, "1", "--accept-present"); j.code != exitInput || gate != "error" || !strings.Contains(j.stderr, "accept ") {
		t.Errorf("a token that may not accept: %d %s\n%s%s", j.code, gate, j.stdout, j.stderr)
	}
	if j, gate := push(admin, "1", "--accept-present", "--except", "odrer.cpp"); j.code != exitUsage || gate != "error" ||
		!strings.Contains(j.stderr, `--except: no leak of the run has `) ||
		!strings.Contains(j.stderr, `"odrer.cpp"; nothing is accepted`) {
		t.Errorf("names nothing: %d %s\n%s%s", j.code, gate, j.stdout, j.stderr)
	}
	if j, _ := push(admin, "1", "--accept-present", "--except", "ORDER.cpp"); !strings.Contains(j.stderr, "accepted  1 leak, ") ||
		!strings.Contains(j.stderr, "file  shopd · receipt.cpp: 1 leak, ") || !strings.Contains(j.stderr, "test  Outside of tests: 1 leak, ") ||
		!strings.Contains(j.stderr, "left out  1 leak, ") || !strings.Contains(j.stderr, "1 known as of build 1, 1 not accepted. ") {
		t.Errorf("but one: %s%s", j.stdout, j.stderr)
	}
	j, gate := push(admin, "1", "--accept-present")
	if j.code != exitOK || gate != "passed" || !strings.Contains(j.stderr, "accepted  1 leak, ") ||
		!strings.Contains(j.stderr, "2 known as of build 1. The gate is on new leaks.") {
		t.Errorf("accepted: %d %s\n%s%s", j.code, gate, j.stdout, j.stderr)
	}
	if j, gate := push(ci, "2"); j.code != exitOK || gate != "passed" {
		t.Errorf("the next build: %d %s\n%s%s", j.code, gate, j.stdout, j.stderr)
	}
}

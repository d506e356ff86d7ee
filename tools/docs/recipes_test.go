package docs

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"heapdrift/internal/needs"
)

// recipes are the files of ci/ that build servers run, and what each does its own way: what fetches the program, what
// makes a warning of exit 4, and what keeps a branch with a pull request from running twice.
var recipes = map[string]struct{ fetches, warns, once, forks string }{
	"github-actions.yml": {`uses: ./ci\b`, `uses: ./ci\b`, `push: \{branches: \[main`, `head\.repo\.full_name == github\.repository`},
	"leaks-at-exit.yml":  {`uses: ./ci\b`, `uses: ./ci\b`, `push: \{branches: \[main`, `head\.repo\.full_name == github\.repository`},
	"gitlab-ci.yml": {`\./ci/get-heapdrift\.ps1`, `allow_failure: \{exit_codes: \[4\]\}`,
		`CI_OPEN_MERGE_REQUESTS\n\s+when: never`, `if \(-not \$env:HEAPDRIFT_TOKEN\)`},
	"azure-pipelines.yml": {`\./ci/get-heapdrift\.ps1`, `LASTEXITCODE -eq 4\).*SucceededWithIssues.*exit 0`, `trigger: \[main\]\npr: \[main\]`,
		`ne\(variables\['System\.PullRequest\.IsFork'\], 'True'\)`},
	"Jenkinsfile": {`\./ci/get-heapdrift\.ps1`, `code == 4\) \{ unstable`, `exclude branches that are also filed as PRs`,
		`when \{ expression \{ !env\.CHANGE_FORK \} \}\n\s+environment \{ HEAPDRIFT_TOKEN`},
	"teamcity.kts": {`\./ci/get-heapdrift\.ps1`, `LASTEXITCODE -eq 4\).*buildStatus.*exit 0`, `branchFilter = "\+:<default>\\n\+:pull/\*"`,
		`Members of the same organization`},
}

// every recipe says these in the same words.
var sentences = []string{"Exit 4 (inconclusive) warns and does not fail the job.", "A fork has no secrets"}

// The recipes fetch the program, treat exit 4 alike, run once per commit and keep secrets from forks; each says so.
func TestRecipes(t *testing.T) {
	for name, r := range recipes {
		text := readRecipe(t, name)
		for what, pattern := range map[string]string{"fetches heapdrift": r.fetches, "makes a warning of exit 4": r.warns,
			"runs once per commit": r.once, "keeps forks apart": r.forks} {
			if !regexp.MustCompile(pattern).MatchString(text) {
				t.Errorf("ci/%s: nothing %s (%s)", name, what, pattern)
			}
		}
		for _, sentence := range sentences {
			if !strings.Contains(text, sentence) {
				t.Errorf("ci/%s does not say %q", name, sentence)
			}
		}
	}
	action := readRecipe(t, "action.yml")
	for _, want := range []string{"get-heapdrift.ps1", "LASTEXITCODE -eq 4) { '::warning", sentences[0]} {
		if !strings.Contains(action, want) {
			t.Errorf("ci/action.yml has no %q", want)
		}
	}
	scripts := regexp.MustCompile(`(?s)\n {6}run: .*?\n {6}env:`).FindAllString(action, -1)
	for _, script := range scripts {
		if strings.Contains(script, "${{") {
			t.Errorf("ci/action.yml puts a value into a script, where it can be code: %s", script)
		}
	}
	if len(scripts) != 2 {
		t.Errorf("ci/action.yml has %d scripts, want 2", len(scripts))
	}
}

// outsideRecipe are the logs of tools that the recipe for leaks at exit does not run, and of a text that is no bytes.
var outsideRecipe = map[string]bool{"fastmm": true, "heapcheck": true, "heob": true, "inspector": true, "valgrind": true, "utf": true}

// The recipe for leaks at exit gives each tool a scenario of its own, pushes what a failing test printed, and pushes no
// log without a list, which the server refuses.
func TestRecipeOfLeaksAtExit(t *testing.T) {
	text := readRecipe(t, "leaks-at-exit.yml")
	for _, tool := range []string{"debug-crt", "vld", "dr-memory", "asan"} {
		if !strings.Contains(text, "{tool: "+tool+",") || !strings.Contains(text, "if: matrix.tool == '"+tool+"'") {
			t.Errorf("no row or no step of %s", tool)
		}
	}
	for _, want := range []string{"scenario: unit-tests-${{ matrix.tool }}", "fail-on: new\n",
		"if: (success() || failure()) && steps.list.outputs.found == 'yes'"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	pattern := regexp.MustCompile(`\$list = '(.*)'`).FindStringSubmatch(text)
	if pattern == nil {
		t.Fatal("no pattern of lists")
	}
	lists := regexp.MustCompile("(?i)" + pattern[1]) // as Select-String compares
	logs, err := filepath.Glob("../../ingest/exitlog/testdata/*.log")
	if err != nil || len(logs) == 0 {
		t.Fatalf("no logs: %v", err)
	}
	for _, path := range logs {
		name := filepath.Base(path)
		tool, _, _ := strings.Cut(strings.TrimSuffix(name, ".log"), "-")
		if outsideRecipe[strings.TrimRight(tool, "0123456789")] {
			continue
		}
		log, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !lists.Match(log) {
			t.Errorf("%s has a list that the recipe does not find", name)
		}
	}
	if lists.MatchString("[ RUN      ] A.B\n[       OK ] A.B (1 ms)\n") {
		t.Error("a log without a list has one")
	}
}

// No file of ci/ puts a token on a command line, which other users of the machine can read.
func TestNoTokenOnACommandLine(t *testing.T) {
	onLine := regexp.MustCompile(`--token\b|(?:-H|--header)[ =]["']?(?:Authorization|PRIVATE-TOKEN)|^[^#]*curl [^|\n]*TOKEN`)
	for _, bad := range []string{`heapdrift push --token "$T"`, `curl -H "Authorization: Bearer $T" x`, `curl -u "x:$TOKEN" y`} {
		if !onLine.MatchString(bad) {
			t.Errorf("%q is not found", bad)
		}
	}
	files, err := filepath.Glob("../../ci/*")
	if err != nil || len(files) < len(recipes) {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, path := range files {
		for i, line := range strings.Split(readRecipe(t, filepath.Base(path)), "\n") {
			if onLine.MatchString(line) {
				t.Errorf("%s:%d: %s", path, i+1, line)
			}
		}
	}
}

// push.sh sends the token to the server, and to no command line: a curl that writes down its arguments stands before the
// real one.
func TestPushShell(t *testing.T) {
	curl := needs.Program(t, "curl")
	var asked []string
	var sent string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		if r.Method == http.MethodPut {
			sent = r.URL.Query().Encode()
		}
		_, _ = io.WriteString(w, `{"run":7,"gate":"inconclusive","sentence":"Too few snapshots."}`)
	}))
	defer server.Close()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("curl", fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$*\" >> '%s/arguments'\nexec '%s' \"$@\"\n", dir, curl))
	write("snap1.txt", "evidence")
	cmd := exec.CommandContext(t.Context(), "sh", "../../ci/push.sh", "shop & co", "12", "soak", filepath.Join(dir, "snap1.txt"))
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HEAPDRIFT_URL="+server.URL, "HEAPDRIFT_TOKEN=hd_secret")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 4 {
		t.Errorf("exit code %d, want 4 (%v):\n%s", cmd.ProcessState.ExitCode(), err, out)
	}
	want := "PUT /api/v1/evidence Bearer hd_secret\nPOST /api/v1/runs/7/complete Bearer hd_secret\n" +
		"GET /api/v1/runs/7/verdict Bearer hd_secret"
	if got := strings.Join(asked, "\n"); got != want {
		t.Errorf("asked\n%s\nwant\n%s", got, want)
	}
	if want := "build=12&name=snap1.txt&project=shop+%26+co&scenario=soak"; sent != want {
		t.Errorf("sent as %s, want %s", sent, want)
	}
	arguments, err := os.ReadFile(filepath.Join(dir, "arguments"))
	if err != nil || !strings.Contains(string(arguments), "snap1.txt") || strings.Contains(string(arguments), "hd_secret") {
		t.Errorf("the arguments of curl (%v):\n%s", err, arguments)
	}
}

// The scripts parse, by PowerShell's own parser where it is installed.
func TestPowerShellParses(t *testing.T) {
	pwsh, err := exec.LookPath("pwsh")
	if err != nil {
		t.Skip("PowerShell 7 parses the scripts: Debian has no package of its program pwsh")
	}
	files, err := filepath.Glob("../../ci/*.ps1")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		script := `$e = $null; [void][Management.Automation.Language.Parser]::ParseFile((Resolve-Path $env:SCRIPT), [ref]$null, [ref]$e); ` +
			`$e | ForEach-Object { "$($_.Extent.StartLineNumber): $($_.Message)" }`
		cmd := exec.CommandContext(t.Context(), pwsh, "-NoProfile", "-Command", script)
		cmd.Env = append(os.Environ(), "SCRIPT="+file)
		if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "" {
			t.Errorf("%s (%v):\n%s", file, err, out)
		}
	}
}

func readRecipe(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../ci", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

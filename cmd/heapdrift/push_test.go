package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/accounts"
	"heapdrift/internal/analysis/export/outcome"
	"heapdrift/internal/push"
	"heapdrift/internal/push/ci"
)

// pushed runs push in this process, outside of any CI system.
func pushed(ctx context.Context, t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	for _, name := range []string{"GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD", "TEAMCITY_VERSION", "JENKINS_URL",
		"HEAPDRIFT_URL", "HEAPDRIFT_TOKEN", "HEAPDRIFT_PROJECT"} {
		t.Setenv(name, "")
	}
	var out, errs bytes.Buffer
	code = run(ctx, append([]string{"push"}, args...), streams{in: strings.NewReader(""), out: &out, err: &errs})
	return code, out.String(), errs.String()
}

// The exit codes of the contract, by gate. A passed gate does not hide evidence that could not be read.
func TestExitOfOutcome(t *testing.T) {
	for _, test := range []struct {
		gate     string
		problems []string
		want     int
	}{
		{outcome.GatePassed, nil, 0}, {outcome.GateFailed, nil, 1}, {outcome.GateInconclusive, nil, 4},
		{outcome.GatePending, nil, 4}, {outcome.GateError, nil, 3},
		{outcome.GatePassed, []string{"x"}, 3}, {outcome.GateFailed, []string{"x"}, 1},
		{outcome.GateInconclusive, []string{"x"}, 3}, {"of a newer server", nil, 3},
	} {
		if got := exitOfOutcome(&outcome.Outcome{Gate: test.gate, Problems: test.problems}); got != test.want {
			t.Errorf("%s with %v ends with %d, want %d", test.gate, test.problems, got, test.want)
		}
	}
}

func TestPushUsage(t *testing.T) {
	log := writeLog(t, "a.txt", 0, 3)
	server := []string{"--url", "http://127.0.0.1:1", "--project", "p", "--build", "1"}
	with := func(args ...string) []string { return append(append([]string{}, server...), args...) }
	for _, test := range []struct {
		args []string
		code int
		says string
	}{
		{nil, exitUsage, "HEAPDRIFT_URL"},
		{[]string{"--url", "http://x", log}, exitUsage, "HEAPDRIFT_PROJECT"},
		{[]string{"--url", "http://x", "--project", "p", log}, exitUsage, "--build"},
		{[]string{"--url", "x", "--project", "p", "--build", "1", log}, exitUsage, "http://host:port"},
		{with(), exitUsage, "no files"},
		{with("--project", "a/b", log), exitUsage, "--project"},
		{with("--sequence", "x", log), exitUsage, "--sequence"},
		{with("--fail-on", "x", log), exitUsage, "--fail-on"},
		{with("--matters", "much", log), exitUsage, "--matters: \"much\" is not a growth"},
		{with("--wait", "-1s", log), exitUsage, "--wait"},
		{with("--work", "1,2", log), exitUsage, "2 numbers for 1 file"},
		{with("--work", "x", log), exitUsage, "--work"},
		{with("--work", ",", log, log+"x"), exitUsage, "missing between commas"},
		{with("--work-unit", "document", log), exitUsage, "--work-unit"},
		{with("--token", "a b", log), exitUsage, "blanks"},
		{with("nowhere/*.txt"), exitInput, "no file matches"},
		{with(log + "x"), exitInput, "there is no such file"},
		{with(filepath.Dir(log)), exitInput, "folder"},
		{with(log, "--symbols", t.TempDir()), exitInput, "no PDBs"},
		{with(log, "--symbols", "*.pdb"), exitInput, "no file matches"},
		{with(log, "--dry-run"), exitOK, ""},
	} {
		code, stdout, stderr := pushed(t.Context(), t, test.args...)
		if code != test.code || !strings.Contains(stderr, test.says) || (stdout != "") != (code == exitOK) {
			t.Errorf("%v ends with %d, want %d and %q\n%s\n%s", test.args, code, test.code, test.says, stdout, stderr)
		}
	}
}

// A real server refuses evidence, does not decide, or has the files already.
func TestPushToAServer(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	server := startServer(t)
	dir := t.TempDir()
	photo, junit := filepath.Join(dir, "photo.txt"), filepath.Join(dir, "junit.xml")
	for name, content := range map[string]string{photo: "\xff\xd8\xff\xe0 JFIF", junit: "of yesterday"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	one, two := writeLog(t, "one.txt", 10, 50), writeLog(t, "two.txt", 20, 60)
	args := []string{"--url", server + "/", "--project", "shop", "--build", "1", "--junit", junit}
	with := func(more ...string) []string { return append(append([]string{}, args...), more...) }

	code, stdout, stderr := pushed(t.Context(), t, with(photo, one)...)
	if code != exitInput || stdout != "" ||
		!strings.Contains(stderr, "refused  "+photo+"  the server answers 415 Unsupported Media Type: unknown-format: ") ||
		!strings.Contains(stderr, "sent     "+one) || !strings.Contains(stderr, "; no verdict") ||
		strings.Contains(stderr, "warning  ") {
		t.Errorf("a photo ends with %d\n%s\n%s", code, stdout, stderr)
	}
	if text, err := os.ReadFile(junit); err != nil || !strings.Contains(string(text), `<error type="unknown-format"`) {
		t.Errorf("%s, %v", text, err)
	}
	code, stdout, stderr = pushed(t.Context(), t, with("--quiet", one, two)...)
	lines := strings.Split(stdout, "\n")
	if code != exitInconclusive || stderr != "" || len(lines) != 3 || !strings.Contains(lines[0], "shop.exe grew") ||
		!strings.HasPrefix(lines[1], server+"/runs/") {
		t.Errorf("two logs end with %d\n%s\n%s", code, stdout, stderr)
	}
	if text, err := os.ReadFile(junit); err != nil || !strings.Contains(string(text), `<error type="inconclusive"`) {
		t.Errorf("%s, %v", text, err)
	}
	code, stdout, stderr = pushed(t.Context(), t, with("--commit", "bbbbbbb", "--again", one, two)...)
	if code != exitInconclusive || strings.Count(stderr, "warning  ") != 1 || !strings.Contains(stderr, "warning  Build 1 has no branch") {
		t.Errorf("one more run ends with %d\n%s\n%s", code, stdout, stderr)
	}
	code, stdout, stderr = pushed(t.Context(), t, with("--branch", "main", "--commit", "ccccccc", one, two)...)
	if code != exitInconclusive || !strings.Contains(stderr, "warning  Build 1 was uploaded with commit bbbbbbb before; commit ccccccc") ||
		strings.Contains(stderr, "no branch") {
		t.Errorf("another commit ends with %d\n%s\n%s", code, stdout, stderr)
	}
	code, stdout, stderr = pushed(t.Context(), t, with(one, two)...)
	if code != exitInconclusive || !strings.Contains(stderr, "known    ") || strings.Count(stderr, "sent     ") != 1 {
		t.Errorf("a second push ends with %d\n%s\n%s", code, stdout, stderr)
	}
	checkRecordLine(t, server, with(one, two))
	checkTriage(t, server)
	code, stdout, stderr = pushed(t.Context(), t, with("--baseline", "none", one, two)...)
	if code != exitInput || stdout != "" || !strings.Contains(stderr, `there is no build "none"`) {
		t.Errorf("an unknown baseline ends with %d\n%s\n%s", code, stdout, stderr)
	}
}

// checkTriage lists the leak of project shop, accepts it and assigns it.
func checkTriage(t *testing.T, server string) {
	t.Helper()
	leaks := func(command string) string {
		code, stdout, stderr := ran(t, append([]string{"leaks"},
			strings.Fields(command+" --url "+server+" --project shop")...)...)
		if code != exitOK {
			t.Errorf("%s ends with %d\n%s", command, code, stderr)
		}
		return stdout
	}
	signature, rest, _ := strings.Cut(leaks("list"), "  ")
	if !strings.HasPrefix(rest, "new") || strings.Count(rest, "\n") != 1 {
		t.Fatalf("%s %s", signature, rest)
	}
	leaks("accept --until 2100-01-01 --reason vendor " + signature)
	leaks("assign --to ann " + signature[:len("sig1:")+8])
	if got := leaks("list --state known"); !strings.Contains(got, "owner ann, known: vendor, until 2100-01-01") {
		t.Error(got)
	}
}

// On a server with accounts the token decides: a token of another project finds nothing, an invalid token is reported
// as such, and a token that may only upload still gets the verdict.
func TestPushWithTokens(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	server, db := startServerAs(t, "0")
	for _, project := range []string{"shop", "other"} {
		if err := db.CreateProject(t.Context(), project, 0, "test"); err != nil {
			t.Fatal(err)
		}
	}
	one, two := writeLog(t, "one.txt", 10, 50), writeLog(t, "two.txt", 20, 60)
	for _, c := range []struct {
		what, token, project string
		code                 int
		said                 string
	}{
		{"a token that may upload", tokenFor(t, db, "shop", accounts.ScopeUpload), "shop",
			exitInconclusive, "sent     " + one},
		{"a token of another project", tokenFor(t, db, "other", accounts.ScopeAdmin), "shop", exitInput,
			`no project "shop", or the token is not one of it`},
		{"a project that is not there", tokenFor(t, db, "shop", accounts.ScopeAdmin), "shopp", exitInput,
			`the server has no project "shopp"`},
		{"a token that may read", tokenFor(t, db, "shop", accounts.ScopeRead), "shop", exitInput,
			"403 Forbidden: not-allowed: this needs a token with the scope upload"},
		{"a token that is none", "hd_x", "shop", exitInput, "401 Unauthorized: bad-token"},
		{"no token", "", "shop", exitInput, "401 Unauthorized: not-logged-in"},
	} {
		code, stdout, stderr := pushed(t.Context(), t, "--url", server, "--project", c.project, "--build", "1",
			"--token", c.token, one, two)
		if code != c.code || !strings.Contains(stderr, c.said) || (code == exitInput) != (stdout == "") ||
			strings.Contains(stderr, "has lost") {
			t.Errorf("%s ends with %d\n%s\n%s", c.what, code, stdout, stderr)
		}
	}
}

// An interrupted push prints no partial outcome, and the error for a token that the server refuses names the cause.
func TestPushEndsEarly(t *testing.T) {
	log := writeLog(t, "a.txt", 0, 3)
	ctx, cancel := context.WithCancel(t.Context())
	deleted := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost:
			w.Header().Set("Location", "/api/v1/evidence/X")
			w.WriteHeader(http.StatusCreated)
		case http.MethodPatch:
			cancel()
			_, _ = io.Copy(io.Discard, r.Body) // until the client leaves
		case http.MethodDelete:
			close(deleted)
		}
	}))
	defer server.Close()
	code, stdout, stderr := pushed(ctx, t, "--url", server.URL, "--project", "p", "--build", "1", log)
	<-deleted
	if code != exitInput || stdout != "" || !strings.Contains(stderr, "interrupted") {
		t.Errorf("an interrupted push ends with %d\n%s\n%s", code, stdout, stderr)
	}
	for status, says := range map[int]string{http.StatusUnauthorized: "HEAPDRIFT_TOKEN",
		http.StatusForbidden: "scope upload", http.StatusFound: "--url"} {
		refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
		}))
		code, stdout, stderr := pushed(t.Context(), t, "--url", refusing.URL, "--project", "p", "--build", "1", log)
		refusing.Close()
		if code != exitInput || stdout != "" || !strings.Contains(stderr, says) {
			t.Errorf("%d ends with %d\n%s\n%s", status, code, stdout, stderr)
		}
	}
}

// The sentence and the page are the last two lines, whatever text a gate, a name or a sentence holds.
func TestLastTwoLines(t *testing.T) {
	for i := range ci.Systems {
		j := &ciJob{system: &ci.Systems[i], get: func(string) string { return "" }}
		for _, quiet := range []bool{false, true} {
			var out bytes.Buffer
			o := &outcome.Outcome{Gate: outcome.GateFailed,
				Sentence: "x.exe leaks\n##vso[task.complete result=Succeeded] \x1b[2J.",
				URL:      "http://h/runs/1", Leaks: []outcome.Leak{
					{Signature: "s", Title: "::error::forged\n::x", Change: outcome.ChangeNew, Fails: true},
					{Signature: "t", Change: outcome.ChangeFixed}}}
			if err := j.report(&out, o, &push.RunVerdict{RunID: 1, Gate: o.Gate}, quiet); err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix("\n"+out.String(),
				"\nx.exe leaks ## vso[task.complete result=Succeeded] [2J.\nhttp://h/runs/1\n") {
				t.Errorf("%s ends\n%s", ci.Systems[i].Name, out.String())
			}
			if strings.Contains(out.String(), "\n::x") || strings.HasPrefix(out.String(), "::error::forged") {
				t.Errorf("%s takes a name for a command:\n%s", ci.Systems[i].Name, out.String())
			}
		}
	}
}

// A gate that does not decide says what is open, and the command line of the run that would decide; with --quiet the
// last two lines are all. Later steps of the job learn whether to run again.
func TestPushTellsWhatDecides(t *testing.T) {
	output := filepath.Join(t.TempDir(), "output")
	j := &ciJob{system: &ci.Systems[0], get: func(name string) string {
		return map[string]string{"GITHUB_OUTPUT": output}[name]
	}}
	bytesGrown, probability := 2044723.0, 0.62
	v := &push.RunVerdict{RunID: 7, Rerun: true, Undecided: []push.Undecided{
		{Signature: "s", Change: "new", Probability: &probability, Bytes: &bytesGrown}, {Signature: "sig1:t"}}}
	o := &outcome.Outcome{Gate: outcome.GateInconclusive, Project: "shop", Build: "b #1", Scenario: "soak", Sentence: "Record more.",
		URL: "http://h/runs/7", Leaks: []outcome.Leak{{Signature: "s", Title: "shop!Cart::Add", Change: outcome.ChangeNew}}}
	const open = "undecided shop!Cart::Add: new, 1.95 MB, a leak with a probability of 62 %\nundecided sig1:t\n"
	const again = "Add one more run of this build, which would probably decide: heapdrift push --again --project shop --build \"b #1\" --scenario soak FILE…\n"
	for _, test := range []struct {
		gate         string
		rerun, quiet bool
		open, again  bool
	}{
		{outcome.GateInconclusive, true, false, true, true}, {outcome.GateInconclusive, false, false, true, false},
		{outcome.GatePending, true, false, true, true}, {outcome.GateInconclusive, true, true, false, false},
		{outcome.GateFailed, true, false, false, false}, {outcome.GatePassed, true, false, false, false},
	} {
		var out bytes.Buffer
		o.Gate, v.Rerun = test.gate, test.rerun
		_ = os.Remove(output)
		if err := j.report(&out, o, v, test.quiet); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), open) != test.open || strings.Contains(out.String(), again) != test.again ||
			!strings.HasSuffix(out.String(), "\nRecord more.\nhttp://h/runs/7\n") {
			t.Errorf("%+v:\n%s", test, out.String())
		}
		text, err := os.ReadFile(output)
		if err != nil || strings.Contains(string(text), "rerun=true\n") != test.rerun {
			t.Errorf("%+v: %s %v", test, text, err)
		}
	}
	v.Undecided = make([]push.Undecided, maxUndecided+1)
	var out bytes.Buffer
	if printUndecided(&out, o, v); strings.Count(out.String(), "undecided ") != maxUndecided+1 || !strings.Contains(out.String(), "1 more") {
		t.Error(out.String())
	}
}

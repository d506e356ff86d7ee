package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/analysis/export/outcome"
)

// outputs are flags for a file of each format, in a folder where files of an earlier job are.
func outputs(t *testing.T) (dir string, args []string) {
	t.Helper()
	dir = t.TempDir()
	for _, format := range []string{"json", "junit", "sarif", "codeclimate", "markdown"} {
		path := filepath.Join(dir, format)
		if err := os.WriteFile(path, []byte("of yesterday"), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--"+format, path)
	}
	return dir, args
}

// noVerdict checks the files of a push that ended with exit code 3.
func noVerdict(t *testing.T, dir, code, says string) map[string]any {
	t.Helper()
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	var fields map[string]any
	if err := json.Unmarshal([]byte(read("json")), &fields); err != nil {
		t.Fatalf("%v: %s", err, read("json"))
	}
	sentence, _ := fields["sentence"].(string)
	if fields["gate"] != "error" || fields["code"] != code || fields["exit"] != 3.0 || !strings.Contains(sentence, says) ||
		strings.Contains(sentence, "\n") {
		t.Errorf("%v, want %s and %q", fields, code, says)
	}
	for _, name := range []string{"new", "grown", "fixed", "persisting", "known", "leaks", "reasons", "problems"} {
		if _, ok := fields[name].([]any); !ok {
			t.Errorf("%s is %v", name, fields[name])
		}
	}
	for name, want := range map[string]string{"junit": `<error type="` + code + `"`, "sarif": `"executionSuccessful": false`,
		"codeclimate": "no-verdict", "markdown": "⚠ error"} {
		if !strings.Contains(read(name), want) {
			t.Errorf("%s lacks %s:\n%s", name, want, read(name))
		}
	}
	if !strings.Contains(read("junit"), ` timestamp="`) {
		t.Errorf("junit says not when the job began:\n%s", read("junit"))
	}
	return fields
}

// Whatever ends a push with exit code 3, its output files say so: they are there, with the code of the error.
func TestPushFailedOutputs(t *testing.T) {
	log := writeLog(t, "a.txt", 0, 3)
	refusing := func(status int, code string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"code":%q,"detail":"said by the server"}`, code)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, test := range []struct {
		name       string
		ctx        context.Context
		server     string
		files      []string
		code, says string
	}{
		{"no such file", t.Context(), "http://127.0.0.1:1", []string{log + "x"}, "no-file", "there is no such file"},
		{"a folder", t.Context(), "http://127.0.0.1:1", []string{filepath.Dir(log)}, "folder", "folder"},
		{"no project", t.Context(), refusing(404, "not-found"), []string{log}, "no-project", "no project"},
		{"a bad token", t.Context(), refusing(401, "bad-token"), []string{log}, "bad-token", "said by the server"},
		{"unknown evidence", t.Context(), refusing(415, "unknown-format"), []string{log}, "unknown-format", "415"},
		{"interrupted", ended, "http://127.0.0.1:1", []string{log}, "interrupted", "interrupted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, args := outputs(t)
			args = append(args, "--url", test.server, "--project", "shop", "--build", "7", "--scenario", "soak")
			code, stdout, stderr := pushed(test.ctx, t, append(args, test.files...)...)
			if code != exitInput || stdout != "" || stderr == "" {
				t.Errorf("%d\n%s\n%s", code, stdout, stderr)
			}
			fields := noVerdict(t, dir, test.code, test.says)
			if fields["build"] != "7" || fields["scenario"] != "soak" || fields["run"] != nil {
				t.Errorf("%v", fields)
			}
		})
	}
}

// A server that takes all files and then has no verdict leaves files with the number and the page of the run.
func TestPushFailedVerdict(t *testing.T) {
	log := writeLog(t, "a.txt", 0, 3)
	digest := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost && r.URL.Path == "/api/v1/evidence":
			w.Header().Set("Location", "/api/v1/evidence/X")
			w.WriteHeader(http.StatusCreated)
		case r.Method == http.MethodPatch:
			sum := sha256.New()
			if _, err := io.Copy(sum, r.Body); err != nil {
				t.Error(err)
			}
			digest = hex.EncodeToString(sum.Sum(nil))
			w.Header().Set("Upload-Offset", fmt.Sprint(r.ContentLength))
			w.Header().Set("X-Heapdrift-Run", "7")
		case strings.HasSuffix(r.URL.Path, "/verdict"):
			http.Error(w, "no", http.StatusTeapot)
		default:
			fmt.Fprintf(w, `{"id":7,"evidence":[{"name":"a.txt","sha256":%q}]}`, digest)
		}
	}))
	defer server.Close()
	dir, args := outputs(t)
	code, _, stderr := pushed(t.Context(), t, append(args, "--url", server.URL, "--project", "shop", "--build", "7", log)...)
	if code != exitInput {
		t.Errorf("%d\n%s", code, stderr)
	}
	if fields := noVerdict(t, dir, "http-418", "418"); fields["run"] != 7.0 || fields["url"] != server.URL+"/runs/7" {
		t.Errorf("%v", fields)
	}
}

// Evidence that could not be read makes an error of every gate but a failed one, as the exit code does.
func TestTellUnread(t *testing.T) {
	for _, test := range []struct {
		gate     string
		problems []string
		want     string
		code     string
	}{
		{outcome.GatePassed, nil, outcome.GatePassed, ""},
		{outcome.GatePassed, []string{"x"}, outcome.GateError, codeUnread},
		{outcome.GateInconclusive, []string{"x"}, outcome.GateError, codeUnread},
		{outcome.GateFailed, []string{"x"}, outcome.GateFailed, ""},
		{outcome.GateError, nil, outcome.GateError, codeProcessing},
	} {
		o := &outcome.Outcome{Gate: test.gate, Problems: test.problems, Sentence: "No leak."}
		before := exitOfOutcome(o)
		markUnread(o)
		if o.Gate != test.want || o.Code != test.code || exitOfOutcome(o) != before ||
			(o.Code == codeUnread) != (o.Sentence == "1 file of evidence could not be read. No leak.") {
			t.Errorf("%+v of %+v", o, test)
		}
	}
}

// Later steps of the job learn of a push without a verdict.
func TestPushFailedInCI(t *testing.T) {
	dir := t.TempDir()
	log := writeLog(t, "a.txt", 0, 3)
	environment := []string{"GITHUB_ACTIONS=true", "GITHUB_OUTPUT=" + filepath.Join(dir, "output"),
		"GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "summary")}
	for _, pair := range environment {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
	code, stdout, _ := ran(t, "push", "--url", "http://127.0.0.1:1", "--project", "shop", "--build", "7", log+"x")
	text, err := os.ReadFile(filepath.Join(dir, "output"))
	if code != exitInput || err != nil || !strings.HasSuffix(string(text), "\nrerun=false\n") || !strings.HasPrefix(string(text), "gate=error\nurl=\nrun=\nsentence=No verdict: ") ||
		!strings.HasPrefix(stdout, "::error title=heapdrift push::") {
		t.Errorf("%d %v\n%s\n%s", code, err, text, stdout)
	}
}

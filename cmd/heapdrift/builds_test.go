package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestBuildsSet(t *testing.T) {
	asked := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = r.Method + " " + r.URL.EscapedPath() + " " + string(body)
		if strings.HasSuffix(r.URL.Path, "/none") {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, `{"name":"b2","sequence":14,"branch":"main","commit":"","fork":"b1","runs":[]}`)
	}))
	defer server.Close()
	for _, test := range []struct {
		args  string
		code  int
		says  string
		asked string
	}{
		{"rc/2 --branch main --sequence 14", exitOK, "build b2, sequence 14, branch main, fork b1\n",
			`PATCH /api/v1/projects/my%20shop/builds/rc%2F2 {"branch":"main","sequence":14}`},
		{"--name b2 --fork= --commit c2 b1", exitOK, "build b2",
			`PATCH /api/v1/projects/my%20shop/builds/b1 {"commit":"c2","fork":"","name":"b2"}`},
		{"none --branch x", exitInput, `no build "none" in project "my shop"`, `PATCH /api/v1/projects/my%20shop/builds/none {"branch":"x"}`},
		{"b1", exitUsage, "nothing to set", ""},
		{"--branch x", exitUsage, "name one build", ""},
		{"b1 b2 --branch x", exitUsage, "name one build", ""},
		{"b1 --sequence x", exitUsage, "--sequence", ""},
		{"b1 --fork b1", exitUsage, "--fork", ""},
		{"b1 --name ?", exitUsage, "--name", ""},
	} {
		asked = ""
		args := append([]string{"builds", "set", "--url", server.URL, "--project", "my shop"}, strings.Fields(test.args)...)
		code, stdout, stderr := ran(t, args...)
		if code != test.code || !strings.Contains(stdout+stderr, test.says) || asked != test.asked {
			t.Errorf("%s ends with %d\n%s%s%s", test.args, code, stdout, stderr, asked)
		}
	}
}

func TestProjectsSet(t *testing.T) {
	asked := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = r.Method + " " + r.URL.EscapedPath() + " " + string(body)
		if strings.HasSuffix(r.URL.Path, "/none") {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, `{"name":"shop","default_branch":"main"}`)
	}))
	defer server.Close()
	for _, test := range []struct {
		args  string
		code  int
		says  string
		asked string
	}{
		{"--default-branch main", exitOK, "project shop, default branch main\n",
			`PATCH /api/v1/projects/my%20shop {"default_branch":"main"}`},
		{"--default-branch= --name shop", exitOK, "project shop",
			`PATCH /api/v1/projects/my%20shop {"default_branch":"","name":"shop"}`},
		{"--project none --name shop", exitInput, `no project "none"`, `PATCH /api/v1/projects/none {"name":"shop"}`},
		{"", exitUsage, "nothing to set", ""},
		{"x", exitUsage, "unexpected argument", ""},
		{"--default-branch ?", exitUsage, "--default-branch: ", ""},
		{"--name a/b", exitUsage, "--name: ", ""},
	} {
		asked = ""
		args := append([]string{"projects", "set", "--url", server.URL, "--project", "my shop"}, strings.Fields(test.args)...)
		code, stdout, stderr := ran(t, args...)
		if code != test.code || !strings.Contains(stdout+stderr, test.says) || asked != test.asked {
			t.Errorf("%s ends with %d\n%s%s%s", test.args, code, stdout, stderr, asked)
		}
	}
}

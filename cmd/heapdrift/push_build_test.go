package main

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"heapdrift/internal/leaks"
	"heapdrift/internal/push"
)

// The list of commits is read as git and shells write it; a server keeps the newest 1000.
func TestReadAncestors(t *testing.T) {
	wide := binary.LittleEndian.AppendUint16(nil, 0xFEFF)
	for _, unit := range utf16.Encode([]rune("c3\r\nc2\r\n")) {
		wide = binary.LittleEndian.AppendUint16(wide, unit)
	}
	path := filepath.Join(t.TempDir(), "ancestors.txt")
	for _, test := range []struct {
		text string
		want []string
		says string // of the error
	}{
		{"c3\nc2\nc1\n", []string{"c3", "c2", "c1"}, ""},
		{"\uFEFFc3\r\n\r\nc2", []string{"c3", "c2"}, ""},
		{string(wide), []string{"c3", "c2"}, ""},
		{strings.Repeat("c\n", 1001), slices.Repeat([]string{"c"}, leaks.MaxAncestors), ""},
		{"c3 Fix it\n", nil, "is not a commit"},
		{"", nil, "the file has no commits"},
	} {
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := (&pushFlags{ancestors: path}).readAncestors()
		if !slices.Equal(got, test.want) || (err == nil) != (test.says == "") ||
			err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%.30q: %d commits, %v", test.text, len(got), err)
		}
	}
	if _, err := (&pushFlags{ancestors: path + "x"}).readAncestors(); err == nil {
		t.Error("a file that is not there is read")
	}
}

// A dry run says which run --again would add, and the fork and the commits that would be sent.
func TestPushAgainDryRun(t *testing.T) {
	log := writeLog(t, "a.txt", 0, 3)
	commits := filepath.Join(t.TempDir(), "ancestors.txt")
	if err := os.WriteFile(commits, []byte("c3\nc2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.EscapedPath() {
		case "/api/v1/projects/shop/builds/7":
			fmt.Fprint(w, `{"name":"7","commit":"aaaaaaa","branch":"main","runs":[{"scenario":"soak","name":"1"},{"scenario":"other","name":"2"},{"scenario":"soak","name":"3"}]}`)
		case "/api/v1/projects/shop/builds/8":
			http.NotFound(w, r)
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	}))
	defer server.Close()
	for _, test := range []struct {
		args string
		code int
		says string
	}{
		{"--build 7 --scenario soak --again --fork 5 --ancestors " + commits, exitOK, "run        2\n"},
		{"--build 7 --scenario soak --again --fork 5 --ancestors " + commits, exitOK, "fork       5\nancestors  2 commits\n"},
		{"--build 7 --scenario other --again", exitOK, "run        1\n"},
		{"--build 8 --again", exitOK, "run        1\n"},
		{"--build 9 --again", exitInput, "name the run by --run"},
		{"--build 7 --again --run 3", exitUsage, "leave --run out"},
		{"--build 7 --commit bbbbbbb", exitOK, "note       Build 7 was uploaded with commit aaaaaaa before; commit bbbbbbb replaces it.\n--dry-run: not sent"},
		{"--build 8 --commit bbbbbbb", exitOK, "note       Build 8 has no branch. "},
		{"--build 9", exitOK, "note       The server did not return the build: "},
		{"--build 7 --fork 7", exitUsage, "--fork: is the build itself"},
		{"--build 7 --fork ?", exitUsage, "--fork: "},
	} {
		args := append([]string{"--url", server.URL, "--project", "shop", "--dry-run", log}, strings.Fields(test.args)...)
		code, stdout, stderr := pushed(t.Context(), t, args...)
		if code != test.code || !strings.Contains(stdout+stderr, test.says) {
			t.Errorf("%s ends with %d\n%s%s", test.args, code, stdout, stderr)
		}
	}
}

// The warnings of the run are printed; an older server has none, and that the branch is missing is said once.
func TestWarningsOf(t *testing.T) {
	noBranch := leaks.BuildWarning{Code: leaks.WarnNoBranch, Message: "no branch"}
	for _, test := range []struct {
		run  push.Run
		want string
	}{
		{push.Run{Branch: "main"}, ""},
		{push.Run{Build: "7"}, leaks.MissingBranchText("7")},
		{push.Run{Build: "7", Warnings: []leaks.BuildWarning{noBranch}}, "no branch"},
		{push.Run{Branch: "main", Warnings: []leaks.BuildWarning{{Code: leaks.WarnSameSequence, Message: "a"}, {Message: "b"}}}, "a|b"},
	} {
		if got := strings.Join(warningsOf(&test.run), "|"); got != test.want {
			t.Errorf("%+v: %q", test.run, got)
		}
	}
	log := writeLog(t, "a.txt", 0, 3)
	code, stdout, _ := pushed(t.Context(), t, "--url", "http://127.0.0.1:1", "--project", "p", "--build", "1", "--dry-run", log)
	if code != exitOK || !strings.Contains(stdout, "note       The server did not return the build") {
		t.Errorf("%d %s", code, stdout)
	}
}

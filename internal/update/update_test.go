package update_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/downloads"
	"heapdrift/internal/update"
)

// serve is a server that gives away a program, and says that it has a digest.
func serve(t *testing.T, program, digest string) string {
	t.Helper()
	mux := http.NewServeMux()
	answer := func(path, text string) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
	}
	answer("/healthz", `{"status":"alive","version":"2.0.0"}`)
	answer("/download/windows-amd64/heapdrift.exe", program)
	answer("/download/windows-amd64/heapdrift.exe.sha256", digest+"  heapdrift.exe\n")
	mux.Handle("GET /elsewhere/", http.RedirectHandler("http://elsewhere.invalid/", http.StatusFound))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// A program is replaced whole, or stays as it was; nothing else is left beside it.
func TestRun(t *testing.T) {
	windows := downloads.Platform{System: "windows", Architecture: "amd64"}
	for _, tt := range []struct {
		name     string
		digest   string
		path     string
		platform downloads.Platform
		aside    bool
		old      string // a program put aside before
		want     string // the program afterwards
		left     string // names in its folder
		code     string
	}{
		{"replaced", digest("new"), "", windows, false, "", "new", "heapdrift.exe", ""},
		{"put aside", digest("new"), "", windows, true, "", "new", "heapdrift.exe heapdrift.exe.old", ""},
		{"put aside again", digest("new"), "", windows, true, "older", "new", "heapdrift.exe heapdrift.exe.old", ""},
		{"the same already", digest("current"), "", windows, false, "", "current", "heapdrift.exe", ""},
		{"another digest", digest("other"), "", windows, true, "", "current", "heapdrift.exe", update.CodeDigest},
		{"no digest", "", "", windows, false, "", "current", "heapdrift.exe", update.CodeDigest},
		{"another platform", digest("new"), "", downloads.Platform{System: "linux", Architecture: "arm64"}, false, "",
			"current", "heapdrift.exe", update.CodeNone},
		{"no such server", digest("new"), "/none", windows, false, "", "current", "heapdrift.exe", update.CodeUnreachable},
		{"sent elsewhere", digest("new"), "/elsewhere", windows, false, "", "current", "heapdrift.exe",
			update.CodeUnreachable},
		{"no address", digest("new"), "?x", windows, false, "", "current", "heapdrift.exe", update.CodeURL},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "heapdrift.exe")
			write(t, path, "current")
			if tt.old != "" {
				write(t, path+".old", tt.old)
			}
			u := update.Update{Server: serve(t, "new", tt.digest) + tt.path, Program: path, Platform: tt.platform, Aside: tt.aside}
			result, err := u.Run(t.Context())
			var failed *update.Error
			if errors.As(err, &failed) != (tt.code != "") || failed != nil && (failed.Code != tt.code || failed.Do == "") {
				t.Errorf("error %v, want %q", err, tt.code)
			}
			if tt.code == "" && (result.Version != "2.0.0" || result.Replaced != (tt.want == "new")) {
				t.Errorf("result %+v", result)
			}
			text, err := os.ReadFile(path)
			if err != nil || string(text) != tt.want {
				t.Errorf("the program is %q (%v), want %q", text, err, tt.want)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o755 {
				t.Errorf("its mode is %v (%v)", info.Mode(), err)
			}
			if tt.aside && tt.want == "new" {
				if text, err := os.ReadFile(path + ".old"); err != nil || string(text) != "current" {
					t.Errorf("put aside: %q (%v)", text, err)
				}
			}
			if got := names(t, dir); got != tt.left {
				t.Errorf("beside it: %s, want %s", got, tt.left)
			}
		})
	}
}

// A folder that cannot be written to keeps the program, and the error says what to do.
func TestNotWritable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "heapdrift.exe")
	write(t, path, "current")
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	u := update.Update{Server: serve(t, "new", digest("new")), Program: path,
		Platform: downloads.Platform{System: "windows", Architecture: "amd64"}}
	_, err := u.Run(t.Context())
	var failed *update.Error
	if !errors.As(err, &failed) || failed.Code != update.CodeReplace {
		t.Errorf("error %v", err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

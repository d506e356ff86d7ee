package downloads_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/downloads"
)

// shelve writes files below a new folder.
func shelve(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func names(programs []downloads.Program) string {
	list := make([]string, len(programs))
	for i, p := range programs {
		list[i] = p.Platform.String()
	}
	return strings.Join(list, " ")
}

// The folder's programs are given away where they are of the server's version; the server's own program is always.
func TestList(t *testing.T) {
	here := downloads.Here()
	own := filepath.Join(shelve(t, map[string]string{"server": "own"}), "server")
	full := map[string]string{"VERSION": "1.2.0\n", "windows-amd64/heapdrift.exe": "w", "plan9-amd64/heapdrift": "p",
		"windows-arm64/heapdrift": "no .exe"}
	other := map[string]string{"VERSION": "1.1.0\n", "windows-amd64/heapdrift.exe": "w"}
	unnamed := map[string]string{"windows-amd64/heapdrift.exe": "w"}
	for _, tt := range []struct {
		name    string
		library *downloads.Library
		want    []string
		missing string
	}{
		{"all", &downloads.Library{Dir: shelve(t, full), Own: own, Version: "1.2.0"},
			[]string{here.String(), "windows-amd64"}, ""},
		{"another version", &downloads.Library{Dir: shelve(t, other), Own: own, Version: "1.2.0"}, []string{here.String()},
			`programs of version "1.1.0", and this server is "1.2.0"`},
		{"no version", &downloads.Library{Dir: shelve(t, unnamed), Own: own, Version: "1.2.0"}, []string{here.String()},
			"has no file VERSION"},
		{"no folder", &downloads.Library{Dir: filepath.Join(t.TempDir(), "none"), Version: "1.2.0"}, nil, "has no file VERSION"},
		{"nothing set", &downloads.Library{Version: "1.2.0"}, nil, "no folder is set"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, missing, err := tt.library.List(t.Context())
			want := slices.Sorted(slices.Values(tt.want))
			if err != nil || names(got) != strings.Join(want, " ") || !strings.Contains(missing, tt.missing) ||
				(missing == "") != (tt.missing == "") {
				t.Errorf("%s, %q, %v; want %v, %q", names(got), missing, err, want, tt.missing)
			}
		})
	}
}

// A file that changes has the digest of its new bytes, and what is opened is what was described.
func TestOpen(t *testing.T) {
	windows := downloads.Platform{System: "windows", Architecture: "amd64"}
	dir := shelve(t, map[string]string{"VERSION": "1", "windows-amd64/heapdrift.exe": "first"})
	l := &downloads.Library{Dir: dir, Version: "1"}
	for i, text := range []string{"first", "first", "second", "thirds"} {
		path := filepath.Join(dir, "windows-amd64", "heapdrift.exe")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Unix(int64(i), 0)); err != nil {
			t.Fatal(err)
		}
		p, f, err := l.Open(t.Context(), windows)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		if want := fmt.Sprintf("%x", sha256.Sum256([]byte(text))); err != nil || p.SHA256 != want || string(got) != text ||
			p.Size != int64(len(text)) {
			t.Errorf("%+v, read %q (%v); want %s", p, got, err, want)
		}
		_ = f.Close()
	}
	for _, p := range []downloads.Platform{{System: "linux", Architecture: "arm64"}, {System: "../windows", Architecture: "amd64"}} {
		if _, _, err := l.Open(t.Context(), p); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: %v", p, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	fresh := &downloads.Library{Dir: dir, Version: "1"}
	if _, _, err := fresh.Open(ctx, windows); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

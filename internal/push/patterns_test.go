package push_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/push"
)

func TestExpand(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, file := range []string{"a.txt", "b.txt", "c.pdb", "x/d.txt", "x/y/e.txt", "x/y/f.pdb", "odd[1].txt", "z/only"} {
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for patterns, want := range map[string]string{
		"*.txt":                 "a.txt b.txt odd[1].txt",
		"[ab].txt":              "a.txt b.txt",
		"?.pdb":                 "c.pdb",
		"x/*.txt":               "x/d.txt",
		"**/*.txt":              "a.txt b.txt odd[1].txt x/d.txt x/y/e.txt",
		"x/**/*.pdb":            "x/y/f.pdb",
		"**/y/*":                "x/y/e.txt x/y/f.pdb",
		"b.txt *.txt":           "b.txt a.txt odd[1].txt",
		"./x/../a.txt":          "a.txt",
		"odd[1].txt":            "odd[1].txt", // what is there by that name is meant
		"x/y":                   "x/y",
		"not-there.txt":         "not-there.txt", // the upload says what is wrong with it
		"*.dmp":                 "! no file matches",
		"nowhere/*.txt":         "! no file matches",
		"[.txt":                 "! cannot be read",
		"*.txt missing/**/*.md": "! no file matches",
	} {
		got, err := push.Expand(strings.Fields(patterns))
		if text, wrong := strings.CutPrefix(want, "! "); wrong {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v, %v", patterns, got, err)
			}
			continue
		}
		if list := filepath.ToSlash(strings.Join(got, " ")); err != nil || list != want {
			t.Errorf("%s: %s, %v; want %s", patterns, list, err, want)
		}
	}
	absolute, err := filepath.Abs("x")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := push.Expand([]string{absolute + "/*.txt"}); err != nil || len(got) != 1 ||
		got[0] != filepath.Join(absolute, "d.txt") {
		t.Errorf("%v, %v", got, err)
	}
}

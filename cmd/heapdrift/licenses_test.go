package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"

	"heapdrift/internal/licenses"
)

func TestWriteLicenses(t *testing.T) {
	texts := []licenses.Text{
		{Uses: []licenses.Use{{Name: licenses.Own, File: "LICENSE"},
			{Name: "example.com/b", Version: "v1.0.0", File: "LICENSE"}}, Text: "Apache's.\n"},
		{Uses: []licenses.Use{{Name: "example.com/a", Version: "v1.0.0", File: "LICENSE"}}, Text: "A's.\n"},
		{Uses: []licenses.Use{{Name: "example.com/windows", Version: "v1.0.0", File: "LICENSE"}},
			Text: "Of another system.\n"},
		{Uses: []licenses.Use{{Name: "script.js", Version: "2.0.0", File: "script.LICENSE.txt"}}, Text: "The script's.\n"},
	}
	a, b := &debug.Module{Path: "example.com/a", Version: "v1.0.0"},
		&debug.Module{Path: "example.com/b", Version: "v1.0.0"}
	for _, tt := range []struct {
		name    string
		modules []*debug.Module
		list    string
		err     string
	}{
		{"all known", []*debug.Module{a, b},
			"\n  example.com/a v1.0.0\n  example.com/b v1.0.0\n  script.js 2.0.0\n\n==== heapdrift LICENSE\n==== example.com/b v1.0.0 LICENSE\n\nApache's.\n", ""},
		{"one unknown", []*debug.Module{b, {Path: "example.com/new", Version: "v0.1.0"}},
			"\n  example.com/b v1.0.0\n  script.js 2.0.0\n\n", "no licence text of example.com/new v0.1.0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			err := writeLicenses(&out, texts, tt.modules)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if !strings.HasPrefix(out.String(), "heapdrift "+buildVersion()+" ") || !strings.Contains(out.String(), tt.list) ||
				strings.Contains(out.String(), "another system") || !strings.HasSuffix(out.String(), "The script's.\n\n") {
				t.Errorf("printed %s", &out)
			}
		})
	}
}

// The program as it is built here has a text for every module in it, for Go, for itself and for every script.
func TestLicensesOfTheProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	binary, err := builtBinary()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	command := exec.Command(binary, "licenses")
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	want := []string{"Go", "heapdrift", "github.com/jackc/pgx/v5"}
	manifest, err := os.ReadFile("../../web/assets/vendor/VERSIONS.json")
	if err != nil {
		t.Fatal(err)
	}
	var scripts []struct{ Name string }
	if err := json.Unmarshal(manifest, &scripts); err != nil || len(scripts) == 0 {
		t.Fatalf("%d scripts: %v", len(scripts), err)
	}
	for _, s := range scripts {
		want = append(want, s.Name)
	}
	for _, name := range want {
		if !strings.Contains(string(out), "\n==== "+name+" ") {
			t.Errorf("no text of %s", name)
		}
	}
	for _, other := range []string{"chromedp", "axe-core", "gofakes3"} { // only tests use them
		if strings.Contains(string(out), other) {
			t.Errorf("%s is named, and not in the program", other)
		}
	}
}

func TestLicensesTakesNothing(t *testing.T) {
	var out, mistakes bytes.Buffer
	if code := run(t.Context(), []string{"licenses", "pgx"}, streams{out: &out, err: &mistakes}); code != exitUsage ||
		out.Len() > 0 {
		t.Errorf("code %d, printed %q", code, &out)
	}
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/licenses"
)

// What is linked and what is in the file are the same: whoever adds a dependency runs "make generate".
func TestUpToDate(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	const root = "../.."
	want, err := generate(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(root, written))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(have, want) {
		return
	}
	has, err := licenses.Parse(string(have))
	if err != nil {
		t.Fatal(err)
	}
	wants, err := licenses.Parse(string(want))
	if err != nil {
		t.Fatal(err)
	}
	known := keys(has)
	for key := range keys(wants) {
		if !known[key] {
			t.Errorf("%s has no text in %s", key, written)
		}
	}
	t.Errorf("%s is not what is linked: run make generate", written)
}

func keys(texts []licenses.Text) map[string]bool {
	set := map[string]bool{}
	for _, text := range texts {
		for _, u := range text.Uses {
			set[u.Key()] = true
		}
	}
	return set
}

// tree is a program on two systems, with modules beside it instead of in a cache.
var tree = map[string]string{
	"LICENSE":                         "Our licence.\n",
	"go.mod":                          "module heapdrift\n\ngo 1.26.0\n",
	"web/assets/vendor/s.js":          "",
	"web/assets/vendor/s.LICENSE.txt": "The script's.\n",
	"web/assets/vendor/VERSIONS.json": `[{"name": "s", "version": "2.0.0", "file": "s.js"}, {"name": "s", "version": "2.0.0", "file": "s.LICENSE.txt"}]`,

	"go/LICENSE":          "Go's.\n",
	"a/LICENSE.md":        "\ufeffOur\r\nlicence.  \r\n", // with other line ends
	"a/NOTICE":            "A says.\n",
	"a/license.go":        "package a\n",
	"a/licensed.txt":      "no licence\n",
	"a/deep/er/UNLICENSE": "Copied.\n",
	"a/deep/er/code.go":   "package er\n",
	"a/other/LICENSE":     "Not linked.\n",
	"b/COPYING":           "B's.\n",
	"b/LICENSES/x.txt":    "in a folder\n",
}

func plant(t *testing.T, change func(files map[string]string)) (root string, modules []*module) {
	t.Helper()
	root = t.TempDir()
	files := map[string]string{}
	for name, text := range tree {
		files[name] = text
	}
	change(files)
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	return root, []*module{
		{path: licenses.Go, dir: at("go")},
		{"example.com/a", "v1.0.0", at("a"), map[string]bool{at("a/deep/er"): true}},
		{"example.com/b", "v0.2.0", at("b"), map[string]bool{at("b"): true}},
	}
}

func TestCollect(t *testing.T) {
	root, modules := plant(t, func(map[string]string) {})
	texts, err := collect(root, modules)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := licenses.Write(&b, texts); err != nil {
		t.Fatal(err)
	}
	want := `==== heapdrift LICENSE
==== example.com/a v1.0.0 LICENSE.md

Our licence.

==== Go LICENSE

Go's.

==== example.com/a v1.0.0 NOTICE

A says.

==== example.com/a v1.0.0 deep/er/UNLICENSE

Copied.

==== example.com/b v0.2.0 COPYING

B's.

==== s 2.0.0 s.LICENSE.txt

The script's.

`
	if b.String() != want {
		t.Errorf("wrote\n%s\nwant\n%s", &b, want)
	}
}

func TestWithoutLicence(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(files map[string]string)
		want   string
	}{
		{"a module", func(f map[string]string) { delete(f, "b/COPYING") }, "no licence file in example.com/b v0.2.0"},
		{"a notice is none", func(f map[string]string) { delete(f, "a/LICENSE.md") },
			"no licence file in example.com/a v1.0.0"},
		{"two modules", func(f map[string]string) { delete(f, "a/LICENSE.md"); delete(f, "b/COPYING") },
			"example.com/a v1.0.0, example.com/b v0.2.0"},
		{"a script", func(f map[string]string) {
			f["web/assets/vendor/VERSIONS.json"] = `[{"name": "s", "version": "2.0.0", "file": "s.js"}]`
		}, "no licence file in s 2.0.0"},
		{"a file that is not there", func(f map[string]string) { delete(f, "web/assets/vendor/s.LICENSE.txt") },
			"s.LICENSE.txt"},
		{"ours", func(f map[string]string) { delete(f, "LICENSE") }, "LICENSE"},
		{"Go's", func(f map[string]string) { f["go/VERSION"] = "go1.26"; delete(f, "go/LICENSE") }, "no licence file in Go"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root, modules := plant(t, tt.change)
			if _, err := collect(root, modules); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// The toolchain is asked for each system: modules that only one system links are listed too, and modules that none
// links are not.
func TestLinked(t *testing.T) {
	root, _ := plant(t, func(f map[string]string) {
		f["go.mod"] += "\nrequire (\n\texample.com/a v1.0.0\n\texample.com/b v0.2.0\n\texample.com/c v0.3.0\n)\n\n" +
			"replace example.com/b v0.2.0 => ./b\n\nreplace example.com/a v1.0.0 => ./a\n\nreplace example.com/c v0.3.0 => ./c\n"
		f["a/go.mod"], f["b/go.mod"], f["c/go.mod"] = "module example.com/a\n", "module example.com/b\n",
			"module example.com/c\n"
		f["b/b.go"], f["c/c.go"] = "package b\n", "package c\n"
		f["cmd/heapdrift/main.go"] = "package main\n\nimport _ \"example.com/a/deep/er\"\n\nfunc main() {}\n"
		f["cmd/heapdrift/main_windows.go"] = "package main\n\nimport _ \"example.com/b\"\n"
		f["cmd/heapdrift/main_test.go"] = "package main\n\nimport _ \"example.com/c\"\n"
	})
	for _, tt := range []struct {
		platforms []string
		want      string
	}{
		{[]string{"linux/amd64"}, "Go ./a"},
		{[]string{"linux/amd64", "windows/arm64"}, "Go ./a ./b"},
	} {
		modules, err := linked(t.Context(), root, tt.platforms)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range modules {
			got = append(got, m.path)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%v link %v, want %s", tt.platforms, got, tt.want)
		}
	}
}

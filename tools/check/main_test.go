package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// files are a small repository: b imports a, c imports it in its tests, d imports b; docs reads what others hold.
var files = map[string]string{
	"go.mod":             "module small\n\ngo 1.26\n",
	"README.md":          "# small\n",
	"Dockerfile":         "FROM scratch\n",
	"a/a.go":             "package a\n\nimport _ \"embed\"\n\n//go:embed list.txt\nvar List string\n",
	"a/list.txt":         "one\n",
	"a/a_test.go":        "package a\n\nimport \"testing\"\n\nfunc TestList(t *testing.T) {\n\tif List != \"one\\n\" {\n\t\tt.Error(List)\n\t}\n}\n",
	"a/testdata/one.txt": "one\n",
	"b/b.go":             "package b\n\nimport \"small/a\"\n\nvar List = a.List\n",
	"b/sub/note.txt":     "a folder without a package\n",
	"c/c.go":             "package c\n",
	"c/c_test.go":        "package c\n\nimport (\n\t\"testing\"\n\n\t\"small/a\"\n)\n\nfunc TestList(t *testing.T) { _ = a.List }\n",
	"d/d.go":             "package d\n\nimport \"small/b\"\n\nvar List = b.List\n",
	"docs/docs_test.go": "package docs\n\nimport \"path/filepath\"\n\nvar (\n\tfile = filepath.Join(\"..\", \"a\", \"testdata\", \"*.txt\")\n" +
		"\tother = \"../Dockerfile\"\n\trefused = []string{\"../..\", \"../../etc\", \"../none.txt\"}\n)\n",
	"e/page.templ":   "package e\n",
	"e/page.go":      "package e\n",
	"tool/go.mod":    "module tool\n\ngo 1.26\n",
	"tool/t.go":      "package tool\n",
	"tool/t_test.go": "package tool\n\nconst dockerfile = \"../Dockerfile\"\n",
	"pins/go.mod":    "module pins\n\ngo 1.26\n",
}

// repository commits the files on main and gives its folder.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, dir, name, text)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"},
		{"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first"}, {"checkout", "-q", "-b", "work"}} {
		if text, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTouchedBy(t *testing.T) {
	g, err := loadGraph(t.Context(), repository(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		file, changed, importers, modules string
		all                               bool
	}{
		{file: "a/a.go", changed: "a", importers: "b c"},
		{file: "a/a.go", changed: "a", importers: "b c d", all: true},
		{file: "a/list.txt", changed: "a", importers: "b c"}, // embedded
		{file: "a/a_test.go", changed: "a"},
		{file: "a/testdata/one.txt", changed: "a", importers: "docs"},
		{file: "a/gone.go", changed: "a", importers: "b c"}, // deleted
		{file: "b/b.go", changed: "b", importers: "d"},
		{file: "b/sub/note.txt", changed: "b"},
		{file: "gone/gone.go"},
		{file: "README.md"},
		{file: "Dockerfile", importers: "docs", modules: "tool"},
		{file: "e/page.templ", changed: "e"},
		{file: "tool/t.go", modules: "tool"},
		{file: "pins/go.mod"},
		{file: "go.mod", importers: "a b c d docs e"},
	} {
		got := g.touchedBy([]string{test.file}, test.all)
		if c, i, m := strings.Join(got.changed, " "), strings.Join(got.importers, " "), strings.Join(got.modules, " "); c != test.changed ||
			i != test.importers || m != test.modules {
			t.Errorf("%s (all: %t) touches %q, %q, %q; want %q, %q, %q", test.file, test.all, c, i, m, test.changed, test.importers, test.modules)
		}
	}
	both := g.touchedBy([]string{"a/a.go", "b/b.go", "a/a_test.go"}, false)
	if !slices.Equal(both.changed, []string{"a", "b"}) || !slices.Equal(both.importers, []string{"c", "d"}) {
		t.Errorf("of two packages: %q, %q", both.changed, both.importers)
	}
}

// What was committed on the branch, what was not, and what git does not know yet is the change.
func TestChangeSince(t *testing.T) {
	dir := repository(t)
	write(t, dir, "a/list.txt", "two\n")
	for _, args := range [][]string{{"mv", "README.md", "READ.md"}, {"add", "-A"},
		{"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "second"}} {
		if text, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	write(t, dir, "b/b.go", "package b\n")
	write(t, dir, "f/with space.go", "package f\n")
	for base, want := range map[string][]string{
		"":     {"README.md", "READ.md", "a/list.txt", "b/b.go", "f/with space.go"},
		"HEAD": {"b/b.go", "f/with space.go"},
	} {
		slices.Sort(want)
		c, err := changeSince(t.Context(), dir, base)
		if err != nil || !slices.Equal(c.files, want) {
			t.Errorf("since %q: %q, %v; want %q", base, c.files, err, want)
		}
	}
	if _, err := changeSince(t.Context(), dir, "nothing"); err == nil {
		t.Error("a commit that is not there has a change")
	}
}

// Only what changed is linted; a package that changed runs all of its tests.
func TestSteps(t *testing.T) {
	for _, test := range []struct {
		touched touched
		short   bool
		want    string
	}{
		{touched{}, false, ""},
		{touched{changed: []string{"a"}, importers: []string{"b"}}, false,
			"go vet ./a ./b\ngo test -vet=off ./a\ngo test -vet=off -short ./b\ngo tool -modfile=tools/lint/go.mod golangci-lint run --allow-serial-runners ./a\n"},
		{touched{changed: []string{"a"}}, true,
			"go vet ./a\ngo test -vet=off -short ./a\ngo tool -modfile=tools/lint/go.mod golangci-lint run --allow-serial-runners ./a\n"},
		{touched{lintAll: true}, false, "go tool -modfile=tools/lint/go.mod golangci-lint run --allow-serial-runners\n"},
		{touched{modules: []string{"tool"}}, false, "cd tool && go test ./...\n"},
		{touched{templs: []string{"gone.templ"}}, false, ""},
	} {
		var got strings.Builder
		for _, s := range test.touched.steps(test.short) {
			got.WriteString(s.String() + "\n")
		}
		if got.String() != test.want {
			t.Errorf("%+v:\n%swant\n%s", test.touched, got.String(), test.want)
		}
	}
}

// A step that fails gives status 1, and the steps after it run.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	dir := repository(t)
	write(t, dir, "go.mod", files["go.mod"]+"\n// a comment\n")
	var out strings.Builder
	if status, err := run(t.Context(), []string{"-C", dir}, &out); status != 0 || err != nil ||
		!strings.Contains(out.String(), "ok  \tsmall/a") || strings.Contains(out.String(), "no test files") {
		t.Errorf("%d, %v:\n%s", status, err, out.String())
	}
	write(t, dir, "tool/t.go", "package tool\n\nfunc broken() { \n")
	write(t, dir, "a/list.txt", "two\n")
	out.Reset()
	if status, err := run(t.Context(), []string{"-C", dir}, &out); status != 1 || err != nil ||
		!strings.Contains(out.String(), "--- FAIL: TestList") || !strings.Contains(out.String(), "cd tool && go test") {
		t.Errorf("%d, %v:\n%s", status, err, out.String())
	}
	out.Reset()
	if status, err := run(t.Context(), []string{"-C", dir, "-list"}, &out); status != 0 || err != nil ||
		strings.Contains(out.String(), "FAIL") || !strings.Contains(out.String(), "== go test -vet=off ./a\n") {
		t.Errorf("%d, %v:\n%s", status, err, out.String())
	}
}

package docs

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the repository as seen from this package.
const root = "../.."

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	code = regexp.MustCompile("`([^`\n]+)`")
	// named is a path from the root of the repository: its first element is a folder that a package may be in.
	named = regexp.MustCompile(`^(cmd|ingest|internal|worker|web|migrations|tools|docs|ci)(/[\w.*…-]+)*/?$`)
	// declared is a declaration with its package: store.UpdateResult.
	declared = regexp.MustCompile(`^([a-z]+)\.([A-Z]\w*)$`)
	standard = map[string]bool{"io": true, "context": true, "testing": true, "time": true}
	link     = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)\s]*)?\)`)
)

// Pages that tell where something is name paths and declarations that exist.
func TestNames(t *testing.T) {
	for page, least := range map[string]int{"docs/architecture.md": 120, "CONTRIBUTING.md": 10, "docs/adding-a-format.md": 3} {
		text, found := read(t, page), 0
		for _, m := range code.FindAllStringSubmatch(text, -1) {
			switch name := m[1]; {
			case named.MatchString(name) && !strings.ContainsAny(name, "*…"):
				found++
				if !exists(name) {
					t.Errorf("%s names %s, which does not exist", page, name)
				}
			case declared.MatchString(name):
				found++
				if parts := declared.FindStringSubmatch(name); !standard[parts[1]] && !declares(t, parts[1], parts[2]) {
					t.Errorf("%s names %s, which no package %s declares", page, name, parts[1])
				}
			}
		}
		if found < least {
			t.Errorf("%s names %d paths and declarations; this test looks past the others, which were at least %d", page, found, least)
		}
	}
}

// The answers of the table "Where is …?" are more than a few.
func TestQuestions(t *testing.T) {
	_, table, _ := strings.Cut(read(t, "docs/architecture.md"), "## Where is …?")
	questions := regexp.MustCompile(`(?m)^\| [A-Z][^|]*\? \| \S`).FindAllString(table, -1)
	if rows := strings.Count(table, "\n| ") - 2; len(questions) < 20 || len(questions) != rows {
		t.Errorf("%d of %d rows have a question and an answer; at least 20 are wanted", len(questions), rows)
	}
}

// Every relative link of every page leads to a file.
func TestLinks(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "*.md").Output()
	if err != nil {
		t.Skip("this is no checkout of git")
	}
	pages := strings.Fields(string(out))
	if !slices.Contains(pages, "README.md") {
		t.Fatalf("README.md is not among %q", pages)
	}
	for _, page := range pages {
		if strings.Contains(page, "testdata/") || !exists(page) {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
			if to := m[1]; !strings.Contains(to, ":") && !exists(path.Join(path.Dir(page), to)) {
				t.Errorf("%s links to %s, which does not exist", page, to)
			}
		}
	}
}

func exists(name string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
	return err == nil
}

// declares reports whether a package of that name declares a function, method, type or variable of that name.
func declares(t *testing.T, pkg, name string) (found bool) {
	t.Helper()
	declaration := regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type |var |const |\t)` + name + `\b`)
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && file != root):
			return filepath.SkipDir
		case filepath.Ext(file) != ".go" || filepath.Base(filepath.Dir(file)) != pkg:
			return nil
		}
		text, err := os.ReadFile(file)
		if err == nil && declaration.Match(text) {
			found = true
			return filepath.SkipAll
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

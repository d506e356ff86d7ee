package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"heapdrift/ingest"
)

// A reader has what docs/adding-a-format.md asks for: a fuzz target, and the inputs that it begins with.
func TestReadersAreWhole(t *testing.T) {
	target := regexp.MustCompile(`(?m)^func Fuzz\w*\(`)
	for kind, folders := range readersOf(t, ingest.Formats()) {
		fuzzed, seeded := false, false
		for _, folder := range folders {
			tests, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range tests {
				text, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				fuzzed = fuzzed || target.Match(text)
			}
			seeds, _ := filepath.Glob(filepath.Join(root, folder, "testdata", "fuzz", "*", "*")) // the pattern is well formed
			seeded = seeded || len(seeds) > 0
		}
		if !fuzzed || !seeded {
			t.Errorf("%s (%q): fuzz target %t, corpus below testdata/fuzz %t; both are needed", kind, folders, fuzzed, seeded)
		}
	}
}

// The example of docs/adding-a-format.md is the whole change: with its package and its row, and no other line, the
// program reads the format. Overlays add both without touching the work tree.
func TestPage(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds package ingest")
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "adding-a-format.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	replace := map[string]string{}
	add := func(name, text string) {
		made := filepath.Join(dir, strings.ReplaceAll(name, "/", "-"))
		if err := os.WriteFile(made, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		path, err := filepath.Abs(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		replace[path] = made
	}
	add("ingest/heaplist/heaplist.go", example(t, string(page), "// Package heaplist"))
	rows, err := os.ReadFile(filepath.Join(root, rows))
	if err != nil {
		t.Fatal(err)
	}
	table := strings.Replace(string(rows), "var formats = []format{\n", "var formats = []format{\n"+example(t, string(page), "{\n    Format:"), 1)
	add("ingest/formats.go", strings.Replace(table, "\t\"heapdrift/ingest/umdh\"\n", "\t\"heapdrift/ingest/heaplist\"\n\t\"heapdrift/ingest/umdh\"\n", 1))
	add("ingest/page_test.go", pageTest)
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	add("overlay.json", string(overlay))
	cmd := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-overlay", filepath.Join(dir, "overlay.json"), "-run", "^(TestPage|TestRows)$", "-v", "./ingest")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestPage") {
		t.Errorf("%v\n%s", err, out)
	}
}

// pageTest reads a file of the example's format, as it is and damaged.
const pageTest = `package ingest_test

import (
	"testing"

	"heapdrift/ingest"
)

func TestPage(t *testing.T) {
	r, err := ingest.Read(t.Context(), source("a.txt.gz", gz([]byte("heaplist 1.2 pid 4242\nheap 20a1c5d0000 committed 20480 busy 113 14016\nheap\n"))), ingest.Options{})
	if err != nil || len(r.Captures) != 1 || r.Captures[0].Process.PID != 4242 || len(r.Captures[0].Memory.Heaps) != 1 || len(r.Captures[0].Warnings) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := ingest.Read(t.Context(), source("a.txt", []byte("heaplist 1.2 pid 4242\n")), ingest.Options{}); err == nil {
		t.Error("a list without a heap is read")
	}
}
`

// example is the code block of a page that begins with these words, without the page's indentation.
func example(t *testing.T, page, begin string) string {
	t.Helper()
	lines := strings.Split(page, "\n")
	for i := range lines {
		block := ""
		for _, line := range lines[i:] {
			text, indented := strings.CutPrefix(line, "    ")
			if !indented && line != "" {
				break
			}
			block += text + "\n"
		}
		if strings.HasPrefix(block, begin) {
			return block
		}
	}
	t.Fatalf("the page has no example that begins with %q", begin)
	return ""
}

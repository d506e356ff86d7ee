package docs

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// forTests are packages that no program of the product is linked from.
var forTests = regexp.MustCompile(`test$|^internal/(await|corpus|golden|needs|testbrowser|testdb|testwine)\b`)

// In the picture of docs/architecture.md a package imports packages of the lines below its own.
func TestPicture(t *testing.T) {
	line := picture(t)
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "heapdrift/")
		if forTests.MatchString(name) || strings.HasPrefix(name, "tools/") {
			continue
		}
		unit := unitOf(name, line)
		if unit == "" {
			t.Errorf("%s is not in the picture", name)
			continue
		}
		for _, i := range p.Imports {
			other, ours := strings.CutPrefix(i, "heapdrift/")
			if to := unitOf(other, line); ours && to != "" && to != unit && line[to] <= line[unit] {
				t.Errorf("%s imports %s, which is not below it in the picture", name, other)
			}
		}
	}
}

// picture gives the line of each package of the picture. Lines without an arrow between them are one.
func picture(t *testing.T) map[string]int {
	t.Helper()
	_, text, _ := strings.Cut(read(t, "docs/architecture.md"), "```\n")
	text, _, _ = strings.Cut(text, "```\n")
	line, level := map[string]int{}, 0
	for _, row := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(row), "│") {
			level++
			continue
		}
		row, _, _ = strings.Cut(row, "   ") // what stands behind explains
		for _, name := range strings.Split(row, " · ") {
			if named.MatchString(name) {
				line[name] = level
			}
		}
	}
	if len(line) < 25 || level < 8 {
		t.Fatalf("the picture has %d packages on %d lines", len(line), level)
	}
	return line
}

// unitOf is the package of the picture that a package is, or lies in.
func unitOf(name string, line map[string]int) string {
	for name != "" {
		if _, ok := line[name]; ok {
			return name
		}
		name = name[:max(strings.LastIndexByte(name, '/'), 0)]
	}
	return ""
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) (list []goPackage) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

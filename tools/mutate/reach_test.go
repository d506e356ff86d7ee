package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseProfile(t *testing.T) {
	files := parseProfile("mode: set\nsmall/a.go:3.27,5.2 1 0\nsmall/a.go:5.2,9.10 2 1\nsmall/b.go:1.1,2.2 1 3\nx\nsmall/c.go:1,2 1\n")
	if got := fmt.Sprint(files["small/a.go"], files["small/b.go"], len(files)); got != "[{3 5 false} {5 9 true}] [{1 2 true}] 2" {
		t.Error(got)
	}
}

// A line counts as executed where a block of it is, where it is in no block, and where nothing is known of the tests.
func TestExecutes(t *testing.T) {
	known := &profile{files: parseProfile("small/a.go:3.27,5.2 1 0\nsmall/a.go:5.2,9.10 2 1\n")}
	nothing := &profile{}
	for _, p := range []*profile{known, nothing} {
		p.once.Do(func() {})
	}
	r := &reach{known: map[string]*profile{"small": known, "failing": nothing}}
	for _, test := range []struct {
		tests, file string
		line        int
		want        bool
	}{
		{"small", "small/a.go", 2, true}, {"small", "small/a.go", 3, false}, {"small", "small/a.go", 4, false},
		{"small", "small/a.go", 5, true}, {"small", "small/a.go", 9, true}, {"small", "small/a.go", 10, true},
		{"small", "small/b.go", 4, true}, {"failing", "small/a.go", 4, true},
	} {
		if got := r.executes(t.Context(), test.tests, test.file, test.line); got != test.want {
			t.Errorf("%s, %s:%d: %t", test.tests, test.file, test.line, got)
		}
	}
}

// Importers whose tests do not execute the line are not tried; -only chooses the files, and a budget that is used up
// leaves the importers out.
func TestRandomReach(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	files := map[string]string{
		"inner/inner.go":      "package inner\n\nfunc Is(n int) bool { return n > 7 }\n\nfunc Was(n int) bool { return n > 8 }\n",
		"outer/outer.go":      besides["outer/outer.go"],
		"outer/outer_test.go": besides["outer/outer_test.go"],
	}
	_, out := random(t, files, "-random", "100", "-only", "^inner/", "-limit", "1m")
	if strings.Contains(out, "small.go") || strings.Count(out, "inner/inner.go:3") != 1 ||
		!strings.Contains(out, "killed      inner/inner.go:3") || !strings.Contains(out, "SURVIVED    inner/inner.go:5") {
		t.Errorf("%s", out)
	}
	_, out = random(t, files, "-random", "100", "-only", "^inner/", "-budget", "1ns")
	if strings.Contains(out, "killed  ") || !strings.Contains(out, "SURVIVED    inner/inner.go:3") {
		t.Errorf("within no time the importers are tried:\n%s", out)
	}
}

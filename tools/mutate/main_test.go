package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// module makes a small module: a limit of 10 that a test checks, and a name that no test checks.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	all := map[string]string{
		"go.mod":   "module small\n\ngo 1.26\n",
		"small.go": "package small\n\nfunc Passes(n int) bool { return n <= 10 }\n\nfunc Name() string { return \"small\" }\n\nfunc Count() (n int) {\n\tfor n < 3 {\n\t\tn++\n\t}\n\treturn n\n}\n",
		"small_test.go": "package small\n\nimport \"testing\"\n\nfunc TestPasses(t *testing.T) {\n\tt.Run(\"at the limit\", func(t *testing.T) {\n\t\tif !Passes(10) {\n\t\t\tt.Error(\"fails\")\n\t\t}\n\t})\n}\n\n" +
			"func TestName(t *testing.T) { _ = Name() }\n\nfunc TestCount(t *testing.T) { _ = Count() }\n",
	}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var anything = regexp.MustCompile("")

const (
	bitten  = "# the limit itself fails\n- n <= 10\n+ n < 10\n"
	passed  = "# it has another name\n- \"small\" }\n+ \"large\" }\n"
	hanging = "# it counts for ever\n- n++\n+ n += 0\n"
)

// A mutation is found by a test, or by none, or it cannot be tried.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for _, test := range []struct {
		name, list string
		args       []string
		status     int
		says       []string
		fails      string // what the error says
	}{
		{"found", bitten, nil, 0, []string{"killed    small.go:3  the limit itself fails  (TestPasses/at_the_limit, ",
			"1 mutations: 1 killed, 0 survived, 0 errors of the list"}, ""},
		{"survives", bitten + "\n" + passed, nil, 1,
			[]string{"killed    small.go:3", "SURVIVED  small.go:5  it has another name\n    - \"small\" }\n    + \"large\" }\n",
				"1 killed, 1 survived"}, ""},
		{"hangs", hanging, []string{"-limit", "1s"}, 0, []string{"killed    small.go:9", "TestCount, which hangs"}, ""},
		{"does not compile", "# it is no code\n- n <= 10\n+ n <=\n", nil, 1,
			[]string{"ERROR", "list.txt:3: the mutation does not compile", "0 killed, 0 survived, 1 errors"}, ""},
		{"stands nowhere", "# what is gone\n- n <= 11\n+ n < 11\n", nil, 1,
			[]string{`list.txt:3: the list is out of date: "n <= 11" occurs 0 times in small.go`}, ""},
		{"stands twice", "# what is there twice\n- func \n+ func  \n", nil, 1,
			[]string{"the list is out of date", "occurs 3 times"}, ""},
		{"other tests", "test . -run Name\n\n" + bitten, nil, 1, []string{"SURVIVED  small.go:3"}, ""},
		{"no tests", "test . -run Nobody\n\n" + bitten, nil, 2, nil,
			"list.txt:5: the list is out of date: go test . -run Nobody runs no test"},
		{"chosen", bitten + "\n" + passed, []string{"-run", "limit"}, 0, []string{"1 mutations: 1 killed"}, ""},
		{"listed", bitten + "\n" + passed, []string{"-list"}, 0,
			[]string{"small.go  the limit itself fails\nsmall.go  it has another name\n"}, ""},
		{"none chosen", bitten, []string{"-run", "nothing"}, 2, nil, "no row matches"},
		{"nothing to replace", "# a sentence\n", nil, 2, nil,
			"list.txt:3: a row takes a file, a sentence (#) and the text to replace (-)"},
		{"changes nothing", "# a sentence\n- n\n+ n\n", nil, 2, nil, "list.txt:3: the row changes nothing"},
		{"no list", "what?\n", nil, 2, nil, `list.txt:3: lines begin with //, file, test, #, - or +, not "what?"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := module(t, map[string]string{"list.txt": "file small.go\n\n" + test.list})
			before, err := os.ReadFile(filepath.Join(dir, "small.go"))
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			status, err := run(t.Context(),
				append(append([]string{"-dir", dir}, test.args...), filepath.Join(dir, "list.txt")), &out)
			if status != test.status || (err == nil) != (test.fails == "") ||
				err != nil && !strings.Contains(err.Error(), test.fails) {
				t.Errorf("status %d, %v; want %d, %q\n%s", status, err, test.status, test.fails, out.String())
			}
			for _, s := range test.says {
				if !strings.Contains(out.String(), s) {
					t.Errorf("does not say %q:\n%s", s, out.String())
				}
			}
			if after, err := os.ReadFile(filepath.Join(dir, "small.go")); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the work tree is another one: %v\n%s", err, after)
			}
		})
	}
}

// From tests that fail without a mutation nothing follows.
func TestBroken(t *testing.T) {
	dir := module(t, map[string]string{"list.txt": "file small.go\n\n" + bitten,
		"broken_test.go": "package small\n\nimport \"testing\"\n\nfunc TestBroken(t *testing.T) { t.Fatal(\"anyway\") }\n"})
	if status, err := run(t.Context(), []string{"-dir", dir, filepath.Join(dir, "list.txt")},
		&bytes.Buffer{}); status != 2 || err == nil || !strings.Contains(err.Error(), "TestBroken fails without a mutation") {
		t.Errorf("%d, %v", status, err)
	}
}

// An interrupt ends the tests that run, and the remaining mutations are not tried.
func TestInterrupt(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	dir := module(t, map[string]string{"list.txt": "file small.go\n\n" + hanging + "\n" + bitten})
	ctx, cancel := context.WithCancel(t.Context())
	rows, err := readLists([]string{filepath.Join(dir, "list.txt")}, anything)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(2*time.Second, cancel)
	begun := time.Now()
	status, err := (&trial{dir: dir, scratch: t.TempDir(), limit: time.Hour, atOnce: 1}).all(ctx, rows, &bytes.Buffer{})
	if status != 1 || err == nil || errors.Is(err, context.DeadlineExceeded) ||
		!strings.Contains(err.Error(), "2 of 2 mutations were not tried") {
		t.Errorf("%d, %v", status, err)
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("it took %s to stop", took)
	}
}

// The committed lists fit the code: every text stands once in the place that the list names.
func TestLists(t *testing.T) {
	names, err := filepath.Glob("mutations/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	rows, err := readLists(names, anything)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		code, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(rows[i].file)))
		if err != nil {
			t.Errorf("%s: %v", rows[i].at, err)
			continue
		}
		if _, _, err := rows[i].apply(string(code)); err != nil {
			t.Error(err)
		}
	}
}

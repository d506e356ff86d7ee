package main

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
)

// A row is one mutation: in file, old becomes new, and then a test of the packages has to fail.
type row struct {
	at       string // where the row stands: list and line
	file     string // from the folder of the module, with slashes
	packages []string
	run      string // which tests; all where it is empty
	short    bool   // without those that go test -short leaves out
	what     string // what goes wrong for a user
	old, new string
}

// tests names the tests that have to notice.
func (r *row) tests() string { return strings.Join(r.packages, " ") + " -run " + r.run }

// readLists reads the chosen rows of lists.
func readLists(names []string, chosen *regexp.Regexp) (rows []row, err error) {
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		list, err := parse(name, string(text))
		if err != nil {
			return nil, err
		}
		for i := range list {
			if chosen.MatchString(list[i].file + " " + list[i].what) {
				rows = append(rows, list[i])
			}
		}
	}
	return rows, nil
}

// parse reads a list. Blank lines separate rows:
//
//	// a remark
//	file internal/leaks/gate.go             the file of the rows that follow
//	test ./internal/leaks ./web/api -run X  what tests them, where it is not all tests of the file's package
//
//	# a gate of 10 passes at 10             what goes wrong for a user: one sentence
//	- growth >= limit                       text that occurs once in the file; more lines are joined
//	+ growth > limit                        what it becomes; nothing where there is no such line
func parse(name, text string) (rows []row, err error) {
	var now row // what file and test say, and the row as far as it is read
	finish := func() error {
		r := now
		now.what, now.old, now.new = "", "", ""
		switch {
		case r.old == "" && r.new == "" && r.what == "":
			return nil
		case r.file == "" || r.old == "" || r.what == "":
			return fmt.Errorf("%s: a row takes a file, a sentence (#) and the text to replace (-)", r.at)
		case r.old == r.new:
			return fmt.Errorf("%s: the row changes nothing", r.at)
		}
		rows = append(rows, r)
		return nil
	}
	line := 0
	for s := range strings.Lines(text + "\n\n") {
		line++
		s = strings.TrimRight(s, "\n")
		at := fmt.Sprintf("%s:%d", name, line)
		key, value, _ := strings.Cut(s, " ")
		switch key {
		case "":
			if err := finish(); err != nil {
				return nil, err
			}
		case "//": // for those who read the list
		case "file":
			now = row{file: value, packages: []string{"./" + path.Dir(value)}}
		case "test":
			packages, run, _ := strings.Cut(value, " -run ")
			now.packages, now.run = strings.Fields(packages), run
		case "#":
			now.at, now.what = at, strings.TrimSpace(now.what+" "+value)
		case "-":
			now.old = joined(now.old, value)
		case "+":
			now.new = joined(now.new, value)
		default:
			return nil, fmt.Errorf("%s: lines begin with //, file, test, #, - or +, not %q", at, key)
		}
	}
	return rows, nil
}

func joined(before, line string) string {
	if before == "" {
		return line
	}
	return before + "\n" + line
}

// apply returns the code with the mutation in it, and its line.
func (r *row) apply(code string) (mutated string, line int, err error) {
	if n := strings.Count(code, r.old); n != 1 {
		return "", 0, fmt.Errorf("%s: the list is out of date: %q occurs %d times in %s, not once; make the row fit the code",
			r.at, r.old, n, r.file)
	}
	before, after, _ := strings.Cut(code, r.old)
	return before + r.new + after, 1 + strings.Count(before, "\n"), nil
}

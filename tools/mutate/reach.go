package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A reach knows which lines the tests of a package execute, so that a mutation is tried only by tests that can notice
// it. The tests of each package run once under coverage, when it is first asked; the go command caches them. Code that
// tests run in child processes leaves no coverage.
type reach struct {
	dir, scratch string
	covered      string // the packages that are mutated, for -coverpkg: always the same, so that the build cache has them
	limit        time.Duration
	short        bool

	lock  sync.Mutex
	known map[string]*profile // by the import path of the test package
}

// A profile holds which blocks of code the tests of a package executed.
type profile struct {
	once  sync.Once
	files map[string][]block // by import path and name of the file
}

// A block is a run of statements, from one line to another.
type block struct {
	from, to int
	executed bool
}

// executes reports whether the tests of a package may execute a line. It says so, too, where nothing is known: of
// constants, of queries in files, and of tests that give no profile.
func (r *reach) executes(ctx context.Context, tests, file string, line int) bool {
	r.lock.Lock()
	p := r.known[tests]
	if p == nil {
		p = &profile{}
		r.known[tests] = p
	}
	r.lock.Unlock()
	p.once.Do(func() { p.files = r.run(ctx, tests) })
	if len(p.files) == 0 {
		return true
	}
	inside := false
	for _, b := range p.files[file] {
		if b.from <= line && line <= b.to {
			if b.executed {
				return true
			}
			inside = true
		}
	}
	return !inside
}

// run runs the tests of a package under coverage.
func (r *reach) run(ctx context.Context, tests string) map[string][]block {
	name := filepath.Join(r.scratch, strings.ReplaceAll(tests, "/", "_")+".cover")
	cover := []string{"-coverpkg", r.covered, "-coverprofile", name}
	o, err := goTest(ctx, r.dir, r.limit, &row{packages: []string{tests}, short: r.short}, cover...)
	if err != nil || o.failed != "" || o.unread != "" {
		return nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	return parseProfile(string(text))
}

// parseProfile reads what -coverprofile writes: lines such as "small/inner/inner.go:3.27,5.2 1 0".
func parseProfile(text string) map[string][]block {
	files := map[string][]block{}
	for line := range strings.Lines(text) {
		file, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		fields := strings.Fields(rest)
		if !ok || len(fields) != 3 {
			continue
		}
		begin, end, _ := strings.Cut(fields[0], ",")
		from, err := strconv.Atoi(beforeDot(begin))
		to, err2 := strconv.Atoi(beforeDot(end))
		if err == nil && err2 == nil {
			files[file] = append(files[file], block{from, to, fields[2] != "0"})
		}
	}
	return files
}

func beforeDot(s string) string {
	s, _, _ = strings.Cut(s, ".")
	return s
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRun runs real go test processes: the events' order and wording are Go's, and they change with its releases.
func TestRun(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		files   map[string]string // beside go.mod
		args    []string          // default ./...
		status  int
		want    []string // regular expressions, in this order
		not     []string
		closing string
	}{
		{
			name: "all is well",
			files: map[string]string{
				"a/a_test.go": `package a
					import "testing"
					func TestOne(t *testing.T) { t.Log("nobody reads this") }
					func TestMany(t *testing.T) {
						t.Run("x", func(t *testing.T) {})
						t.Run("y/z", func(t *testing.T) {})
					}`,
				"b/b.go": "package b",
			},
			want:    []string{`(?m)^ok  \tsample/a\t\d`},
			not:     []string{"nobody reads this", "no test files", "skipped:", "failed:"},
			closing: "3 passed, 0 failed, 0 skipped",
		},
		{
			name: "skips say why",
			files: map[string]string{"a/a_test.go": `package a
				import "testing"
				func TestPlain(t *testing.T) { t.Log("first this"); t.Skip("chromium is not installed") }
				func TestLines(t *testing.T) { t.Skip("one\ntwo") }
				func TestSilent(t *testing.T) { t.SkipNow() }
				func TestSub(t *testing.T) {
					t.Run("linux", func(t *testing.T) {})
					t.Run("windows", func(t *testing.T) { t.Skip("needs Windows") })
				}`},
			want: []string{`ok  \tsample/a`, `(?m)^skipped:
  sample/a TestLines: one two
  sample/a TestPlain: chromium is not installed
  sample/a TestSilent: no reason given
  sample/a TestSub/windows: needs Windows
$`},
			closing: "1 passed, 0 failed, 4 skipped",
		},
		{
			name: "failures are counted where they happen",
			files: map[string]string{"a/a_test.go": `package a
				import "testing"
				func TestParent(t *testing.T) {
					t.Run("good", func(t *testing.T) {})
					t.Run("bad", func(t *testing.T) { t.Error("two is not three") })
				}
				func TestItself(t *testing.T) {
					t.Run("good", func(t *testing.T) {})
					t.Error("the parent's own")
				}`},
			status: 1,
			want: []string{
				`--- FAIL: sample/a TestParent/bad \(0\.\d\ds\)\n +a_test.go:5: two is not three`,
				`--- FAIL: sample/a TestItself \(0\.\d\ds\)\n +a_test.go:9: the parent's own`,
				`FAIL\tsample/a`,
				`(?m)^failed:\n  sample/a TestParent/bad\n  sample/a TestItself\n$`,
			},
			not:     []string{`--- FAIL: sample/a TestParent `},
			closing: "2 passed, 2 failed, 0 skipped",
		},
		{
			name: "a panic, a package that does not build, one that exits by itself",
			files: map[string]string{
				"a/a_test.go": `package a
					import "testing"
					func TestPanic(t *testing.T) { panic("boom") }
					func TestNever(t *testing.T) {}`,
				"b/b_test.go": `package b
					import "testing"
					func TestB(t *testing.T) { undefined() }`,
				"c/c_test.go": `package c
					import ("os"; "testing")
					func TestMain(m *testing.M) { println("no database"); os.Exit(3) }`,
				"d/d_test.go": `package d
					import ("os"; "testing")
					func TestExit(t *testing.T) { println("leaving"); os.Exit(0) }`,
			},
			args:   []string{"-p=1", "./..."},
			status: 1,
			want: []string{
				`--- FAIL: sample/a TestPanic`, `panic: boom`, `FAIL\tsample/a`,
				`b_test.go:3:\d+: undefined: undefined`, `FAIL\tsample/b \[build failed\]`,
				`no database`, `FAIL\tsample/c`,
				`--- FAIL: sample/d TestExit`, `leaving`, `FAIL\tsample/d`,
				`(?m)^failed:
  sample/a TestPanic
  sample/b does not build
  sample/c failed outside its tests
  sample/d TestExit
$`,
			},
			closing: "0 passed, 4 failed, 0 skipped",
		},
		{
			name: "a race is shown whole, whichever test it is laid to",
			files: map[string]string{"a/a_test.go": `package a
				import "testing"
				func TestRace(t *testing.T) {
					n, done := 0, make(chan bool)
					go func() { n++; done <- true }()
					n++
					<-done
				}`},
			args:   []string{"-race", "./..."},
			status: 1,
			want: []string{
				`--- RACE: sample/a TestRace\nWARNING: DATA RACE`, `Previous write`, `Goroutine \d+ \(running\) created at`,
				`--- FAIL: sample/a TestRace`, `race detected during execution of test`,
			},
			closing: "0 passed, 1 failed, 0 skipped",
		},
		{
			name:    "no test ran",
			files:   map[string]string{"a/a.go": "package a"},
			status:  1,
			want:    []string{`(?m)^no test ran$`},
			closing: "0 passed, 0 failed, 0 skipped",
		},
		{
			name:    "a module that cannot be loaded",
			files:   map[string]string{"go.mod": "mod ule"},
			status:  1,
			want:    []string{`failed:\n  go test in .*: exit status 1`},
			closing: "0 passed, 1 failed, 0 skipped",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := module(t, tt.files)
			args := []string{dir}
			if tt.args != nil {
				args = append(append(args, "--"), tt.args...)
			}
			var stdout, stderr bytes.Buffer
			if got := run(t.Context(), args, &stdout, &stderr); got != tt.status {
				t.Errorf("exit status %d, want %d", got, tt.status)
			}
			rest := stdout.String()
			for _, want := range tt.want {
				at := regexp.MustCompile(want).FindStringIndex(rest)
				if at == nil {
					t.Fatalf("no match for %q in what follows\n%s\nstderr:\n%s", want, rest, &stderr)
				}
				rest = rest[at[1]:]
			}
			for _, not := range tt.not {
				if strings.Contains(stdout.String(), not) {
					t.Errorf("%q is in the output\n%s", not, &stdout)
				}
			}
			if !strings.HasSuffix(stdout.String(), "\n\n"+tt.closing+"\n") {
				t.Errorf("output does not close with %q alone on its line\n%s", tt.closing, &stdout)
			}
		})
	}
}

// Several modules share one summary, and the second runs although the first fails.
func TestRunModules(t *testing.T) {
	t.Parallel()
	bad := module(t, map[string]string{"a_test.go": `package a
		import "testing"
		func TestA(t *testing.T) { t.Fail() }`})
	good := module(t, map[string]string{"b_test.go": `package b
		import "testing"
		func TestB(t *testing.T) {}`})
	var stdout, stderr bytes.Buffer
	if got := run(t.Context(), []string{bad, good, "--", "./..."}, &stdout, &stderr); got != 1 {
		t.Errorf("exit status %d, want 1", got)
	}
	if !strings.HasSuffix(stdout.String(), "\n1 passed, 1 failed, 0 skipped\n") {
		t.Errorf("output\n%s", &stdout)
	}
}

// A long package begins before those whose names come first.
func TestRunLongFirst(t *testing.T) {
	t.Parallel()
	dir := module(t, map[string]string{
		"a/a_test.go": "package a\nimport \"testing\"\nfunc TestA(t *testing.T) {}",
		"z/z_test.go": "package z\nimport \"testing\"\nfunc TestZ(t *testing.T) {}",
	})
	var stdout, stderr bytes.Buffer
	if got := run(t.Context(), []string{dir + ":./z", "--", "-p=1", "./..."}, &stdout, &stderr); got != 0 {
		t.Errorf("exit status %d; stderr: %s", got, &stderr)
	}
	if !regexp.MustCompile(`(?s)^ok\s+\S+/z\b.*\nok\s+\S+/a\b.*\n2 passed`).MatchString(stdout.String()) {
		t.Errorf("output\n%s", &stdout)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	if got := run(t.Context(), []string{"--", "./..."}, &stdout, &stderr); got != 2 ||
		!strings.HasPrefix(stderr.String(), "usage:") {
		t.Errorf("exit status %d, want 2 and a usage line; stderr: %s", got, &stderr)
	}
}

// A report of the race detector comes in pieces that go test attributes to different tests; lines that are no events
// pass through; a package that ends in the middle of a report still shows what came.
func TestEvents(t *testing.T) {
	t.Parallel()
	const events = `go: warning: something about modules
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestA","Output":"==================\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"WARNING: DATA RACE\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"=== CONT  TestB\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"Write at 0x1\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"==================\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:1: quiet\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p","Test":"TestB","Elapsed":1.5}
{"Action":"output","Package":"p","Output":"WARNING: DATA RACE\n"}
{"Action":"output","Package":"p","Output":"Read at 0x2\n"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t1.600s\n"}
{"Action":"fail","Package":"p","Elapsed":1.6}`
	const want = `go: warning: something about modules
--- RACE: p TestA
WARNING: DATA RACE
Write at 0x1
--- FAIL: p TestB (1.50s)
--- RACE: p 
WARNING: DATA RACE
Read at 0x2
FAIL
FAIL	p	1.600s

failed:
  p TestB

1 passed, 1 failed, 0 skipped
`
	var out bytes.Buffer
	s := &summary{out: &out, packages: map[string]*pkg{}}
	if err := s.read(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	if got := s.close(); got != 1 || out.String() != want {
		t.Errorf("exit status %d, want 1; output\n%s\nwant\n%s", got, &out, want)
	}
}

// module writes a module and returns its folder.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if files["go.mod"] == "" {
		files["go.mod"] = "module sample\n\ngo 1.26\n"
	}
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

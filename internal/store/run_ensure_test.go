package store_test

import (
	"errors"
	"slices"
	"testing"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// ancestors are the commits that are known behind a build.
func (l *lab) ancestors(build string) (commits []string) {
	l.Helper()
	if err := l.conn.QueryRow(l.Context(), `select ancestors from builds where name = $1`, build).Scan(&commits); err != nil {
		l.Fatal(err)
	}
	return commits
}

// What uploads say of a build replaces what was known, and the audit says so; what was missing before is no correction.
func TestUploadsDeclareTheBuild(t *testing.T) {
	l := newLab(t)
	if err := l.AddProject(t.Context(), "demo", 0, ""); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		target leaks.Target
		facts  string
		audit  string // its newest line, where there is a new one
	}{
		{leaks.Target{}, "b1///-/", ""},
		{leaks.Target{Branch: "x", Commit: "aaaaaaa1", Fork: "b0", Sequence: new(int64(4))}, "b1/x/aaaaaaa1/4/b0", ""},
		{leaks.Target{}, "b1/x/aaaaaaa1/4/b0", ""},
		{leaks.Target{Commit: "aaaaaaa"}, "b1/x/aaaaaaa1/4/b0", ""},
		{leaks.Target{Commit: "aaaaaaa12"}, "b1/x/aaaaaaa12/4/b0", ""},
		{leaks.Target{Commit: "bbbbbbb"}, "b1/x/bbbbbbb/4/b0", ` {"build": "b1", "commit": "aaaaaaa12"} -> {"build": "b1", "commit": "bbbbbbb"}`},
		{leaks.Target{Branch: "y", Fork: "b00"}, "b1/y/bbbbbbb/4/b00",
			` {"fork": "b0", "build": "b1", "branch": "x"} -> {"fork": "b00", "build": "b1", "branch": "y"}`},
		{leaks.Target{Sequence: new(int64(5))}, "b1/y/bbbbbbb/5/b00", ` {"build": "b1", "sequence": 4} -> {"build": "b1", "sequence": 5}`},
	} {
		before := len(l.audits("build"))
		target := step.target
		target.Project, target.Build, target.Scenario, target.Run = "demo", "b1", leaks.DefaultScenario, "1"
		if _, err := l.AddEvidence(t.Context(), target, store.Evidence{Name: "a.txt", SHA256: "1", Kind: "umdh"}); err != nil {
			t.Fatal(err)
		}
		audit := ""
		if lines := l.audits("build"); len(lines) > before {
			audit = lines[0]
		}
		if got := l.buildFacts("b1"); got != step.facts || audit != step.audit {
			t.Errorf("%+v: %s and %q, want %s and %q", step.target, got, audit, step.facts, step.audit)
		}
	}
}

// Commits behind a build come with an upload or by themselves; one upload that names none keeps them.
func TestAncestors(t *testing.T) {
	l := newLab(t)
	upload := func(commits ...string) {
		t.Helper()
		target := leaks.Target{Project: "demo", Build: "b1", Scenario: "s", Run: "1", Ancestors: commits}
		if _, err := l.AddEvidence(t.Context(), target, store.Evidence{Name: "a.txt", SHA256: "1", Kind: "umdh"}); err != nil {
			t.Fatal(err)
		}
	}
	want := func(commits ...string) {
		t.Helper()
		if got := l.ancestors("b1"); !slices.Equal(got, commits) || len(commits) != must[*store.BuildDetail](t)(
			l.now().Build(t.Context(), "demo", "b1")).Ancestors {
			t.Errorf("%q, want %q", got, commits)
		}
	}
	upload()
	want()
	upload("c2", "c1")
	want("c2", "c1")
	upload()
	want("c2", "c1")
	upload("c3", "c2", "c1")
	want("c3", "c2", "c1")
	for range 2 {
		if err := l.SetAncestors(t.Context(), "demo", "b1", []string{"c9"}); err != nil {
			t.Fatal(err)
		}
	}
	want("c9")
	if got := l.audits("build"); len(got) != 1 || got[0] != ` {"build": "b1", "ancestors": 3} -> {"build": "b1", "ancestors": 1}` {
		t.Errorf("%q", got)
	}
	if err := l.SetAncestors(t.Context(), "demo", "b1", nil); err != nil {
		t.Fatal(err)
	}
	want()
	if err := l.SetAncestors(t.Context(), "demo", "none", nil); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

// An upload that puts a build with a result on another line has the states follow anew.
func TestUploadsMoveTheLine(t *testing.T) {
	l := newLab(t)
	l.upload(upload{build: "b1", class: leak})
	for _, test := range []struct {
		target leaks.Target
		anew   bool
	}{
		{leaks.Target{Branch: "x"}, true}, {leaks.Target{Branch: "x"}, false}, {leaks.Target{Fork: "b0"}, true},
		{leaks.Target{Ancestors: []string{"c1"}}, true}, {leaks.Target{Ancestors: []string{"c1"}}, false},
		{leaks.Target{Commit: "c2"}, false},
	} {
		l.sql(`update signatures set state = 'fixed' where text = 'A'`)
		target := test.target
		target.Project, target.Build = "demo", "b1"
		addEvidence(t, l.Store, target, "a.txt")
		if got := l.signature("A").State; (got == leaks.StateNew) != test.anew {
			t.Errorf("%+v: %s", test.target, got)
		}
	}
}

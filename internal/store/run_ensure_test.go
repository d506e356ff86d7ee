package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
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
	if err := l.CreateProject(t.Context(), "demo", 0, ""); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		target leaks.UploadTarget
		facts  string
		audit  string // its newest line, where there is a new one
	}{
		{leaks.UploadTarget{}, "b1///-/", ""},
		{leaks.UploadTarget{Branch: "x", Commit: "aaaaaaa1", Fork: "b0", Sequence: new(int64(4))}, "b1/x/aaaaaaa1/4/b0", ""},
		{leaks.UploadTarget{}, "b1/x/aaaaaaa1/4/b0", ""},
		{leaks.UploadTarget{Commit: "aaaaaaa"}, "b1/x/aaaaaaa1/4/b0", ""},
		{leaks.UploadTarget{Commit: "aaaaaaa12"}, "b1/x/aaaaaaa12/4/b0", ""},
		{leaks.UploadTarget{Commit: "bbbbbbb"}, "b1/x/bbbbbbb/4/b0", ` {"build": "b1", "commit": "aaaaaaa12"} -> {"build": "b1", "commit": "bbbbbbb"}`},
		{leaks.UploadTarget{Branch: "y", Fork: "b00"}, "b1/y/bbbbbbb/4/b00",
			` {"fork": "b0", "build": "b1", "branch": "x"} -> {"fork": "b00", "build": "b1", "branch": "y"}`},
		{leaks.UploadTarget{Sequence: new(int64(5))}, "b1/y/bbbbbbb/5/b00", ` {"build": "b1", "sequence": 4} -> {"build": "b1", "sequence": 5}`},
	} {
		before := len(l.audits("upload"))
		target := step.target
		target.Project, target.Build, target.Scenario, target.Run = "demo", "b1", leaks.DefaultScenario, "1"
		if _, err := l.CreateEvidence(t.Context(), target, store.Evidence{Name: "a.txt", SHA256: "1", Kind: "umdh"}); err != nil {
			t.Fatal(err)
		}
		audit := ""
		if lines := l.audits("upload"); len(lines) > before {
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
		target := leaks.UploadTarget{Project: "demo", Build: "b1", Scenario: "s", Run: "1", Ancestors: commits}
		if _, err := l.CreateEvidence(t.Context(), target, store.Evidence{Name: "a.txt", SHA256: "1", Kind: "umdh"}); err != nil {
			t.Fatal(err)
		}
	}
	want := func(commits ...string) {
		t.Helper()
		if got := l.ancestors("b1"); !slices.Equal(got, commits) || len(commits) != must[*store.BuildDetail](t)(
			l.now().FindBuild(t.Context(), "demo", "b1")).Ancestors {
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
	other := leaks.UploadTarget{Project: "demo", Build: "b1", Scenario: "s", Run: "1", Branch: "x"}
	if _, err := l.CreateEvidence(t.Context(), other, store.Evidence{Name: "a.txt", SHA256: "1",
		Kind: "umdh"}); err != nil {
		t.Fatal(err)
	}
	want("c3", "c2", "c1")
	for range 2 {
		if err := l.UpdateAncestors(t.Context(), "demo", "b1", []string{"c9"}); err != nil {
			t.Fatal(err)
		}
	}
	want("c9")
	if got := l.audits("upload"); len(got) != 1 || got[0] != ` {"build": "b1", "ancestors": 3} -> {"build": "b1", "ancestors": 1}` {
		t.Errorf("%q", got)
	}
	if err := l.UpdateAncestors(t.Context(), "demo", "b1", nil); err != nil {
		t.Fatal(err)
	}
	want()
	if err := l.UpdateAncestors(t.Context(), "demo", "none", nil); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

// An upload that puts a build with a result on another line has the states follow anew.
func TestUploadsMoveTheLine(t *testing.T) {
	l := newLab(t)
	l.upload(upload{build: "b1", class: leak})
	for _, test := range []struct {
		target leaks.UploadTarget
		anew   bool
	}{
		{leaks.UploadTarget{Branch: "x"}, true}, {leaks.UploadTarget{Branch: "x"}, false}, {leaks.UploadTarget{Fork: "b0"}, true},
		{leaks.UploadTarget{Ancestors: []string{"c1"}}, true}, {leaks.UploadTarget{Ancestors: []string{"c1"}}, false},
		{leaks.UploadTarget{Commit: "c2"}, false},
	} {
		l.sql(`update signatures set state = 'fixed' where text = 'A'`)
		target := test.target
		target.Project, target.Build = "demo", "b1"
		addEvidence(t, l.Store, target, "a.txt")
		if got := l.signature("A").State; (got == leaks.StateFound) != test.anew {
			t.Errorf("%+v: %s", test.target, got)
		}
	}
}

// The warnings of a run are those of its build; a commit that an upload to another run replaced is not repeated.
func TestRunWarnings(t *testing.T) {
	l := newLab(t)
	n := 0
	codes := func(target leaks.UploadTarget) string {
		t.Helper()
		target.Project, target.Scenario = "demo", "s"
		n++
		e := must[store.Evidence](t)(l.CreateEvidence(t.Context(), target, store.Evidence{Name: "a.txt", SHA256: fmt.Sprint(n), Kind: "umdh"}))
		list := ""
		for _, w := range must[[]leaks.BuildWarning](t)(l.now().ListRunWarnings(t.Context(), e.RunID)) {
			list += w.Code + ": " + w.Message + "\n"
		}
		return list
	}
	for _, step := range []struct {
		target leaks.UploadTarget
		says   []string
	}{
		{leaks.UploadTarget{Build: "b1", Run: "1", Commit: "aaaaaaa", Branch: "x"}, nil},
		{leaks.UploadTarget{Build: "b1", Run: "1", Commit: "bbbbbbb"}, []string{"commit-replaced: Build b1 was uploaded with commit aaaaaaa before; commit bbbbbbb"}},
		{leaks.UploadTarget{Build: "b1", Run: "1"}, []string{"commit-replaced: "}},
		{leaks.UploadTarget{Build: "b1", Run: "2", Commit: "bbbbbbb"}, nil},
		{leaks.UploadTarget{Build: "b1", Run: "3", Commit: "ccccccc"}, []string{"commit-replaced: Build b1 was uploaded with commit bbbbbbb"}},
		{leaks.UploadTarget{Build: "b2", Run: "1", Sequence: new(int64(14))}, []string{"no-branch: Build b2"}},
		{leaks.UploadTarget{Build: "14", Run: "1"}, []string{"same-sequence: Build b2 has sequence 14 too", "no-branch: Build 14"}},
		{leaks.UploadTarget{Build: "14", Run: "1", Sequence: new(int64(15)), Branch: "x"}, nil},
	} {
		got := strings.Split(strings.TrimSuffix(codes(step.target), "\n"), "\n")
		if got[0] == "" {
			got = nil
		}
		if !slices.EqualFunc(got, step.says, strings.HasPrefix) {
			t.Errorf("%+v: %q, want %q", step.target, got, step.says)
		}
	}
	if err := l.UpdateBuild(t.Context(), "demo", "b1", leaks.BuildChange{Commit: new("ddddddd")}, "ann"); err != nil {
		t.Fatal(err)
	}
	if got := codes(leaks.UploadTarget{Build: "b1", Run: "3"}); got != "" {
		t.Errorf("a correction by a person is a warning: %s", got)
	}
	if _, err := l.now().ListRunWarnings(t.Context(), 1<<40); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

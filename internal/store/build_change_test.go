package store_test

import (
	"errors"
	"fmt"
	"testing"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// audits prints the newest n lines of the project's audit of an action, newest first.
func (l *lab) audits(action string) (lines []string) {
	l.Helper()
	for _, r := range must[[]store.AuditRow](l)(l.now().ListProjectChanges(l.Context(), "demo",
		store.AuditPage{Limit: 100})) {
		if r.Action == action {
			lines = append(lines, fmt.Sprintf("%s %s -> %s", r.Actor, r.Before, r.After))
		}
	}
	return lines
}

// buildFacts prints what is known of a build.
func (l *lab) buildFacts(build string) string {
	l.Helper()
	b := must[*store.BuildDetail](l)(l.now().FindBuild(l.Context(), "demo", build))
	sequence := "-"
	if b.Sequence != nil {
		sequence = fmt.Sprint(*b.Sequence)
	}
	return fmt.Sprintf("%s/%s/%s/%s/%s", b.Name, b.Branch, b.Commit, sequence, b.Fork)
}

// A correction of a build is stored and audited; another sequence moves it, and the states of leaks with it.
func TestChangeBuild(t *testing.T) {
	l := newLab(t)
	for _, u := range []upload{{build: "b1", class: stable}, {build: "b2", class: leak}, {build: "b3", class: stable}} {
		l.upload(u)
	}
	if got := l.told(); got != "b1 b2 b3\nfixed bad b2..b2 clean b1 seen b3 fixed b3 regressed \n-\nb1\nb2" {
		t.Fatal(got)
	}
	change := func(build string, c leaks.BuildChange) error {
		return l.UpdateBuild(t.Context(), "demo", build, c, "ann")
	}
	if err := change("b2", leaks.BuildChange{Commit: new("c2"), Branch: new("main"), Fork: new("b1")}); err != nil {
		t.Fatal(err)
	}
	if got := l.buildFacts("b2"); got != "b2/main/c2/-/b1" {
		t.Error(got)
	}
	const first = `ann {"fork": "", "build": "b2", "branch": "", "commit": ""} -> {"fork": "b1", "build": "b2", "branch": "main", "commit": "c2"}`
	if got := l.audits("build"); len(got) != 1 || got[0] != first {
		t.Errorf("%q", got)
	}
	if err := change("b2", leaks.BuildChange{Branch: new("main")}); err != nil || len(l.audits("build")) != 1 {
		t.Errorf("what changes nothing is noted: %v, %q", err, l.audits("build"))
	}
	// With a sequence the leaking build is the newest: the leak is fixed no more.
	if err := change("b2", leaks.BuildChange{Sequence: new(int64(7))}); err != nil {
		t.Fatal(err)
	}
	if got := l.told(); got != "b1 b3 b2\nnew bad b2..b2 clean b3 seen b2 fixed  regressed \n-\nb1\nb3" {
		t.Error(got)
	}
	if got := l.audits("build")[0]; got != `ann {"build": "b2", "sequence": null} -> {"build": "b2", "sequence": 7}` {
		t.Error(got)
	}
	var wrong *leaks.FieldError
	if err := change("b2", leaks.BuildChange{Name: new("b3")}); !errors.As(err, &wrong) || wrong.Field != "name" {
		t.Error(err)
	}
	if err := change("b9", leaks.BuildChange{Name: new("b10")}); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if err := l.UpdateBuild(t.Context(), "none", "b1", leaks.BuildChange{Name: new("b10")}, ""); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if err := change("b1", leaks.BuildChange{}); !errors.As(err, &wrong) || wrong.Field != "body" {
		t.Error(err)
	}
}

// What names a build goes with its new name; a name that is a number is a sequence, where none is declared.
func TestRenameBuild(t *testing.T) {
	l := newLab(t)
	for _, build := range []string{"b1", "b2", "b3", "b4"} {
		l.upload(upload{build: build, class: leak})
	}
	l.run("b1/other", leaksReport(finding{signature: "B", class: leak}))
	l.change("A", leaks.TriageChange{Known: &leaks.Toleration{Reason: "vendor", UntilBuild: "b3"}, Version: -1})
	l.change("B", leaks.TriageChange{Known: &leaks.Toleration{Reason: "vendor", UntilBuild: "b2"}, Version: -1})
	for build, fork := range map[string]string{"b2": "b3", "b4": "b1"} {
		if err := l.UpdateBuild(t.Context(), "demo", build, leaks.BuildChange{Fork: &fork}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.UpdateBuild(t.Context(), "demo", "b3", leaks.BuildChange{Name: new("12")}, ""); err != nil {
		t.Fatal(err)
	}
	a := l.signature("A")
	if a.Known == nil || a.Known.UntilBuild != "12" {
		t.Errorf("%+v", a.Known)
	}
	if got := l.buildFacts("12"); got != "12///12/" {
		t.Error(got)
	}
	if _, err := l.now().FindBuild(t.Context(), "demo", "b3"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if got := l.buildFacts("b2"); got != "b2///-/12" {
		t.Error(got)
	}
	if b, fork := l.signature("B"), l.buildFacts("b4"); b.Known == nil || b.Known.UntilBuild != "b2" || fork != "b4///-/b1" {
		t.Errorf("what names another build: %+v, %s", b.Known, fork)
	}
}

// The states of all leaks follow anew after a change of a branch, a fork, a name or the default branch, and after no
// other.
func TestStatesFollowTheBranch(t *testing.T) {
	l := newLab(t)
	l.upload(upload{build: "b1", class: leak})
	for _, test := range []struct {
		what   string
		change func() error
		anew   bool
	}{
		{"commit", func() error { return l.UpdateBuild(t.Context(), "demo", "b1", leaks.BuildChange{Commit: new("c")}, "") }, false},
		{"branch", func() error { return l.UpdateBuild(t.Context(), "demo", "b1", leaks.BuildChange{Branch: new("x")}, "") }, true},
		{"fork", func() error { return l.UpdateBuild(t.Context(), "demo", "b1", leaks.BuildChange{Fork: new("b0")}, "") }, true},
		{"name", func() error { return l.UpdateBuild(t.Context(), "demo", "b1", leaks.BuildChange{Name: new("b2")}, "") }, true},
		{"default branch", func() error {
			return l.UpdateProject(t.Context(), "demo", leaks.ProjectChange{DefaultBranch: new("main")}, "ann")
		}, true},
		{"the same default branch", func() error {
			return l.UpdateProject(t.Context(), "demo", leaks.ProjectChange{DefaultBranch: new("main")}, "ann")
		}, false},
	} {
		l.sql(`update signatures set state = 'fixed' where text = 'A'`)
		if err := test.change(); err != nil {
			t.Errorf("%s: %v", test.what, err)
		}
		if got := l.signature("A").State; (got == leaks.StateFound) != test.anew {
			t.Errorf("after a change of the %s the state is %s", test.what, got)
		}
	}
	if got := l.audits("default-branch"); len(got) != 1 || got[0] != `ann {"default_branch": ""} -> {"default_branch": "main"}` {
		t.Errorf("%q", got)
	}
}

// A project is renamed and told its default branch at once, or neither.
func TestChangeProject(t *testing.T) {
	l := newLab(t)
	for _, name := range []string{"demo", "other"} {
		if err := l.CreateProject(t.Context(), name, 0, ""); err != nil {
			t.Fatal(err)
		}
	}
	both := func(name string) error {
		return l.UpdateProject(t.Context(), "demo", leaks.ProjectChange{Name: &name, DefaultBranch: new("main")}, "ann")
	}
	var wrong *leaks.FieldError
	if err := both("other"); !errors.As(err, &wrong) {
		t.Error(err)
	}
	p := must[store.ProjectSettings](t)(l.now().FindProjectSettings(t.Context(), "demo"))
	if p.DefaultBranch != "" {
		t.Errorf("%+v", p)
	}
	if err := both("shop"); err != nil {
		t.Fatal(err)
	}
	if p := must[store.ProjectSettings](t)(l.now().FindProjectSettings(t.Context(), "shop")); p.DefaultBranch != "main" || p.Name != "shop" {
		t.Errorf("%+v", p)
	}
	if err := both("again"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

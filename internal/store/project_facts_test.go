package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// Comments of a leak are those of its signature and of what became part of it, oldest first; of others there are none.
func TestComments(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	l.run("1", leaksReport(finding{signature: "A", class: leak}, finding{signature: "B", class: leak}, finding{signature: "C", class: leak}))
	write := func(signature, text string) {
		t.Helper()
		must[store.Comment](t)(l.CreateComment(ctx, "demo", signature, "ann", text))
	}
	write("A", " first ")
	write("B", "second")
	write("C", "other")
	read := func(signature string) (text string) {
		t.Helper()
		for _, c := range must[[]store.Comment](t)(l.now().ListComments(ctx, "demo", signature)) {
			text += fmt.Sprintf("%s %s: %s; ", c.Signature, c.Actor, c.Text)
		}
		return text
	}
	if got := read("A"); got != "A ann: first; " {
		t.Error(got)
	}
	if err := l.MergeSignature(ctx, "demo", "B", "A", "ann"); err != nil {
		t.Fatal(err)
	}
	write("B", "third")
	if got := read("A"); got != "A ann: first; B ann: second; A ann: third; " {
		t.Error(got)
	}
	for _, wrong := range [][2]string{{"A", " "}, {"A", strings.Repeat("x", leaks.MaxCommentChars+1)}} {
		if _, err := l.CreateComment(ctx, "demo", wrong[0], "ann", wrong[1]); complaintOf(err) != "text" {
			t.Errorf("%.10q: %v", wrong[1], err)
		}
	}
	if _, err := l.CreateComment(ctx, "demo", "none", "ann", "x"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a comment on nothing: %v", err)
	}
}

// One change of several leaks is made of all of them or of none.
func TestChangeTriages(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(finding{signature: "A", class: leak}, finding{signature: "B", class: leak}, finding{signature: "C", class: leak}))
	assignees := func() string {
		return l.text(`select string_agg(text || coalesce('=' || nullif(assignee, ''), ''), ' ' order by text) from signatures`)
	}
	assign := func(name string, picks ...store.PickedSignature) error {
		return l.UpdateTriages(t.Context(), "demo", picks, leaks.TriageChange{Actor: "ann", Assignee: &name})
	}
	if err := assign("bob", store.PickedSignature{Signature: "A", Version: -1}, store.PickedSignature{Signature: "B", Version: -1}); err != nil {
		t.Fatal(err)
	}
	if got := assignees(); got != "A=bob B=bob C" {
		t.Error(got)
	}
	version := must[leaks.Triage](t)(l.UpdateTriage(t.Context(), "demo", "A", leaks.TriageChange{Actor: "ann", Assignee: new("eve"), Version: -1})).Version
	for what, picks := range map[string][]store.PickedSignature{
		"an old version": {{Signature: "C", Version: -1}, {Signature: "A", Version: version - 1}},
		"an unknown one": {{Signature: "C", Version: -1}, {Signature: "D", Version: -1}},
	} {
		if err := assign("dan", picks...); err == nil {
			t.Errorf("%s is changed", what)
		}
		if got := assignees(); got != "A=eve B=bob C" {
			t.Errorf("%s: %s", what, got)
		}
	}
	if err := assign("dan", store.PickedSignature{Signature: "C", Version: -1}, store.PickedSignature{Signature: "A", Version: version}); err != nil {
		t.Error(err)
	}
	if got := assignees(); got != "A=dan B=bob C=dan" {
		t.Error(got)
	}
}

// The audit of a project has the downloads of its runs; source links and commits are the project's own.
func TestProjectsOwnFacts(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	of := func(project, build, run, commit, branch string) store.Evidence {
		t.Helper()
		return must[store.Evidence](t)(l.CreateEvidence(ctx, leaks.UploadTarget{Project: project, Build: build, Scenario: "s", Run: run,
			Commit: commit, Branch: branch}, store.Evidence{Name: "a.txt", SHA256: project + build, Bytes: 1, Kind: "umdh"}))
	}
	one := of("one", "1", "1", "c0ffee1", "main")
	of("one", "2", "1", "c0ffee2", "")
	of("one", "3", "1", "", "main")
	of("two", "1", "1", "c0ffee9", "main")
	if err := l.CreateDownloadAudit(ctx, one.RunID, "ann", map[string]any{"file": "a.txt"}); err != nil {
		t.Fatal(err)
	}
	for project, want := range map[string]int{"one": 1, "two": 0} {
		n := 0
		for _, r := range must[[]store.AuditRow](t)(l.now().ListProjectChanges(ctx, project, store.AuditPage{Limit: 10})) {
			if r.Action == "download" {
				n++
				if string(r.After) != fmt.Sprintf(`{"run": %d, "file": "a.txt"}`, one.RunID) || r.Actor != "ann" {
					t.Errorf("%+v", r)
				}
			}
		}
		if n != want {
			t.Errorf("%d downloads of %s", n, project)
		}
	}
	if err := l.CreateDownloadAudit(ctx, 999, "ann", nil); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a download of nothing: %v", err)
	}
	links, err := leaks.ParseSourceLinks("c:\\src https://h/{path}", "https://h/{base}..{head}")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := l.UpdateSourceLinks(ctx, "one", links, "ann"); err != nil {
			t.Fatal(err)
		}
	}
	if got := must[leaks.SourceLinks](t)(l.now().FindSourceLinks(ctx, "one")); got.FilesText() != links.FilesText() || got.CommitTemplate() != links.CommitTemplate() {
		t.Errorf("%+v", got)
	}
	if got := must[leaks.SourceLinks](t)(l.now().FindSourceLinks(ctx, "two")); got.FilesText() != "" || got.CommitTemplate() != "" {
		t.Errorf("%+v", got)
	}
	if n := l.text(`select count(*)::text from project_audit where action = 'source links'`); n != "1" {
		t.Errorf("%s changes of the links are recorded", n)
	}
	if got := fmt.Sprint(must[map[string]string](t)(l.now().ListCommits(ctx, "one", "1", "3", "9"))); got != "map[1:c0ffee1]" {
		t.Errorf("commits %s", got)
	}
	lack := func(project string) string { return must[string](t)(l.now().FindMissingBranches(ctx, project)) }
	if lack("one") == "" || lack("two") != "" {
		t.Errorf("builds without a branch: %q, %q", lack("one"), lack("two"))
	}
}

// Owners are those of leaks of the project, by rule or by assignment, once each.
func TestOwners(t *testing.T) {
	l := newLab(t)
	l.run("1", leaksReport(finding{signature: "A", class: leak}, finding{signature: "B", class: leak}, finding{signature: "C", class: stable},
		finding{signature: "D", class: leak}))
	l.sql(`update signatures set owner = 'team_' || lower(text), assignee = case text when 'A' then 'ann' when 'B' then 'team_a' else '' end`)
	l.sql(`update signatures set alias_of = (select id from signatures where text = 'A') where text = 'D'`)
	if err := l.CreateProject(t.Context(), "other", 0, ""); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(must[[]string](t)(l.now().ListOwners(t.Context(), "demo"))); got != "[ann team_a team_b]" {
		t.Error(got)
	}
	if got := must[[]string](t)(l.now().ListOwners(t.Context(), "other")); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// A build gets the symbol files that the team store has, by name and key in any case, and runs of it whose evidence has
// no ids for such modules are named anew; builds and runs of others are not.
func TestBindSymbols(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	m := capture.Module{Path: `C:\app.exe`, Base: 1<<64 - 1<<40, Size: 1 << 39, Symbols: capture.SymbolsNone}
	same := func(*analysis.Module) {}
	to := func(build string) leaks.UploadTarget {
		return leaks.UploadTarget{Project: "demo", Build: build, Scenario: "s", Run: "1"}
	}
	one := withModule(t, l.Store, to("1"), m, 64, same)
	known := m
	known.PDB, known.DebugID = "app.pdb", debugID
	two := withModule(t, l.Store, to("2"), known, 64, same)
	three := withModule(t, l.Store, to("3"), m, 64, same)
	addFile(t, l.Store, appPDB(func(f *store.SymbolFile) { f.Key, f.DebugID = strings.Repeat("A", 33), strings.Repeat("A", 33) }))
	l.sql(`delete from jobs where state = 'queued'`)
	keys := []store.SymbolKey{{Name: "APP.PDB", Key: strings.Repeat("a", 33)}, {Name: "app.pdb", Key: strings.Repeat("b", 33)},
		{Name: "other.pdb", Key: strings.Repeat("A", 33)}}
	queued := func() string {
		return l.text(`select coalesce(string_agg(run_id || ' ' || kind, ', ' order by run_id), '') from jobs where state = 'queued'`)
	}
	bound := must[store.BoundSymbols](t)(l.UpdateBuildSymbols(ctx, "demo", "1", keys))
	if fmt.Sprint(bound.Missing) != fmt.Sprint(keys[1:]) || bound.Runs != 1 || queued() != fmt.Sprint(one, " symbolise") {
		t.Errorf("%+v, queued %s", bound, queued())
	}
	l.sql(`delete from jobs where state = 'queued'`)
	if again := must[store.BoundSymbols](t)(l.UpdateBuildSymbols(ctx, "demo", "1", keys)); again.Runs != 0 || queued() != "" {
		t.Errorf("bound again: %+v, queued %s", again, queued())
	}
	if bound := must[store.BoundSymbols](t)(l.UpdateBuildSymbols(ctx, "demo", "2", keys[:1])); bound.Runs != 0 || queued() != "" {
		t.Errorf("a run whose evidence has the id: %+v, queued %s", bound, queued())
	}
	for run, want := range map[int64]string{one: "1", two: "2", three: ""} {
		names := must[map[int64]string](t)(l.now().ListBuildSymbols(ctx, run, []string{"App.pdb"}))
		got := ""
		for _, build := range names {
			got += build
		}
		if got != want {
			t.Errorf("files of the build of run %d: %v, want %q", run, names, want)
		}
	}
	if names := must[map[int64]string](t)(l.now().ListBuildSymbols(ctx, one, []string{"else.pdb"})); len(names) > 0 {
		t.Errorf("files of another name: %v", names)
	}
	for _, names := range [][2]string{{"other", "1"}, {"demo", "9"}} {
		if _, err := l.UpdateBuildSymbols(ctx, names[0], names[1], keys); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%v: %v", names, err)
		}
	}
}

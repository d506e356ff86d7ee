package store_test

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/internal/accounts"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/uploadstore"
)

// A search finds names of each kind, in any case, in the projects that the actor may read, the newest first.
func TestSearch(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	l.run("b1/soak", leaksReport(finding{signature: "A", class: leak, bytes: 7}, finding{signature: "B", class: stable}))
	l.run("b2/soak", leaksReport(finding{signature: "A", class: leak, bytes: 9}, finding{signature: "C", class: leak}))
	l.sql(`update signatures set title = 'app!Cache::' || text, blame = jsonb_build_object('module', 'App.dll', 'file', 'c:/src/' || text || '.cpp')`)
	l.sql(`update signatures set owner = 'Team_A', assignee = 'ann' where text = 'A'`)
	l.sql(`update runs set process = 'cached.exe' where id = $1`, l.runs["b2/soak"])
	other := must[store.Evidence](t)(l.CreateEvidence(ctx, leaks.UploadTarget{Project: "Cache other", Build: "b9 cache", Scenario: "cache idle",
		Run: "1"}, store.Evidence{Name: "Cache.txt", SHA256: "x", Bytes: 1, Kind: "umdh"}))
	everything := &accounts.Actor{Open: true}
	search := func(a *accounts.Actor, q store.SearchQuery) string {
		t.Helper()
		if q.Limit == 0 {
			q.Limit = 10
		}
		hits := must[*store.SearchHits](t)(l.now().Search(ctx, a, q))
		var list []string
		for _, h := range hits.Leaks {
			list = append(list, "leak "+h.Signature+" "+h.LastBad)
		}
		for _, h := range hits.Runs {
			list = append(list, "run "+h.Build+"/"+h.Scenario)
		}
		for _, h := range hits.Builds {
			list = append(list, "build "+h.Build)
		}
		for _, h := range hits.Modules {
			list = append(list, fmt.Sprint("module ", h.Module, " ", h.Leaks))
		}
		for _, h := range hits.Files {
			list = append(list, "file "+h.Name)
		}
		for _, name := range hits.Projects {
			list = append(list, "project "+name)
		}
		return strings.Join(list, ", ")
	}
	demo := must[int64](t)(l.now().FindProjectID(ctx, "demo"))
	viewer := &accounts.Actor{UserID: 1, RoleByProject: map[int64]accounts.Role{demo: accounts.Viewer}}
	for _, test := range []struct {
		actor *accounts.Actor
		q     store.SearchQuery
		want  string
	}{
		{everything, store.SearchQuery{Text: "CACHE"},
			"leak A b2, leak C b2, run b9 cache/cache idle, run b2/soak, build b9 cache, file Cache.txt, project Cache other"},
		{viewer, store.SearchQuery{Text: "cache"}, "leak A b2, leak C b2, run b2/soak"},
		{&accounts.Actor{UserID: 2}, store.SearchQuery{Text: "cache"}, ""},
		{everything, store.SearchQuery{Text: "app"}, "leak A b2, leak C b2, module App.dll 2"},
		{everything, store.SearchQuery{Text: "a.cpp"}, "leak A b2"},
		{everything, store.SearchQuery{Text: "C"}, "leak A b2, leak C b2, run b9 cache/cache idle, run b2/soak, build b9 cache, file Cache.txt, project Cache other"},
		{everything, store.SearchQuery{Text: "a.txt"}, "file a.txt, file a.txt"},
		{everything, store.SearchQuery{Text: "demo"}, "project demo"},
		{everything, store.SearchQuery{Text: "soak"}, "run b2/soak, run b1/soak"},
		{everything, store.SearchQuery{Text: fmt.Sprint(other.RunID)}, "run b9 cache/cache idle"},
		{everything, store.SearchQuery{Text: "cache", Owner: "TEAM_a"}, "leak A b2"},
		{everything, store.SearchQuery{Text: "cache", Owner: "Ann"}, "leak A b2"},
		{everything, store.SearchQuery{Text: "cache", Owner: "bob"}, ""},
		{everything, store.SearchQuery{Text: "cache", File: "C.CPP"}, "leak C b2"},
		{everything, store.SearchQuery{Text: "cache", Build: "B1"}, "leak A b2"},
		{everything, store.SearchQuery{Text: "soak", Build: "B1"}, "run b1/soak"},
		{everything, store.SearchQuery{Text: "b", Build: "B2"}, "build b2"},
		{everything, store.SearchQuery{Text: "app", Build: "B1"}, "leak A b2"},
		{everything, store.SearchQuery{Text: "cache", Limit: 1},
			"leak A b2, run b9 cache/cache idle, build b9 cache, file Cache.txt, project Cache other"},
		{everything, store.SearchQuery{Text: "100%_"}, ""},
	} {
		if got := search(test.actor, test.q); got != test.want {
			t.Errorf("%+v finds\n%s, want\n%s", test.q, got, test.want)
		}
	}
	l.sql(`update signatures set alias_of = (select id from signatures where text = 'C') where text = 'A'`)
	if got := search(everything, store.SearchQuery{Text: "app"}); got != "leak C b2, module App.dll 1" {
		t.Errorf("with A a part of C: %s", got)
	}
}

// Projects list what the actor may see, with their builds and runs.
func TestProjects(t *testing.T) {
	l := newLab(t)
	for _, place := range [][3]string{{"two", "1", "1"}, {"two", "1", "2"}, {"two", "2", "1"}, {"one", "1", "1"}} {
		addEvidence(t, l.Store, leaks.UploadTarget{Project: place[0], Build: place[1], Scenario: "s", Run: place[2]}, "a.txt")
	}
	two := must[int64](t)(l.now().FindProjectID(t.Context(), "two"))
	list := func(a *accounts.Actor) (text string) {
		t.Helper()
		for _, p := range must[[]store.Project](t)(l.now().ListProjects(t.Context(), a)) {
			text += fmt.Sprintf("%s %d %d %t; ", p.Name, p.Builds, p.Runs, p.LastAt != nil)
		}
		return text
	}
	if got := list(&accounts.Actor{Open: true}); got != "one 1 1 true; two 2 3 true; " {
		t.Error(got)
	}
	if got := list(&accounts.Actor{UserID: 1, RoleByProject: map[int64]accounts.Role{two: accounts.Viewer}}); got != "two 2 3 true; " {
		t.Error(got)
	}
}

// A project that gets another name takes uploads under way with it, and only its own.
func TestRenameProject(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	for _, name := range []string{"one", "two"} {
		if err := l.CreateProject(ctx, name, 0, ""); err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{"open", "done"} {
			if err := uploadstore.CreateUpload(ctx, l.Store, uploadstore.Upload{ID: name + kind, Length: 1,
				Target: []byte(`{"project":"` + name + `"}`)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	l.sql(`update uploads set result = '{}' where id like '%done'`)
	if err := l.UpdateProjectName(ctx, "one", "uno", "ann"); err != nil {
		t.Fatal(err)
	}
	if got := l.text(`select string_agg(id || ' ' || (target->>'project'), ', ' order by id) from uploads`); got !=
		"onedone one, oneopen uno, twodone two, twoopen two" {
		t.Error(got)
	}
	if got := l.text(`select string_agg(name, ' ' order by name) from projects`); got != "two uno" {
		t.Error(got)
	}
	if err := l.UpdateProjectName(ctx, "uno", "two", "ann"); complaintOf(err) != "project" {
		t.Errorf("a name that is taken: %v", err)
	}
}

package store_test

import (
	"fmt"
	"testing"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
)

// What is read of several projects at once is what is read of each alone.
func TestBoardOfSeveralProjects(t *testing.T) {
	l := newLab(t)
	names := []string{"a", "b", "c", "no builds"}
	for i, name := range names[:3] {
		l.sql(`insert into projects (name) values ($1)`, name)
		l.sql(`insert into scenarios (project_id, name) select id, unnest(array['soak', 'smoke', 'never']) from projects where name = $1`, name)
		// The last build is the newest, and the first has no result.
		l.sql(`insert into builds (project_id, name, place) select id, 'b' || n, int4send(n) from projects, generate_series(1, 4 + $2::int) n where name = $1`, name, i)
		l.sql(`insert into runs (build_id, scenario_id, name, status, site_count, analysed_at, summary)
			select b.id, sc.id, n::text, case (b.id + sc.id + n) % 3 when 0 then 'leak' when 1 then 'no-leak' else 'inconclusive' end, b.id, case when b.name <> 'b1' then now() end,
				jsonb_build_object('causes', jsonb_build_array(jsonb_build_object('members', jsonb_build_array(jsonb_build_object('signature', 'S1'), jsonb_build_object('signature', 'S' || $2::int + 2)))))
			from builds b join scenarios sc on sc.project_id = b.project_id join projects p on p.id = b.project_id, generate_series(1, 2) n where p.name = $1 and sc.name <> 'never'`, name, i)
		l.sql(`insert into signatures (project_id, text, root_id, kind, title, bad, worst, state, last_bad_id)
			select p.id, 'S' || n, 0, 'heap', '', true, case n % 4 when 0 then 'growing' else 'leak' end, case n % 3 when 0 then 'fixed' when 1 then 'new' else 'found' end,
				(select id from builds b where b.project_id = p.id and b.name = 'b' || 2 + n % 2)
			from projects p, generate_series(1, 6 + $2::int) n where name = $1`, name, i)
	}
	l.sql(`insert into projects (name) values ('no builds')`)
	l.sql(`update signatures set root_id = id`)
	coverages := must[map[string]*store.Coverage](t)(l.now().ListCoverages(t.Context(), names, 2))
	counts := must[map[string]leaks.OpenLeakCounts](t)(l.now().ListOpenLeakCounts(t.Context(), names))
	seen := map[string]bool{}
	for _, name := range names {
		alone := must[*store.Coverage](t)(l.now().FindCoverage(t.Context(), name, 2))
		if got, want := fmt.Sprintf("%+v", coverages[name]), fmt.Sprintf("%+v", alone); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		one := must[leaks.OpenLeakCounts](t)(l.now().CountOpenLeaks(t.Context(), name))
		if got, want := fmt.Sprintf("%+v", counts[name]), fmt.Sprintf("%+v", one); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		seen[fmt.Sprintf("%+v", one)] = true
	}
	if a := coverages["a"]; len(a.Builds) != 2 || a.Builds[0].Name != "b3" || a.Builds[1].Name != "b4" || len(a.Cells) != 4 ||
		fmt.Sprint(a.Scenarios) != "[smoke soak]" || len(coverages["no builds"].Builds) != 0 {
		t.Errorf("%+v, %+v", a, coverages["no builds"])
	}
	if len(seen) != len(names) {
		t.Errorf("projects have the same counts: %v", seen)
	}
}

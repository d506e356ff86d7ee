package store

import (
	"context"
	"strings"

	"heapdrift/internal/accounts"
	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// A SearchQuery searches for a text in names, in upper or lower case. Empty fields do not restrict it.
type SearchQuery struct {
	Text  string
	Owner string // of leaks: team or person, by rule or assigned
	File  string // of leaks: source file of the blamed frame
	Build string // of leaks: first or last bad build; of runs and builds: the build's name
	Limit int    // most hits of each kind
}

// SearchHits are what a search finds in projects that the actor may read, of each kind up to its limit.
type SearchHits struct {
	Leaks    []LeakHit
	Modules  []ModuleHit
	Runs     []RunHit
	Builds   []BuildHit
	Files    []FileHit
	Projects []string
}

// A LeakHit is a leak: a signature that leaked or grew in any run.
type LeakHit struct {
	Project, Signature, Title string
	State                     leaks.State
	Blame                     *analysis.Blame
	LastBad                   string // newest build in which it was bad
}

// A ModuleHit is a module with blamed functions.
type ModuleHit struct {
	Project, Module string
	Leaks           int // how many leaks it is blamed for
}

// A RunHit is a run, found by its process, scenario or name.
type RunHit struct {
	ID                                     int64
	Project, Build, Scenario, Name, Status string
}

// A BuildHit is a build, found by its name or branch.
type BuildHit struct{ Project, Build, Branch string }

// A FileHit is an evidence file, found by its name.
type FileHit struct {
	RunID                int64
	Project, Build, Name string
}

// Search searches the projects that the actor may read.
func (v View) Search(ctx context.Context, a *accounts.Actor, q SearchQuery) (*SearchHits, error) {
	type project struct {
		ID   int64
		Name string
	}
	projects, err := db.All[project](ctx, db.Q(v), `select id, name from projects order by name`)
	if err != nil {
		return nil, db.Wrap("projects", err)
	}
	var ids []int64
	for _, p := range projects {
		if a.May(accounts.Read, p.ID) {
			ids = append(ids, p.ID)
		}
	}
	f := &SearchHits{}
	narrowed := q.Owner != "" || q.File != ""
	if f.Leaks, err = db.All[LeakHit](ctx, db.Q(v), `
		select p.name as project, s.text as signature, s.title, s.blame, `+shownState+` as state, coalesce(b.name, '') as last_bad
		from signatures s join projects p on p.id = s.project_id left join builds b on b.id = s.last_bad_id left join builds first on first.id = s.first_bad_id
		where s.project_id = any($1) and s.bad and s.alias_of is null and (lower(s.title) like $2 or lower(s.blame->>'file') like $2 or s.text = $3)
			and ($4 = '' or $4 in (lower(s.owner), lower(s.assignee))) and ($5 = '' or lower(s.blame->>'file') like $6) and ($7 = '' or $7 in (lower(b.name), lower(first.name)))
		order by b.place desc nulls last, s.score desc nulls last, s.id limit $8`,
		ids, likeText(q.Text), q.Text, strings.ToLower(q.Owner), q.File, likeText(q.File), strings.ToLower(q.Build),
		q.Limit); err != nil || narrowed {
		return f, db.Wrap("search leaks", err)
	}
	if f.Runs, err = db.All[RunHit](ctx, db.Q(v), `
		select r.id, p.name as project, b.name as build, sc.name as scenario, r.name, r.status
		from runs r join builds b on b.id = r.build_id join projects p on p.id = b.project_id join scenarios sc on sc.id = r.scenario_id
		where p.id = any($1) and (lower(sc.name) like $2 or lower(r.name) like $2 or lower(r.process) like $2 or r.id::text = $3) and ($4 = '' or lower(b.name) = $4)
		order by r.id desc limit $5`, ids, likeText(q.Text), q.Text, strings.ToLower(q.Build), q.Limit); err != nil {
		return nil, db.Wrap("search runs", err)
	}
	if f.Builds, err = db.All[BuildHit](ctx, db.Q(v), `
		select p.name as project, b.name as build, b.branch from builds b join projects p on p.id = b.project_id
		where p.id = any($1) and (lower(b.name) like $2 or lower(b.branch) like $2) and ($3 = '' or lower(b.name) = $3) order by b.id desc limit $4`,
		ids, likeText(q.Text), strings.ToLower(q.Build), q.Limit); err != nil || q.Build != "" {
		return f, db.Wrap("search builds", err)
	}
	if f.Modules, err = db.All[ModuleHit](ctx, db.Q(v), `
		select p.name as project, s.blame->>'module' as module, count(*) as leaks from signatures s join projects p on p.id = s.project_id
		where s.project_id = any($1) and s.bad and s.alias_of is null and lower(s.blame->>'module') like $2 group by 1, 2 order by 3 desc, 1, 2 limit $3`,
		ids, likeText(q.Text), q.Limit); err != nil {
		return nil, db.Wrap("search modules", err)
	}
	if f.Files, err = db.All[FileHit](ctx, db.Q(v), `
		select e.run_id, p.name as project, b.name as build, e.name from evidence e join runs r on r.id = e.run_id join builds b on b.id = r.build_id
			join projects p on p.id = b.project_id
		where p.id = any($1) and lower(e.name) like $2 order by e.id desc limit $3`, ids, likeText(q.Text), q.Limit); err != nil {
		return nil, db.Wrap("search files", err)
	}
	f.Projects, err = db.Values[string](ctx, db.Q(v),
		`select name from projects where id = any($1) and lower(name) like $2 order by name limit $3`, ids,
		likeText(q.Text), q.Limit)
	return f, db.Wrap("search projects", err)
}

package store

import (
	"context"
	"time"
)

// A Project is a product under watch.
type Project struct {
	Name   string
	Builds int
	Runs   int
	LastAt *time.Time
}

// Projects lists all projects by name.
func (v View) Projects(ctx context.Context) ([]Project, error) {
	list, err := all[Project](ctx, v.q, `
		select p.name, count(distinct b.id) as builds, count(r.id) as runs, max(r.created_at) as last_at
		from projects p left join builds b on b.project_id = p.id left join runs r on r.build_id = b.id
		group by p.name order by p.name`)
	return list, wrap("projects", err)
}

// projectID returns the id of a project, or ErrNotFound.
func projectID(ctx context.Context, q querier, project string) (int64, error) {
	id, err := value[int64](ctx, q, `select id from projects where name = $1`, project)
	return id, wrap("project", err)
}

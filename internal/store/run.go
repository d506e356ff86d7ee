package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
)

// A Run is one process's evidence in one build and scenario, with the outcome of its last analysis.
type Run struct {
	ID          int64
	Project     string
	Build       string
	Branch      string
	Scenario    string
	Name        string
	CreatedAt   time.Time
	CompletedAt *time.Time // no more evidence is to come; nil while open
	AnalysedAt  *time.Time // nil before the first result
	ReportKey   string     // blob of the report
	Status      string
	Sentence    string
	SiteCount   int64
	ErrorCode   string // why the last analysis gave nothing
	Error       string
	Process     string // that was chosen for the report; "" for the one that holds most
	Pending     int    // jobs queued or running
	Failed      int    // pieces of evidence that could not be read
	Evidence    int
}

// State says how far a run is: empty, processing, ready or failed.
func (r *Run) State() string {
	switch {
	case r.Pending > 0:
		return "processing"
	case r.AnalysedAt != nil:
		return "ready"
	case r.Failed > 0 || r.ErrorCode != "":
		return "failed"
	}
	return "empty"
}

const selectRuns = `
	select r.id, p.name, b.name, b.branch, sc.name, r.name, r.created_at, r.completed_at, r.analysed_at, r.report_key, r.status,
		r.sentence, r.site_count, r.error_code, r.error, r.process,
		(select count(*) from jobs j where j.run_id = r.id and j.state in ('queued', 'running')),
		(select count(*) from evidence e where e.run_id = r.id and e.state = 'failed'),
		(select count(*) from evidence e where e.run_id = r.id)
	from runs r join builds b on b.id = r.build_id join projects p on p.id = b.project_id join scenarios sc on sc.id = r.scenario_id`

// RunByID returns a run, or ErrNotFound.
func (s *Store) RunByID(ctx context.Context, id int64) (Run, error) {
	rows, _ := s.pool.Query(ctx, selectRuns+` where r.id = $1`, id)
	run, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Run])
	return run, wrap("run", err)
}

// CompleteRun records that no more evidence is to come.
func (s *Store) CompleteRun(ctx context.Context, id int64) error {
	tag, err := s.pool.Exec(ctx, `update runs set completed_at = coalesce(completed_at, now()) where id = $1`, id)
	if err == nil && tag.RowsAffected() == 0 {
		return ErrNotFound
	}
	return wrap("complete run", err)
}

// Summary returns a run's report without its sites, or ErrNotFound before the first result.
func (s *Store) Summary(ctx context.Context, run int64) (*analysis.Report, error) {
	var text []byte
	if err := s.pool.QueryRow(ctx, `select summary from runs where id = $1 and summary is not null`, run).Scan(&text); err != nil {
		return nil, wrap("summary", err)
	}
	r := &analysis.Report{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("store: summary of run %d: %w", run, err)
	}
	return r, nil
}

// A Project is a product under watch.
type Project struct {
	Name   string
	Builds int
	Runs   int
	LastAt *time.Time
}

// Projects lists all projects by name.
func (s *Store) Projects(ctx context.Context) ([]Project, error) {
	rows, _ := s.pool.Query(ctx, `
		select p.name, count(distinct b.id), count(r.id), max(r.created_at)
		from projects p left join builds b on b.project_id = p.id left join runs r on r.build_id = b.id
		group by p.name order by p.name`)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Project])
	return list, wrap("projects", err)
}

// A Build is a version under test with its runs, the newest first.
type Build struct {
	Name     string
	Sequence *int64
	Branch   string
	Pinned   bool // a release
	Runs     []Run
}

// BuildsOf lists a project's builds, newest first: by declared sequence, undeclared ones after those in the order
// they were first seen. It returns ErrNotFound for a project that does not exist.
func (s *Store) BuildsOf(ctx context.Context, project string) ([]Build, error) {
	var id int64
	if err := s.pool.QueryRow(ctx, `select id from projects where name = $1`, project).Scan(&id); err != nil {
		return nil, wrap("project", err)
	}
	rows, _ := s.pool.Query(ctx, `select name, sequence, branch, pinned from builds where project_id = $1 order by sequence desc nulls last, id desc`, id)
	builds, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (b Build, err error) {
		err = row.Scan(&b.Name, &b.Sequence, &b.Branch, &b.Pinned)
		return b, err
	})
	if err != nil {
		return nil, wrap("builds", err)
	}
	rows, _ = s.pool.Query(ctx, selectRuns+` where p.id = $1 order by r.id desc`, id)
	runs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Run])
	if err != nil {
		return nil, wrap("runs", err)
	}
	at := map[string]int{}
	for i := range builds {
		at[builds[i].Name] = i
	}
	for _, r := range runs {
		b := &builds[at[r.Build]]
		b.Runs = append(b.Runs, r)
	}
	return builds, nil
}

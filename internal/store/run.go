package store

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// A Run is the evidence of one process in one build and scenario, with the result of its last analysis.
type Run struct {
	ID            int64
	Project       string
	Build         string
	Branch        string
	Commit        string // of the build; "" where no upload says
	Scenario      string
	Name          string
	CreatedAt     time.Time
	CompletedAt   *time.Time // when it was told that no more evidence follows; nil while it is open
	AnalysedAt    *time.Time // nil before the first result
	ReportKey     string     // of the blob with the report; "" before the first result
	Status        string     // an analysis.Status; "" before the first result
	Sentence      string     // of the verdict, for people
	SiteCount     int64      // how many sites the report has
	ErrorCode     string     // code of the failure of the last analysis; "" for none
	Error         string     // message of that failure
	ChosenProcess string     // that was chosen for the report; "" for the one that holds most
	PendingJobs   int        // how many jobs are queued or running
	FailedFiles   int        // how many files could not be read
	FailedCode    string     // the code that all FailedFiles have; "" where they differ
	EvidenceFiles int        // how many files
}

// State says how far a run is.
func (r *Run) State() leaks.RunState { return r.facts().State() }

func (r *Run) facts() leaks.RunFacts {
	return leaks.RunFacts{
		PendingJobs: r.PendingJobs, UnreadEvidence: r.FailedFiles, Analysed: r.AnalysedAt != nil, Failed: r.ErrorCode != "",
	}
}

const runColumns = `r.id, p.name as project, b.name as build, b.branch, b.commit, sc.name as scenario, r.name, r.created_at, r.completed_at, r.analysed_at,
	r.report_key, r.status, r.sentence, r.site_count, r.error_code, r.error, r.process as chosen_process,
	(select count(*) from jobs j where j.run_id = r.id and j.state in ('queued', 'running')) as pending_jobs,
	(select count(*) from evidence e where e.run_id = r.id and e.state = 'failed') as failed_files,
	(select coalesce(case when min(e.error_code) = max(e.error_code) then min(e.error_code) end, '') from evidence e where e.run_id = r.id and e.state = 'failed') as failed_code,
	(select count(*) from evidence e where e.run_id = r.id) as evidence_files`

const runTables = ` from runs r join builds b on b.id = r.build_id join projects p on p.id = b.project_id join scenarios sc on sc.id = r.scenario_id`

// FindRun returns a run, or ErrNotFound.
func (v View) FindRun(ctx context.Context, id int64) (Run, error) {
	run, err := db.One[Run](ctx, db.Q(v), `select `+runColumns+runTables+` where r.id = $1`, id)
	return run, db.Wrap("run", err)
}

// CompleteRun records that no more evidence follows for a run.
func (s *Store) CompleteRun(ctx context.Context, id int64) error {
	tag, err := db.Conns(s).Exec(ctx, `update runs set completed_at = coalesce(completed_at, now()) where id = $1`, id)
	if err == nil && tag.RowsAffected() == 0 {
		return ErrNotFound
	}
	return db.Wrap("complete run", err)
}

// FindSummary returns a run's report without its sites, or ErrNotFound before the first result.
func (v View) FindSummary(ctx context.Context, run int64) (*analysis.Report, error) {
	text, err := db.Value[[]byte](ctx, db.Q(v), `select summary from runs where id = $1 and summary is not null`, run)
	if err != nil {
		return nil, db.Wrap("summary", err)
	}
	return summaryOf(run, text)
}

func summaryOf(run int64, text []byte) (*analysis.Report, error) {
	r, err := analysis.ReadJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("store: summary of run %d: %w", run, err)
	}
	return r, nil
}

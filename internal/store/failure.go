package store

import (
	"context"
	"slices"
	"time"

	"heapdrift/internal/store/internal/db"
)

// A FailedJob is a job that failed, with what an operator needs to find out why.
type FailedJob struct {
	Job
	Project   string
	Build     string
	Scenario  string
	Run       string
	File      string // of a job that reads one, else ""
	FailedBy  string // version of the worker
	Worker    string // its host
	WorkerPID int    // 0 where an older version failed it, or where its workers were lost
	Cause     string // text of the error; "" where Error says all
	EndedAt   time.Time
}

const failedJobs = `
	select j.id, j.kind, j.run_id, j.evidence_id, j.state, j.attempt, j.percent, j.stage, j.error_code, j.error, j.trace_parent,
		p.name project, b.name build, s.name scenario, r.name run, coalesce(e.name, '') file, j.failed_by, j.worker, j.worker_pid, j.cause, j.ended_at
	from jobs j join runs r on r.id = j.run_id join builds b on b.id = r.build_id join projects p on p.id = b.project_id
		join scenarios s on s.id = r.scenario_id left join evidence e on e.id = j.evidence_id
	where j.state = 'failed'`

// ListFailedJobs are those that failed last.
func (v View) ListFailedJobs(ctx context.Context, most int) ([]FailedJob, error) {
	list, err := db.All[FailedJob](ctx, db.Q(v), failedJobs+` order by j.ended_at desc limit $1`, most)
	return list, db.Wrap("failed jobs", err)
}

// FindFailedJob finds a failed job, whose number users were shown, or says ErrNotFound.
func (v View) FindFailedJob(ctx context.Context, id int64) (FailedJob, error) {
	job, err := db.One[FailedJob](ctx, db.Q(v), failedJobs+` and j.id = $1`, id)
	return job, db.Wrap("failed job", err)
}

// A FailureCause is a cause for which jobs failed that may end better, and have not been tried again.
type FailureCause struct {
	Code  string
	Text  string // of the errors; "#" stands for numbers and names that differ
	Jobs  int64
	Runs  int64
	First time.Time
	Last  time.Time
}

// standing selects the failed jobs that nobody has tried again, by the text that errors of one cause have in common.
// Numbers, digests and random names differ from job to job; the code of PostgreSQL tells causes apart. $1 are the codes
// of failures that may end better.
const standing = `
	with standing as (
		select j.id, j.run_id, j.kind, j.evidence_id, j.error_code code, j.ended_at,
			regexp_replace(left(split_part(case when j.cause = '' then j.error else j.cause end, E'\n', 1), 300),
				'(?<!SQLSTATE )\m([0-9A-Za-z]*[0-9][0-9A-Za-z]*|[A-Za-z]{24,})', '#', 'g') text
		from jobs j join runs r on r.id = j.run_id left join evidence e on e.id = j.evidence_id
		where j.state = 'failed' and j.error_code = any($1::text[])
			and (j.kind = 'read' and e.state = 'failed' and e.error_code = j.error_code
				or j.kind = 'symbolise' and r.names_error <> '' or j.kind = 'analyse' and r.error_code = j.error_code)
			and not exists (select from jobs later where later.run_id = j.run_id and later.kind = j.kind
				and later.evidence_id is not distinct from j.evidence_id and later.id > j.id))`

// causes are the codes of failures that are tried again by their cause: those of mended that no person has wanted.
var causes = slices.DeleteFunc(slices.Clone(mended), func(code string) bool { return code == codeCancelled })

// ListFailureCauses lists the causes of failures that may end better, those of most jobs first.
func (v View) ListFailureCauses(ctx context.Context, most int) ([]FailureCause, error) {
	list, err := db.All[FailureCause](ctx, db.Q(v), standing+`
		select code, text, count(*) jobs, count(distinct run_id) runs, min(ended_at) first, max(ended_at) last
		from standing group by code, text order by 3 desc, 1, 2 limit $2`, causes, most)
	return list, db.Wrap("causes of failures", err)
}

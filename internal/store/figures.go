package store

import (
	"context"
	"time"

	"heapdrift/internal/store/internal/db"
)

// A QueueFigure counts the jobs of one kind in one state: queued, running, or failed in the last day.
type QueueFigure struct {
	Kind     string
	State    string
	Count    int64
	Oldest   float64 // seconds since the oldest of them was due, started, or failed
	Attempts int     // most attempts that one of them has had
}

// ListQueueFigures counts the jobs that are queued or running, or failed in the last day.
func (v View) ListQueueFigures(ctx context.Context) ([]QueueFigure, error) {
	list, err := db.All[QueueFigure](ctx, db.Q(v), `
		select kind, state, count(*) count, max(attempt) attempts, extract(epoch from now() - min(coalesce(ended_at, greatest(run_at, created_at))))::float8 oldest
		from jobs where state in ('queued', 'running') or state = 'failed' and ended_at > now() - interval '1 day'
		group by kind, state order by kind, state`)
	return list, db.Wrap("queue figures", err)
}

// stuckAfter is when a job that waits for a worker counts as stuck.
const stuckAfter = 10 * time.Minute

// CountStuckJobs counts jobs that somebody should look at: due for ten minutes without a worker, or running under a
// lease that ran out half a minute ago and that nobody has taken back.
func (v View) CountStuckJobs(ctx context.Context) (int64, error) {
	n, err := db.Value[int64](ctx, db.Q(v), `
		select count(*) from jobs where state = 'queued' and run_at < now() - $1::interval or state = 'running' and lease_until < now() - interval '30 seconds'`, stuckAfter)
	return n, db.Wrap("stuck jobs", err)
}

// A ProjectFigure is the space that a project's uploaded files take.
type ProjectFigure struct {
	Project string
	Files   int64 // how many files are stored
	Bytes   int64
	Runs    int64 // how many runs the project has
}

// ListProjectFigures lists the projects whose files take the most bytes, at most so many.
func (v View) ListProjectFigures(ctx context.Context, most int) ([]ProjectFigure, error) {
	list, err := db.All[ProjectFigure](ctx, db.Q(v), `
		select p.name project, count(e.id) files, coalesce(sum(e.bytes), 0)::bigint bytes, count(distinct r.id) runs
		from projects p left join builds b on b.project_id = p.id left join runs r on r.build_id = b.id left join evidence e on e.run_id = r.id and e.expired_at is null
		group by p.name order by 3 desc, 1 limit $1`, most)
	return list, db.Wrap("project figures", err)
}

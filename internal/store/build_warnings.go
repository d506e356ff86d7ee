package store

import (
	"context"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// uploadAction is the action, in the audit of a project, of an upload that replaced what was known of a build.
const uploadAction = "upload"

// maxSameSequence is how many builds of one sequence are named.
const maxSameSequence = 3

// ListRunWarnings lists what is odd about the build of a run, as far as uploads to the run caused it; ErrNotFound where
// there is no run.
func (v View) ListRunWarnings(ctx context.Context, run int64) ([]leaks.BuildWarning, error) {
	f, err := db.One[leaks.BuildFacts](ctx, db.Q(v), `
		select b.name as build, b.branch, b.commit, b.sequence,
			coalesce((select a.before->>'commit' from project_audit a
				where a.project_id = b.project_id and a.action = $2 and a.at >= r.created_at and a.after->>'build' = b.name and a.after->>'commit' = b.commit
				order by a.id desc limit 1), '') as former_commit,
			array(select o.name from builds o
				where o.project_id = b.project_id and o.sequence = b.sequence and o.id <> b.id order by o.place limit $3) as same_sequence
		from runs r join builds b on b.id = r.build_id where r.id = $1`, run, uploadAction, maxSameSequence)
	if err != nil {
		return nil, db.Wrap("warnings of run", err)
	}
	return f.Warnings(), nil
}

package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/store/internal/db"
)

// ListTraceFiles lists the evidence of a run that may be one trace with e: e first, then the others of its kind in the
// order of upload. Failed ones are included: half of a trace may be unreadable alone. done says that all are stored as
// one trace already.
func (v View) ListTraceFiles(ctx context.Context, e Evidence) (files []Evidence, done bool, err error) {
	files, err = db.All[Evidence](ctx, db.Q(v), `
		select `+evidenceColumns+` from evidence where run_id = $1 and (id = $2 or kind = $3 and expired_at is null) order by id <> $2, id`, e.RunID, e.ID, e.Kind)
	if err != nil || len(files) < 2 {
		return files, false, db.Wrap("files of a trace", err)
	}
	owner := files[0].owner()
	return files, !slices.ContainsFunc(files,
		func(f Evidence) bool { return f.State != "read" || f.owner() != owner }), nil
}

// owner is the evidence that has the captures.
func (e *Evidence) owner() int64 {
	if e.ReadWith != nil {
		return *e.ReadWith
	}
	return e.ID
}

// claimFiles makes the newest of the files the owner of what was read from them, and returns it. Captures of earlier
// reads of any of them go. It returns 0 where a read of all these files is stored that saw more, or as much.
//
// Each job sees the files that were recorded before it began, so the one that begins last sees all. Two reads that
// overlap and have neither all of the other are a passing state; should one last, the files that it leaves are read
// again.
func claimFiles(ctx context.Context, tx pgx.Tx, run int64, files []int64) (owner int64, err error) {
	slices.Sort(files)
	files = slices.Compact(files)
	// The files of every stored read that shares one with these.
	type storedRead struct {
		Owner int64
		Files []int64
	}
	stored, err := db.All[storedRead](ctx, tx, `
		select coalesce(read_with, id) as owner, array_agg(id order by id) as files from evidence where run_id = $1 and state = 'read' group by 1
		having array_agg(id) && $2::bigint[]`, run, files)
	if err != nil {
		return 0, err
	}
	owner = files[len(files)-1]
	var left []int64 // files of those reads that are not among these
	outdated := slices.Clone(files)
	for _, r := range stored {
		missing := 0
		for _, f := range files {
			if !slices.Contains(r.Files, f) {
				missing++
			}
		}
		if missing == 0 && len(r.Files) > 1 { // a file that is read alone once more replaces its own captures
			return 0, nil
		}
		for _, f := range r.Files {
			if !slices.Contains(files, f) {
				left = append(left, f)
			}
		}
		outdated = append(outdated, r.Owner)
	}
	if _, err := tx.Exec(ctx, `delete from captures where evidence_id = any($1)`, outdated); err != nil {
		return 0, err
	}
	if _, err := tx.Exec(ctx, `
		update evidence set state = 'read', error_code = '', error = '', read_with = nullif($2::bigint, id) where id = any($1)`, files, owner); err != nil {
		return 0, err
	}
	for _, f := range left {
		if err := readAgain(ctx, tx, run, f); err != nil {
			return 0, err
		}
	}
	return owner, nil
}

// maxReads is how often a file is read before something must be wrong: files whose clocks allow each two of three to be
// one trace, and not all three, would take each other's place for ever.
const maxReads = 10

// readAgain queues the reading of a file whose captures have gone.
func readAgain(ctx context.Context, tx pgx.Tx, run, evidence int64) error {
	reads, err := db.Value[int](ctx, tx,
		`update evidence set state = 'stored', read_with = null where id = $1 returning (select count(*) from jobs where evidence_id = $1)`, evidence)
	if err != nil {
		return err
	}
	if reads < maxReads {
		return queueRead(ctx, tx, run, evidence)
	}
	_, err = tx.Exec(ctx,
		`update evidence set state = 'failed', error_code = 'other-boot', error = $2 where id = $1`, evidence,
		"the files of this run cannot be told apart into traces of one boot each; upload those of each boot as a run of its own")
	return err
}

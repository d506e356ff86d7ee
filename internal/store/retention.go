package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// RetentionDefaults are the server's settings: those of projects that say nothing, and those of symbol files, which all
// projects share. 0 keeps for ever.
type RetentionDefaults struct {
	EvidenceDays, EvidenceBytes int64
	RunDays, RunBytes           int64
	SymbolDays, SymbolBytes     int64
}

// A Removal is what a step of retention has deleted.
type Removal struct {
	Files int64
	Bytes int64
}

// UpdateRetention says how long a project keeps what it has. Its error is ErrNotFound, or a *leaks.FieldError.
func (s *Store) UpdateRetention(ctx context.Context, project string, r leaks.Retention, by string) error {
	if err := r.Check(); err != nil {
		return err
	}
	return db.Tx(ctx, s, "change retention", func(tx pgx.Tx) error {
		id, err := projectID(ctx, tx, project)
		if err != nil {
			return err
		}
		if err := lockProject(ctx, tx, id); err != nil {
			return err
		}
		former, err := retentionOf(ctx, tx, id)
		if err != nil {
			return err
		}
		text, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("store: retention: %w", err)
		}
		if _, err := tx.Exec(ctx, `update projects set retention = $2 where id = $1`, id, text); err != nil {
			return err
		}
		return audit.RecordProjectChange(ctx, tx, id, by, "retention", former, r)
	})
}

// FindRetention returns what a project says of how long it keeps what it has, or ErrNotFound.
func (v View) FindRetention(ctx context.Context, project string) (leaks.Retention, error) {
	id, err := projectID(ctx, db.Q(v), project)
	if err != nil {
		return leaks.Retention{}, err
	}
	return retentionOf(ctx, db.Q(v), id)
}

func retentionOf(ctx context.Context, q db.Querier, project int64) (r leaks.Retention, err error) {
	text, err := db.Value[[]byte](ctx, q, `select retention from projects where id = $1`, project)
	if err != nil {
		return r, db.Wrap("retention", err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("store: retention: %w", err)
	}
	return r, nil
}

// isQuiet holds for a run r on which no job works or is to work.
const isQuiet = `not exists (select from jobs j where j.run_id = r.id and j.state in ('queued', 'running'))`

// ExpireEvidence marks uploaded files as deleted that are too old, or that exceed what their project may hold, the
// oldest first and at most limit of them. What was read of the files, names, reports and findings stay. Files of a
// run that jobs work on stay, and those under a legal hold. A second call finds the next ones.
func (s *Store) ExpireEvidence(ctx context.Context, d RetentionDefaults, limit int) (expired Removal, err error) {
	err = s.retryDeadlocks(ctx, "expire evidence", func(tx pgx.Tx) error {
		if err := lockHolds(ctx, tx, false); err != nil {
			return err
		}
		expired, err = db.One[Removal](ctx, tx, `
			with kept as (
				select e.id, e.run_id, e.uploaded_at, p.held_at,
					coalesce((p.retention->>'evidence_days')::bigint, $1) as days,
					coalesce((p.retention->>'evidence_bytes')::bigint, $2) as most,
					sum(e.bytes) over (partition by p.id order by e.uploaded_at desc, e.id desc) as total
				from evidence e join runs r on r.id = e.run_id join builds b on b.id = r.build_id join projects p on p.id = b.project_id
				where e.expired_at is null),
			gone as (
				update evidence set expired_at = now() where id in (
					select e.id from kept k join evidence e on e.id = k.id join runs r on r.id = k.run_id
					where (k.days > 0 and k.uploaded_at < now() - k.days * interval '1 day' or k.most > 0 and k.total > k.most)
						and k.held_at is null and r.held_at is null and `+isQuiet+`
					order by e.uploaded_at, e.id limit $3 for update of e skip locked)
				returning bytes)
			select count(*) as files, coalesce(sum(bytes), 0)::bigint as bytes from gone`, d.EvidenceDays, d.EvidenceBytes, limit)
		return err
	})
	return expired, err
}

// runAge is when the last upload of a run r came, and runBytes how much its captures and allocation tables take.
const (
	runAge   = `greatest(r.created_at, (select max(e.uploaded_at) from evidence e where e.run_id = r.id))`
	runBytes = `r.table_bytes + coalesce((select sum(c.artifact_bytes + c.table_bytes) from evidence e join captures c on c.evidence_id = e.id where e.run_id = r.id), 0)`
)

// oldRuns are runs that are older than their project keeps runs, or whose captures and allocation tables exceed what it
// may hold. A run is as old as its last upload. $3 is how many.
const oldRuns = `
	with aged as (
		select r.id, b.project_id, ` + runAge + ` as at, ` + runBytes + ` as bytes
		from runs r join builds b on b.id = r.build_id),
	kept as (
		select a.id, a.at, p.held_at, p.baseline_id,
			coalesce((p.retention->>'run_days')::bigint, $1) as days,
			coalesce((p.retention->>'run_bytes')::bigint, $2) as most,
			sum(a.bytes) over (partition by p.id order by a.at desc, a.id desc) as total
		from aged a join projects p on p.id = a.project_id)
	select r.id from kept k join runs r on r.id = k.id join builds b on b.id = r.build_id
	where (k.days > 0 and k.at < now() - k.days * interval '1 day' or k.most > 0 and k.total > k.most)
		and k.held_at is null and r.held_at is null and not b.pinned and b.id is distinct from k.baseline_id and ` + isQuiet + `
	order by k.at, r.id limit $3`

// ListOldRuns lists runs that retention deletes, the oldest first and at most limit of them. Runs under a legal hold,
// runs that jobs work on, and those of pinned builds and of the baseline are not among them.
func (v View) ListOldRuns(ctx context.Context, d RetentionDefaults, limit int) ([]int64, error) {
	list, err := db.Values[int64](ctx, db.Q(v), oldRuns, d.RunDays, d.RunBytes, limit)
	return list, db.Wrap("old runs", err)
}

// oldRun is a run $3 with the limits of its project, and whether it exceeds them: its age, or its bytes with those of
// the newer runs of the project.
const oldRun = `
	with asked as (
		select r.id, p.id as project_id, ` + runAge + ` as at,
			coalesce((p.retention->>'run_days')::bigint, $1) as days,
			coalesce((p.retention->>'run_bytes')::bigint, $2) as most
		from runs r join builds b on b.id = r.build_id join projects p on p.id = b.project_id where r.id = $3)
	select a.at, a.days, a.most, case
		when a.days > 0 and a.at < now() - a.days * interval '1 day' then true
		when a.most > 0 then a.most < (
			select sum(` + runBytes + `) from builds b join runs r on r.build_id = b.id
			where b.project_id = a.project_id and (` + runAge + `, r.id) >= (a.at, a.id))
		else false end as exceeds
	from asked a`

// oldRunStill finds a run $3 that has exceeded the limits $5 and $6 when its last upload had come at $4, unless an
// upload, a limit or a reason to keep the run has come since. It looks at no other run: the project is locked.
const oldRunStill = `
	select r.id from runs r join builds b on b.id = r.build_id join projects p on p.id = b.project_id
	where r.id = $3 and ` + runAge + ` = $4 and coalesce((p.retention->>'run_days')::bigint, $1) = $5
		and coalesce((p.retention->>'run_bytes')::bigint, $2) = $6
		and p.held_at is null and r.held_at is null and not b.pinned
		and b.id is distinct from p.baseline_id and ` + isQuiet

// DeleteOldRun deletes a run as DeleteRun does, if it is still one that ListOldRuns lists: evidence may have come. It
// reports whether it did.
func (s *Store) DeleteOldRun(ctx context.Context, run int64, d RetentionDefaults) (bool, error) {
	type oldness struct {
		At         time.Time
		Days, Most int64
		Exceeds    bool
	}
	old, err := Read(ctx, s, func(v View) (oldness, error) {
		return db.One[oldness](ctx, db.Q(v), oldRun, d.RunDays, d.RunBytes, run)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows), errors.Is(err, ErrNotFound), err == nil && !old.Exceeds:
		return false, nil
	case err != nil:
		return false, db.Wrap("old run", err)
	}
	err = s.deleteRun(ctx, run, "", func(tx pgx.Tx, _ int64) error {
		_, err := db.Value[int64](ctx, tx, oldRunStill, d.RunDays, d.RunBytes, run, old.At, old.Days, old.Most)
		return err // without a row, ErrNotFound
	})
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// DeleteOldSymbolFiles deletes symbol files that are too old, or that exceed what the server may hold, the oldest first
// and at most limit of them. Reports keep the names. Files that belong to a build, or to a module, of a run or project
// under a legal hold stay.
func (s *Store) DeleteOldSymbolFiles(ctx context.Context, d RetentionDefaults, limit int) (deleted Removal, err error) {
	err = s.retryDeadlocks(ctx, "delete old symbol files", func(tx pgx.Tx) error {
		if err := lockHolds(ctx, tx, false); err != nil {
			return err
		}
		deleted, err = db.One[Removal](ctx, tx, `
			with kept as (
				select id, uploaded_at, sum(bytes) over (order by uploaded_at desc, id desc) as total from symbol_files),
			held as (
				select r.id, b.id as build_id from runs r join builds b on b.id = r.build_id join projects p on p.id = b.project_id
				where r.held_at is not null or p.held_at is not null),
			gone as (
				delete from symbol_files where id in (
					select f.id from kept k join symbol_files f on f.id = k.id
					where ($1::bigint > 0 and k.uploaded_at < now() - $1::bigint * interval '1 day' or $2::bigint > 0 and k.total > $2::bigint)
						and not exists (select from build_symbols s join held h on h.build_id = s.build_id where s.file_id = f.id)
						and not exists (select from run_modules m join held h on h.id = m.run_id where f.debug_id <> '' and lower(m.debug_id) = lower(f.debug_id))
					order by f.uploaded_at, f.id limit $3 for update of f skip locked)
				returning bytes)
			select count(*) as files, coalesce(sum(bytes), 0)::bigint as bytes from gone`, d.SymbolDays, d.SymbolBytes, limit)
		return err
	})
	return deleted, err
}

package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/store/internal/db"
)

// ExpireEvidence marks uploaded files of completed and analysed runs as deleted where they are older than that, the
// oldest first and at most limit of them, and returns how many and the digests that nothing else refers to, those of
// before that were not dropped among them: pass each to DeleteExpiredContent. What was read of the files, names,
// reports and findings stay. A second call finds the next ones.
func (s *Store) ExpireEvidence(ctx context.Context, olderThan time.Duration, limit int) (digests []string,
	expired int, err error) {
	err = db.Tx(ctx, s, "expire evidence", func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			update evidence set expired_at = now() where id in (
				select e.id from evidence e join runs r on r.id = e.run_id
				where e.expired_at is null and e.uploaded_at < now() - $1::interval and e.state in ('read', 'failed')
					and r.completed_at is not null and r.analysed_at is not null
					and not exists (select from jobs j where j.run_id = r.id and j.state in ('queued', 'running'))
				order by e.uploaded_at, e.id limit $2 for update of e skip locked)`, olderThan, limit)
		if err != nil {
			return err
		}
		expired = int(tag.RowsAffected())
		digests, err = db.Values[string](ctx, tx, `
			select d from (select distinct sha256 as d from evidence where expired_at is not null and not dropped) old where `+unreferred+` order by d`)
		return err
	})
	return digests, expired, err
}

// unreferred holds for a digest d of which no file is wanted any more.
const unreferred = `not exists (select from evidence e where e.sha256 = d and e.expired_at is null) and not exists (select from symbol_files f where f.sha256 = d)`

// DeleteExpiredContent calls drop, which deletes the content of a digest, unless something refers to it by now: the
// same file may have been uploaded again. Uploads of the same content that are recorded meanwhile wait for drop. It
// reports whether it called drop.
func (s *Store) DeleteExpiredContent(ctx context.Context, digest string, drop func() error) (dropped bool, err error) {
	err = db.Tx(ctx, s, "drop expired evidence", func(tx pgx.Tx) error {
		if err := lockDigest(ctx, tx, digest); err != nil {
			return err
		}
		if dropped, err = db.Value[bool](ctx, tx, `select `+unreferred+` from (select $1::text as d) x`,
			digest); err != nil || !dropped {
			return err
		}
		if err := drop(); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `update evidence set dropped = true where sha256 = $1 and expired_at is not null`, digest)
		return err
	})
	return dropped && err == nil, err
}

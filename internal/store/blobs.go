package store

import (
	"context"
	"errors"
	"path"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/store/internal/db"
)

// contentKey is the key of content by its digest, as package blob has it.
func contentKey(sha string) string { return "sha256/" + sha[:min(2, len(sha))] + "/" + sha }

// blobLock is the class of the advisory locks under which blobs are deleted. Deletions share it, a backup has it alone:
// what the rows of its snapshot name stays until it has been copied.
const blobLock = 0x424c4f42

// checkBlobs makes sure that blobs exist when the transaction commits that has rows refer to them. Their writer stored
// them before, without a row; somebody may have deleted them since. The writer and whoever deletes take turns by the
// digest, until the end of their transactions: whoever deletes second sees the row, whoever writes second sees that the
// blob is gone, and gets ErrBlobGone. Empty keys name no blob.
func (s *Store) checkBlobs(ctx context.Context, tx pgx.Tx, keys ...string) error {
	if s.HasBlob == nil {
		return nil
	}
	slices.Sort(keys) // locks are taken in one order
	for _, key := range slices.Compact(keys) {
		if key == "" {
			continue
		}
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock_shared($1::int, hashtext($2))`, digestLock,
			path.Base(key)); err != nil {
			return err
		}
		switch has, err := s.HasBlob(ctx, key); {
		case err != nil:
			return err
		case !has:
			return ErrBlobGone
		}
	}
	return nil
}

// wantedBlobs are the keys of a list, $1, that something refers to.
const wantedBlobs = `
	select k from unnest($1::text[]) k where
		exists (select from evidence where sha256 = split_part(k, '/', 3) and expired_at is null)
		or exists (select from symbol_files where sha256 = split_part(k, '/', 3))
		or exists (select from captures where artifact = k)
		or exists (select from captures where table_key <> '' and table_key = k)
		or exists (select from runs where report_key <> '' and report_key = k)
		or exists (select from runs where table_key <> '' and table_key = k)
		or exists (select from runs where names_key <> '' and names_key = k)`

// A blobDrop deletes a blob. idle says that no job is running that might be about to refer to the same content. Where
// it reports false, the blob stays for now.
type blobDrop = func(key string, idle bool) (bool, error)

// dropBlobs calls drop with those of the keys that nothing refers to, and returns which it dropped and which something
// refers to. Keys whose content is being recorded are in neither, and so are all keys during a backup: whoever drops
// waits for nobody, so that nobody's locks and these wait for each other. Uploads of the same content that are recorded
// meanwhile wait.
func dropBlobs(ctx context.Context, tx pgx.Tx, keys []string, drop blobDrop) (dropped, wanted []string, err error) {
	free, err := db.Value[bool](ctx, tx, `select pg_try_advisory_xact_lock_shared($1)`, blobLock)
	if err != nil || !free {
		return nil, nil, err
	}
	var mine []string
	for _, key := range keys {
		locked, err := db.Value[bool](ctx, tx, `select pg_try_advisory_xact_lock($1::int, hashtext($2))`, digestLock,
			path.Base(key))
		if err != nil {
			return nil, nil, err
		}
		if locked {
			mine = append(mine, key)
		}
	}
	if wanted, err = db.Values[string](ctx, tx, wantedBlobs, mine); err != nil {
		return nil, nil, err
	}
	idle, err := db.Value[bool](ctx, tx, `select not exists (select from jobs where state = 'running')`)
	if err != nil {
		return nil, nil, err
	}
	for _, key := range mine {
		if slices.Contains(wanted, key) {
			continue
		}
		gone, err := drop(key, idle)
		if err != nil {
			return nil, nil, err
		}
		if gone {
			dropped = append(dropped, key)
		}
	}
	return dropped, wanted, nil
}

// DeleteUnwantedBlobs calls drop with the keys of at most limit blobs that only rows referred to which are deleted,
// expired or replaced. Where drop reports false or an error, the blob is asked for again behind all others, and the
// errors are returned together. It returns how many blobs need not be asked for again.
func (s *Store) DeleteUnwantedBlobs(ctx context.Context, limit int, drop blobDrop) (done int, err error) {
	drop, failed := collecting(drop)
	err = db.Tx(ctx, s, "drop unwanted blobs", func(tx pgx.Tx) error {
		done = 0
		keys, err := db.Values[string](ctx, tx,
			`select key from unwanted_blobs order by at, key limit $1 for update skip locked`, limit)
		if err != nil || len(keys) == 0 {
			return err
		}
		gone, wanted, err := dropBlobs(ctx, tx, keys, drop)
		if err != nil {
			return err
		}
		settled := slices.Concat(gone, wanted)
		done = len(settled)
		if _, err := tx.Exec(ctx, `delete from unwanted_blobs where key = any($1)`, settled); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `update unwanted_blobs set at = now() where key = any($1)`, keys) // behind the others
		return err
	})
	return done, errors.Join(err, failed())
}

// DeleteOrphans calls drop with those of the keys that no row refers to, and returns how many were dropped. The errors
// of drop are returned together.
func (s *Store) DeleteOrphans(ctx context.Context, keys []string, drop blobDrop) (dropped int, err error) {
	drop, failed := collecting(drop)
	err = db.Tx(ctx, s, "drop orphans", func(tx pgx.Tx) error {
		gone, _, err := dropBlobs(ctx, tx, keys, drop)
		dropped = len(gone)
		return err
	})
	return dropped, errors.Join(err, failed())
}

// collecting is drop without errors, which failed returns together: a blob that cannot be deleted keeps no other one.
func collecting(drop blobDrop) (all blobDrop, failed func() error) {
	var errs []error
	return func(key string, idle bool) (bool, error) {
		gone, err := drop(key, idle)
		if err != nil {
			errs = append(errs, err)
		}
		return gone && err == nil, nil
	}, func() error { return errors.Join(errs...) }
}

// ClaimRound reports whether the caller is to do a round of work that one worker does for all: it was last begun longer
// ago than that.
func (s *Store) ClaimRound(ctx context.Context, what string, every time.Duration) (bool, error) {
	tag, err := db.Conns(s).Exec(ctx, `
		insert into rounds (what) values ($1) on conflict (what) do update set at = now() where rounds.at <= now() - $2::interval`, what, every)
	return tag.RowsAffected() > 0, db.Wrap("claim round", err)
}

// A FreedFigure is what a life cycle rule has freed in the last 30 days.
type FreedFigure struct {
	What   string // evidence, runs, symbols, unwanted, orphans
	Files  int64
	Bytes  int64
	LastAt time.Time
}

// CreateFreed records what a life cycle rule has freed.
func (s *Store) CreateFreed(ctx context.Context, what string, freed Removal) error {
	_, err := db.Conns(s).Exec(ctx, `
		insert into freed (day, what, files, bytes) values ((now() at time zone 'UTC')::date, $1, $2, $3)
		on conflict (day, what) do update set files = freed.files + excluded.files, bytes = freed.bytes + excluded.bytes, last_at = now()`,
		what, freed.Files, freed.Bytes)
	return db.Wrap("record what was freed", err)
}

// ListFreedFigures list what life cycle rules have freed in the last 30 days.
func (v View) ListFreedFigures(ctx context.Context) ([]FreedFigure, error) {
	list, err := db.All[FreedFigure](ctx, db.Q(v), `
		select what, sum(files)::bigint as files, sum(bytes)::bigint as bytes, max(last_at) as last_at from freed
		where day > (now() at time zone 'UTC')::date - 30 group by what order by what`)
	return list, db.Wrap("freed figures", err)
}

// LockBlobs keeps all blobs that rows name from being deleted until release is called, and waits for deletions under
// way. An error of release says that the connection was lost, and the lock with it. Only one caller at a time has the
// lock: another gets ErrConflict.
func (s *Store) LockBlobs(ctx context.Context) (release func() error, err error) {
	conn, err := db.Conns(s).Acquire(ctx)
	if err != nil {
		return nil, db.Wrap("lock blobs", err)
	}
	mine, err := db.Value[bool](ctx, conn, `select pg_try_advisory_lock($1)`, blobLock+1)
	if err == nil && mine {
		_, err = conn.Exec(ctx, `select pg_advisory_lock($1)`, blobLock)
	}
	end := func() error {
		_, err := conn.Exec(context.WithoutCancel(ctx), `select pg_advisory_unlock_all()`)
		if err != nil {
			return errors.Join(db.Wrap("lock of blobs", err), conn.Hijack().Close(context.WithoutCancel(ctx)))
		}
		conn.Release()
		return nil
	}
	switch {
	case err != nil:
		return nil, errors.Join(db.Wrap("lock blobs", err), end())
	case !mine:
		return nil, errors.Join(ErrConflict, end())
	}
	return end, nil
}

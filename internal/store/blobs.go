package store

import (
	"context"
	"path"
	"slices"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/store/internal/db"
)

// wantedBlobs are the keys of a list, $1, that something refers to.
const wantedBlobs = `
	select k from unnest($1::text[]) k where
		exists (select from evidence where sha256 = split_part(k, '/', 3) and expired_at is null) or exists (select from symbol_files where sha256 = split_part(k, '/', 3))
		or k in (select artifact from captures union all select table_key from captures union all select report_key from runs
			union all select table_key from runs union all select names_key from runs)`

// DeleteUnwantedBlobs calls drop with the keys of at most limit blobs that only deleted rows referred to. idle says
// that no job is running that might be about to refer to the same content. Where drop reports false, the blob is asked
// for again at the next call. Uploads of the same content that are recorded meanwhile wait. It returns how many were
// dropped.
func (s *Store) DeleteUnwantedBlobs(ctx context.Context, limit int,
	drop func(key string, idle bool) (bool, error)) (dropped int, err error) {
	err = db.Tx(ctx, s, "drop unwanted blobs", func(tx pgx.Tx) error {
		keys, err := db.Values[string](ctx, tx,
			`select key from unwanted_blobs order by at, key limit $1 for update skip locked`, limit)
		if err != nil || len(keys) == 0 {
			return err
		}
		slices.Sort(keys) // locks are taken in one order
		for _, key := range keys {
			if err := lockDigest(ctx, tx, path.Base(key)); err != nil {
				return err
			}
		}
		done, err := db.Values[string](ctx, tx, wantedBlobs, keys)
		if err != nil {
			return err
		}
		idle, err := db.Value[bool](ctx, tx, `select not exists (select from jobs where state = 'running')`)
		if err != nil {
			return err
		}
		var later []string
		for _, key := range keys {
			if slices.Contains(done, key) {
				continue
			}
			gone, err := drop(key, idle)
			if err != nil {
				return err
			}
			if gone {
				dropped++
				done = append(done, key)
			} else {
				later = append(later, key)
			}
		}
		if _, err := tx.Exec(ctx, `update unwanted_blobs set at = now() where key = any($1)`, later); err != nil { // behind the others
			return err
		}
		_, err = tx.Exec(ctx, `delete from unwanted_blobs where key = any($1)`, done)
		return err
	})
	return dropped, err
}

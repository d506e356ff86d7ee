package accountstore

import (
	"context"
	"time"

	"heapdrift/internal/store"
	"heapdrift/internal/store/internal/db"
)

// FindTokenTraffic is how many bytes came with a token since the day began, in UTC, and when the next one begins.
func FindTokenTraffic(ctx context.Context, s *store.Store, token int64) (bytes int64, until time.Time, err error) {
	type row struct {
		Bytes int64
		Until time.Time
	}
	r, err := db.One[row](ctx, db.Conns(s), `
		select coalesce((select bytes from token_days where token_id = $1 and day = (now() at time zone 'UTC')::date), 0) as bytes,
			((now() at time zone 'UTC')::date + 1)::timestamp at time zone 'UTC' as until`, token)
	return r.Bytes, r.Until, db.Wrap("bytes of a token", err)
}

// UpdateTokenTraffic counts bytes that came with a token.
func UpdateTokenTraffic(ctx context.Context, s *store.Store, token, bytes int64) error {
	_, err := db.Conns(s).Exec(ctx, `
		insert into token_days (token_id, day, bytes) values ($1, (now() at time zone 'UTC')::date, $2)
		on conflict (token_id, day) do update set bytes = token_days.bytes + excluded.bytes`, token, bytes)
	return db.Wrap("bytes of a token", err)
}

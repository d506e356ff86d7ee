package store

import (
	"context"
	"time"
)

// FindTokenTraffic is how many bytes came with a token since the day began, in UTC, and when the next one begins.
func (s *Store) FindTokenTraffic(ctx context.Context, token int64) (bytes int64, until time.Time, err error) {
	type row struct {
		Bytes int64
		Until time.Time
	}
	r, err := one[row](ctx, s.pool, `
		select coalesce((select bytes from token_days where token_id = $1 and day = (now() at time zone 'UTC')::date), 0) as bytes,
			((now() at time zone 'UTC')::date + 1)::timestamp at time zone 'UTC' as until`, token)
	return r.Bytes, r.Until, wrap("bytes of a token", err)
}

// UpdateTokenTraffic counts bytes that came with a token.
func (s *Store) UpdateTokenTraffic(ctx context.Context, token, bytes int64) error {
	_, err := s.pool.Exec(ctx, `
		insert into token_days (token_id, day, bytes) values ($1, (now() at time zone 'UTC')::date, $2)
		on conflict (token_id, day) do update set bytes = token_days.bytes + excluded.bytes`, token, bytes)
	return wrap("bytes of a token", err)
}

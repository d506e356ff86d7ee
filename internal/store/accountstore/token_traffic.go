package accountstore

import (
	"context"
	"errors"
	"time"

	"heapdrift/internal/store"
	"heapdrift/internal/store/internal/db"
)

// ErrTraffic says that a token may not upload so many bytes more today.
var ErrTraffic = errors.New("store: the token may not send so many bytes more today")

// FindTokenTraffic is how many bytes were uploaded with a token since the day began, in UTC, and when the next day
// begins. Reserved bytes count.
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

// ReserveTraffic counts bytes of a token before they arrive. It returns ErrTraffic if more than the quota of the day
// would be counted then. Simultaneous reservations take turns.
func ReserveTraffic(ctx context.Context, s *store.Store, token, bytes, quota int64) (store.Traffic, error) {
	day, err := db.Value[time.Time](ctx, db.Conns(s), `
		insert into token_days (token_id, day, bytes) select $1, (now() at time zone 'UTC')::date, $2 where $2::bigint <= $3::bigint
		on conflict (token_id, day) do update set bytes = token_days.bytes + excluded.bytes
			where token_days.bytes + excluded.bytes <= $3 returning day`, token, bytes, quota)
	if err = db.Wrap("bytes of a token", err); errors.Is(err, store.ErrNotFound) {
		err = ErrTraffic
	}
	return store.Traffic{TokenID: token, Day: day, Bytes: bytes}, err
}

// ReleaseTraffic takes back what was reserved and did not arrive.
func ReleaseTraffic(ctx context.Context, s *store.Store, t store.Traffic) error {
	if t.Bytes == 0 {
		return nil
	}
	_, err := db.Conns(s).Exec(ctx,
		`update token_days set bytes = greatest(bytes - $3, 0) where token_id = $1 and day = $2`, t.TokenID, t.Day, t.Bytes)
	return db.Wrap("bytes of a token", err)
}

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
	if err := endLostReservations(ctx, s, token); err != nil {
		return 0, until, err
	}
	type row struct {
		Bytes int64
		Until time.Time
	}
	r, err := db.One[row](ctx, db.Conns(s), `
		select coalesce((select bytes from token_days where token_id = $1 and day = (now() at time zone 'UTC')::date), 0) as bytes,
			((now() at time zone 'UTC')::date + 1)::timestamp at time zone 'UTC' as until`, token)
	return r.Bytes, r.Until, db.Wrap("bytes of a token", err)
}

// reservationGrace is how long a reservation stays without a sign of life of its server, which says every 5 s that it
// is there.
const reservationGrace = time.Minute

// ReserveTraffic counts bytes of a token before they arrive. It returns ErrTraffic if more than the quota of the day
// would be counted then. Simultaneous reservations take turns. Reservations of servers that are gone end before.
func ReserveTraffic(ctx context.Context, s *store.Store, token, bytes, quota int64) (store.Traffic, error) {
	if err := endLostReservations(ctx, s, token); err != nil {
		return store.Traffic{}, err
	}
	type row struct {
		ID  int64
		Day time.Time
	}
	r, err := db.One[row](ctx, db.Conns(s), `
		with counted as (
			insert into token_days (token_id, day, bytes) select $1, (now() at time zone 'UTC')::date, $2 where $2::bigint <= $3::bigint
			on conflict (token_id, day) do update set bytes = token_days.bytes + excluded.bytes
				where token_days.bytes + excluded.bytes <= $3 returning day)
		insert into token_reservations (token_id, day, bytes, node_id) select $1, day, $2, $4 from counted returning id, day`,
		token, bytes, quota, s.NodeID)
	if err = db.Wrap("bytes of a token", err); errors.Is(err, store.ErrNotFound) {
		err = ErrTraffic
	}
	return store.Traffic{TokenID: token, Day: r.Day, Bytes: bytes, Reservation: r.ID}, err
}

// endLostReservations takes back what servers had reserved for a token that have not been seen for reservationGrace.
func endLostReservations(ctx context.Context, s *store.Store, token int64) error {
	_, err := db.Conns(s).Exec(ctx, `
		with lost as (
			select id from token_reservations r where token_id = $1 and at < now() - $2::interval
				and not exists (select from nodes n where n.id = r.node_id and n.seen_at >= now() - $2::interval)
			for update skip locked),
		ended as (delete from token_reservations r using lost where r.id = lost.id returning r.day, r.bytes)
		update token_days t set bytes = greatest(t.bytes - e.bytes, 0)
		from (select day, sum(bytes) as bytes from ended group by day) e where t.token_id = $1 and t.day = e.day`, token, reservationGrace)
	return db.Wrap("reservations of a token", err)
}

// ReleaseTraffic ends a reservation: of its bytes, those that came stay counted. One that had ended with its server,
// because that was only slow, counts them again.
func ReleaseTraffic(ctx context.Context, s *store.Store, t store.Traffic, came int64) error {
	if t.TokenID == 0 {
		return nil
	}
	_, err := db.Conns(s).Exec(ctx, `
		with ended as (delete from token_reservations where id = $1 returning bytes)
		update token_days set bytes = greatest(bytes + $4 - coalesce((select bytes from ended), 0), 0)
		where token_id = $2 and day = $3`, t.Reservation, t.TokenID, t.Day, came)
	return db.Wrap("bytes of a token", err)
}

// Package uploadstore keeps resumable uploads under way in PostgreSQL. In come their identifiers and what was received;
// out come uploads, one writer at a time, or an error such as ErrBusy. The bytes are in the blob store.
package uploadstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"heapdrift/internal/store"
	"heapdrift/internal/store/internal/db"
)

// ErrBusy says that another request is writing to the same upload.
var ErrBusy = errors.New("store: the upload is being written to by another request")

// An Upload is a resumable upload under way. Its parts lie in the blob store.
type Upload struct {
	ID        string
	Length    int64           // bytes of the whole file
	Received  int64           // bytes so far
	Parts     int             // how many parts are stored
	HashState []byte          // state of the digest over the bytes so far
	Target    json.RawMessage // where the file belongs, as JSON
	Result    json.RawMessage // answer to the client once it is complete; nil before
}

const uploadColumns = `id, length, received, parts, hash_state, target, result`

// CreateUpload records a new upload.
func CreateUpload(ctx context.Context, s *store.Store, u Upload) error {
	_, err := db.Conns(s).Exec(ctx,
		`insert into uploads (id, length, target) values ($1, $2, $3)`, u.ID, u.Length, u.Target)
	return db.Wrap("create upload", err)
}

// FindUpload returns an upload, or store.ErrNotFound.
func FindUpload(ctx context.Context, v store.View, id string) (Upload, error) {
	u, err := db.One[Upload](ctx, db.Q(v), `select `+uploadColumns+` from uploads where id = $1`, id)
	return u, db.Wrap("upload", err)
}

// A LockedUpload is an upload that only its holder may write to, over all machines.
type LockedUpload struct {
	Upload
	conn *pgxpool.Conn
}

// LockUpload locks the upload for writing. It returns ErrBusy if another request has locked it, store.ErrNotFound if
// there is none. The caller must call Release.
func LockUpload(ctx context.Context, s *store.Store, id string) (*LockedUpload, error) {
	conn, err := db.Conns(s).Acquire(ctx)
	if err != nil {
		return nil, db.Wrap("lock upload", err)
	}
	l := &LockedUpload{conn: conn}
	if got, err := db.Value[bool](ctx, conn,
		`select pg_try_advisory_lock(hashtextextended($1, 0))`, id); err != nil || !got {
		conn.Release()
		if err == nil {
			return nil, ErrBusy
		}
		return nil, db.Wrap("lock upload", err)
	}
	l.ID = id
	if l.Upload, err = db.One[Upload](ctx, conn, `select `+uploadColumns+` from uploads where id = $1`, id); err != nil {
		l.ID = id
		l.Release(ctx)
		return nil, db.Wrap("lock upload", err)
	}
	return l, nil
}

// Release unlocks the upload.
func (l *LockedUpload) Release(ctx context.Context) {
	if _, err := l.conn.Exec(context.WithoutCancel(ctx), `select pg_advisory_unlock(hashtextextended($1, 0))`,
		l.ID); err != nil {
		_ = l.conn.Conn().Close(context.WithoutCancel(ctx)) // the lock dies with the connection
	}
	l.conn.Release()
}

// Advance records a stored part: received bytes and parts are totals, hashState is that of the digest.
func (l *LockedUpload) Advance(ctx context.Context, received int64, parts int, hashState []byte) error {
	_, err := l.conn.Exec(ctx,
		`update uploads set received = $2, parts = $3, hash_state = $4, touched_at = now() where id = $1`, l.ID,
		received, parts, hashState)
	if err == nil {
		l.Received, l.Parts, l.HashState = received, parts, hashState
	}
	return db.Wrap("advance upload", err)
}

// Complete records the answer to the client, so that a repeated last request gets the same one.
func (l *LockedUpload) Complete(ctx context.Context, result any) error {
	text, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("store: complete upload: %w", err)
	}
	_, err = l.conn.Exec(ctx,
		`update uploads set result = $2, received = length, hash_state = null, touched_at = now() where id = $1`, l.ID, text)
	if err == nil {
		l.Result, l.Received = text, l.Length
	}
	return db.Wrap("complete upload", err)
}

// UpdateTraffic records that the bytes of an upload count against the quota of a token, so that they can be released if
// the upload is abandoned. It returns store.ErrNotFound where the upload no longer exists.
func UpdateTraffic(ctx context.Context, s *store.Store, id string, t store.Traffic) error {
	tag, err := db.Conns(s).Exec(ctx, `
		update uploads set token_id = $2, token_day = $3,
			counted = $4 + case when token_id = $2 and token_day = $3 then counted else 0 end where id = $1`, id, t.TokenID, t.Day, t.Bytes)
	if err == nil && tag.RowsAffected() == 0 {
		return store.ErrNotFound
	}
	return db.Wrap("bytes of an upload", err)
}

// DeleteUpload deletes an upload. The bytes of one that has not become a file no longer count against the quota of its
// token, if they arrived today.
func DeleteUpload(ctx context.Context, s *store.Store, id string) error {
	_, err := db.Conns(s).Exec(ctx, `
		with gone as (delete from uploads where id = $1 returning token_id, token_day, counted, result)
		update token_days t set bytes = greatest(t.bytes - gone.counted, 0) from gone
		where gone.result is null and t.token_id = gone.token_id and t.day = gone.token_day`, id)
	return db.Wrap("delete upload", err)
}

// ListStaleUploads lists the uploads that were not written to for the given time; their parts may be deleted.
func ListStaleUploads(ctx context.Context, v store.View, age time.Duration) ([]Upload, error) {
	list, err := db.All[Upload](ctx, db.Q(v), `select `+uploadColumns+
		` from uploads where touched_at < now() - $1::interval order by touched_at limit 100`, age)
	return list, db.Wrap("stale uploads", err)
}

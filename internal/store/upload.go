package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrBusy says that another request is writing to the same upload.
var ErrBusy = errors.New("store: the upload is being written to by another request")

// An Upload is a resumable upload under way. Its parts lie in the blob store.
type Upload struct {
	ID        string
	Length    int64
	Received  int64
	Parts     int
	HashState []byte // running digest of what was received
	Target    json.RawMessage
	Result    json.RawMessage // answer to the client once it is complete; nil before
}

const uploadColumns = `id, length, received, parts, hash_state, target, result`

// CreateUpload records a new upload.
func (s *Store) CreateUpload(ctx context.Context, u Upload) error {
	_, err := s.pool.Exec(ctx, `insert into uploads (id, length, target) values ($1, $2, $3)`, u.ID, u.Length, u.Target)
	return wrap("create upload", err)
}

// FindUpload returns an upload, or ErrNotFound.
func (v View) FindUpload(ctx context.Context, id string) (Upload, error) {
	u, err := one[Upload](ctx, v.q, `select `+uploadColumns+` from uploads where id = $1`, id)
	return u, wrap("upload", err)
}

// A LockedUpload is an upload that only its holder may write to, on any machine.
type LockedUpload struct {
	Upload
	conn *pgxpool.Conn
}

// LockUpload takes the upload for writing: ErrBusy when somebody else has it, ErrNotFound when there is none.
// Release must be called.
func (s *Store) LockUpload(ctx context.Context, id string) (*LockedUpload, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, wrap("lock upload", err)
	}
	l := &LockedUpload{conn: conn}
	if got, err := value[bool](ctx, conn, `select pg_try_advisory_lock(hashtextextended($1, 0))`, id); err != nil || !got {
		conn.Release()
		if err == nil {
			return nil, ErrBusy
		}
		return nil, wrap("lock upload", err)
	}
	l.ID = id
	if l.Upload, err = one[Upload](ctx, conn, `select `+uploadColumns+` from uploads where id = $1`, id); err != nil {
		l.ID = id
		l.Release(ctx)
		return nil, wrap("lock upload", err)
	}
	return l, nil
}

// Release gives the upload back.
func (l *LockedUpload) Release(ctx context.Context) {
	if _, err := l.conn.Exec(context.WithoutCancel(ctx), `select pg_advisory_unlock(hashtextextended($1, 0))`,
		l.ID); err != nil {
		_ = l.conn.Conn().Close(context.WithoutCancel(ctx)) // the lock dies with the connection
	}
	l.conn.Release()
}

// Advance records a part that was stored: bytes received in all, parts in all, and the digest's state.
func (l *LockedUpload) Advance(ctx context.Context, received int64, parts int, hashState []byte) error {
	_, err := l.conn.Exec(ctx,
		`update uploads set received = $2, parts = $3, hash_state = $4, touched_at = now() where id = $1`, l.ID,
		received, parts, hashState)
	if err == nil {
		l.Received, l.Parts, l.HashState = received, parts, hashState
	}
	return wrap("advance upload", err)
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
	return wrap("complete upload", err)
}

// DeleteUpload forgets an upload.
func (s *Store) DeleteUpload(ctx context.Context, id string) error {
	_, err := s.pool.Exec(ctx, `delete from uploads where id = $1`, id)
	return wrap("delete upload", err)
}

// ListStaleUploads lists uploads that nobody has touched for the given time, whose parts may be deleted.
func (v View) ListStaleUploads(ctx context.Context, age time.Duration) ([]Upload, error) {
	list, err := all[Upload](ctx, v.q, `select `+uploadColumns+
		` from uploads where touched_at < now() - $1::interval order by touched_at limit 100`, age)
	return list, wrap("stale uploads", err)
}

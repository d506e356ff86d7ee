package accountstore

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/accounts"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// A Token is the access of a CI job to one project.
type Token struct {
	ID         int64
	Name       string
	Prefix     string // its first characters
	Scopes     []accounts.Scope
	CreatedBy  string
	CreatedAt  time.Time
	ExpiresAt  *time.Time // nil for never
	LastUsedAt *time.Time // to the minute; nil for never
	RevokedAt  *time.Time // nil while it is valid
}

const tokenColumns = `id, name, prefix, scopes, created_by, created_at, expires_at, last_used_at, revoked_at` //nolint:gosec // names of columns

// ListTokens lists the tokens of a project, valid ones first. It returns store.ErrNotFound for no project.
func ListTokens(ctx context.Context, v store.View, project string) ([]Token, error) {
	id, err := v.FindProjectID(ctx, project)
	if err != nil {
		return nil, err
	}
	list, err := db.All[Token](ctx, db.Q(v), `select `+tokenColumns+
		` from tokens where project_id = $1 order by revoked_at is not null, id`, id)
	return list, db.Wrap("tokens", err)
}

// CreateToken stores a new token of a project: of t it uses Name, Prefix, Scopes, CreatedBy and ExpiresAt. It returns
// the stored row.
func CreateToken(ctx context.Context, s *store.Store, project string, t *Token, secret accounts.Secret) (added Token,
	err error) {
	if err := accounts.CheckTokenName(t.Name); err != nil {
		return added, err
	}
	if t.ExpiresAt != nil && t.ExpiresAt.Before(time.Now()) {
		return added, &leaks.FieldError{Field: "expires", Message: "is in the past"}
	}
	err = db.Tx(ctx, s, "add token", func(tx pgx.Tx) error {
		id, err := store.View{View: db.In(tx)}.FindProjectID(ctx, project)
		if err != nil {
			return err
		}
		added, err = db.One[Token](ctx, tx, `
			insert into tokens (project_id, name, prefix, digest, scopes, created_by, expires_at) values ($1, $2, $3, $4, $5, $6, $7) returning `+tokenColumns,
			id, t.Name, t.Prefix, secret.Digest, t.Scopes, t.CreatedBy, t.ExpiresAt)
		if err != nil {
			return err
		}
		return audit.RecordProjectChange(ctx, tx, id, t.CreatedBy, "token", map[string]any{},
			map[string]any{"token": t.Name, "prefix": t.Prefix, "scopes": t.Scopes, "expires": t.ExpiresAt})
	})
	return added, err
}

// RevokeToken ends a token of a project at once.
func RevokeToken(ctx context.Context, s *store.Store, project string, token int64, by string) error {
	return db.Tx(ctx, s, "revoke token", func(tx pgx.Tx) error {
		id, err := store.View{View: db.In(tx)}.FindProjectID(ctx, project)
		if err != nil {
			return err
		}
		t, err := db.One[Token](ctx, tx,
			`update tokens set revoked_at = coalesce(revoked_at, now()) where id = $1 and project_id = $2 returning `+
				tokenColumns, token, id)
		if errors.Is(err, pgx.ErrNoRows) {
			return store.ErrNotFound
		}
		if err != nil {
			return err
		}
		return audit.RecordProjectChange(ctx, tx, id, by, "token", map[string]any{"token": t.Name, "prefix": t.Prefix},
			map[string]any{"revoked": true})
	})
}

// FindTokenActor is the actor of a token, or store.ErrNotFound for one that is unknown, revoked or expired. It records
// when the token was used, to the minute.
func FindTokenActor(ctx context.Context, s *store.Store, digest []byte) (*accounts.Actor, error) {
	type row struct {
		ID        int64
		Name      string
		ProjectID int64
		Scopes    []accounts.Scope
		IsStale   bool
	}
	t, err := db.One[row](ctx, db.Conns(s), `
		select id, name, project_id, scopes, last_used_at is null or last_used_at < now() - interval '1 minute' as is_stale from tokens
		where digest = $1 and revoked_at is null and (expires_at is null or expires_at > now())`, digest)
	if err != nil {
		return nil, db.Wrap("token", err)
	}
	if t.IsStale {
		if _, err := db.Conns(s).Exec(ctx, `update tokens set last_used_at = now() where id = $1`, t.ID); err != nil {
			return nil, db.Wrap("token", err)
		}
	}
	return new(accounts.OfToken(t.ID, t.Name, t.ProjectID, t.Scopes)), nil
}

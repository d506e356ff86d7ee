package store

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/accounts"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// A Comment is what somebody wrote about a signature.
type Comment struct {
	ID    int64
	Actor string
	// Verified says that the actor was logged in; else the name is as somebody typed it.
	Verified bool
	Text     string
	At       time.Time
	// Signature is the one it was written under: another than the leak's own where that became part of the leak later.
	Signature string
}

// ListComments lists the comments on a leak and on the signatures that became part of it, oldest first, or returns
// ErrNotFound.
func (v View) ListComments(ctx context.Context, project, signature string) ([]Comment, error) {
	at, err := rootOf(ctx, db.Q(v), project, signature)
	if err != nil {
		return nil, err
	}
	list, err := db.All[Comment](ctx, db.Q(v), `
		select c.id, c.actor, c.verified, c.text, c.at, s.text as signature
		from signatures s join signature_comments c on c.signature_id = s.id where s.root_id = $1 order by c.id`, at.Root)
	return list, db.Wrap("comments", err)
}

// CreateComment adds a comment to a leak. It returns ErrNotFound, or a *leaks.FieldError for text that is empty or too
// long.
func (s *Store) CreateComment(ctx context.Context, project, signature, actor, text string) (Comment, error) {
	text = strings.TrimSpace(text)
	var c Comment
	if err := leaks.CheckActor(actor); err != nil {
		return c, err
	}
	if err := leaks.CheckComment(text); err != nil {
		return c, err
	}
	err := db.Tx(ctx, s, "comment", func(tx pgx.Tx) error {
		at, err := lockedRoot(ctx, tx, project, signature)
		if err != nil {
			return err
		}
		c, err = db.One[Comment](ctx, tx, `
			with counted as (update signatures set comments = comments + 1 where id = $1 returning text)
			insert into signature_comments (signature_id, actor, verified, text) values ($1, $2, $4, $3)
			returning id, actor, verified, text, at, (select counted.text from counted) as signature`, at.Root, actor, text, accounts.IsVerified(ctx, actor))
		if err != nil {
			return err
		}
		return audit.RecordSignatureChange(ctx, tx, at.Root, actor, "comment", map[string]any{}, map[string]any{"comment": c.ID})
	})
	return c, err
}

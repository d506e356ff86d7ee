package store

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/accounts"
	"heapdrift/internal/leaks"
)

// A Comment is what somebody wrote about a signature.
type Comment struct {
	ID    int64
	Actor string
	// Verified says that the actor was logged in; else the name is as somebody typed it.
	Verified bool
	Text     string
	At       time.Time
	// Signature is the text it was written under, which became part of another since; else that of the signature itself.
	Signature string
}

// ListComments lists what was written about a signature and about those that became part of it, oldest first, or says
// ErrNotFound.
func (v View) ListComments(ctx context.Context, project, signature string) ([]Comment, error) {
	at, err := rootOf(ctx, v.q, project, signature)
	if err != nil {
		return nil, err
	}
	list, err := all[Comment](ctx, v.q, `
		select c.id, c.actor, c.verified, c.text, c.at, s.text as signature
		from signatures s join signature_comments c on c.signature_id = s.id where s.root_id = $1 order by c.id`, at.Root)
	return list, wrap("comments", err)
}

// CreateComment writes about a signature. It returns ErrNotFound, or a *leaks.FieldError for text that is empty or too
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
	err := s.tx(ctx, "comment", func(tx pgx.Tx) error {
		at, err := lockedRoot(ctx, tx, project, signature)
		if err != nil {
			return err
		}
		c, err = one[Comment](ctx, tx, `
			with counted as (update signatures set comments = comments + 1 where id = $1 returning text)
			insert into signature_comments (signature_id, actor, verified, text) values ($1, $2, $4, $3)
			returning id, actor, verified, text, at, (select counted.text from counted) as signature`, at.Root, actor, text, accounts.IsVerified(ctx, actor))
		if err != nil {
			return err
		}
		return audit(ctx, tx, at.Root, actor, "comment", map[string]any{}, map[string]any{"comment": c.ID})
	})
	return c, err
}

// An AuditRow says who changed what about a signature or a project, and when. Before and After are JSON objects of the
// fields that changed.
type AuditRow struct {
	ID        int64
	Actor     string // "" for what followed from runs
	Verified  bool   // whether the actor was logged in; else the name is as somebody typed it
	Action    string // triage, comment, merge, split, alias, outline, state; of a project order, rules, policy, member, token, project, download, delete
	Before    json.RawMessage
	After     json.RawMessage
	At        time.Time
	Signature string // that it was done to; "" for a project
}

// An AuditQuery chooses a page of an audit.
type AuditQuery struct {
	After  int64 // id of a row: only older ones; 0 for the newest
	Offset int   // rows of these that are passed over
	Limit  int
}

// ListAudit lists what was done to a signature and to those that became part of it, newest first, or says ErrNotFound.
func (v View) ListAudit(ctx context.Context, project, signature string, q AuditQuery) ([]AuditRow, error) {
	at, err := rootOf(ctx, v.q, project, signature)
	if err != nil {
		return nil, err
	}
	list, err := all[AuditRow](ctx, v.q, `
		select a.id, a.actor, a.verified, a.action, a.before, a.after, a.at, s.text as signature from signatures s join signature_audit a on a.signature_id = s.id
		where s.root_id = $1 and ($2 = 0 or a.id < $2) order by a.id desc limit $3 offset $4`, at.Root, q.After, q.Limit, q.Offset)
	return list, wrap("audit", err)
}

// ListProjectAudit lists the changes of a project except those of its signatures, newest first, or says ErrNotFound.
func (v View) ListProjectAudit(ctx context.Context, project string, q AuditQuery) ([]AuditRow, error) {
	id, err := projectID(ctx, v.q, project)
	if err != nil {
		return nil, err
	}
	list, err := all[AuditRow](ctx, v.q, `
		select id, actor, verified, action, before, after, at, '' as signature from project_audit
		where project_id = $1 and ($2 = 0 or id < $2) order by id desc limit $3 offset $4`, id, q.After, q.Limit, q.Offset)
	return list, wrap("audit of a project", err)
}

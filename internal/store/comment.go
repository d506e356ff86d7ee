package store

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Comment is what somebody wrote about a signature.
type Comment struct {
	ID    int64
	Actor string
	Text  string
	At    time.Time
	// Signature is the text it was written under, which became part of another since; else that of the signature itself.
	Signature string
}

// Comments lists what was written about a signature and about those that became part of it, oldest first, or says ErrNotFound.
func (s *Store) Comments(ctx context.Context, project, signature string) ([]Comment, error) {
	_, _, root, err := rootOf(ctx, s.pool, project, signature)
	if err != nil {
		return nil, err
	}
	rows, _ := s.pool.Query(ctx, `
		select c.id, c.actor, c.text, c.at, s.text from signatures s join signature_comments c on c.signature_id = s.id where s.root_id = $1 order by c.id`, root)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Comment])
	return list, wrap("comments", err)
}

// AddComment writes about a signature. It returns ErrNotFound, or a *TargetError for text that is empty or too long.
func (s *Store) AddComment(ctx context.Context, project, signature, actor, text string) (Comment, error) {
	text = strings.TrimSpace(text)
	c := Comment{Actor: actor, Text: text}
	if err := checkActor(actor); err != nil {
		return c, err
	}
	if text == "" {
		return c, &TargetError{"text", "is missing"}
	}
	if err := checkText("text", text, maxComment); err != nil {
		return c, err
	}
	err := s.tx(ctx, "comment", func(tx pgx.Tx) error {
		_, root, err := lockedRoot(ctx, tx, project, signature)
		if err != nil {
			return err
		}
		err = tx.QueryRow(ctx, `insert into signature_comments (signature_id, actor, text) values ($1, $2, $3) returning id, at`, root, actor, text).Scan(&c.ID, &c.At)
		if err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, `update signatures set comments = comments + 1 where id = $1 returning text`, root).Scan(&c.Signature); err != nil {
			return err
		}
		return audit(ctx, tx, root, actor, "comment", map[string]any{}, map[string]any{"comment": c.ID})
	})
	return c, err
}

// An AuditRow says who changed what about a signature, and when. Before and After are JSON objects of the fields that changed.
type AuditRow struct {
	ID        int64
	Actor     string // "" for what followed from runs
	Action    string // triage, comment, merge, split, alias, outline, state
	Before    json.RawMessage
	After     json.RawMessage
	At        time.Time
	Signature string // that it was done to
}

// Audit lists what was done to a signature and to those that became part of it, newest first, or says ErrNotFound.
func (s *Store) Audit(ctx context.Context, project, signature string, limit, offset int) ([]AuditRow, error) {
	_, _, root, err := rootOf(ctx, s.pool, project, signature)
	if err != nil {
		return nil, err
	}
	rows, _ := s.pool.Query(ctx, `
		select a.id, a.actor, a.action, a.before, a.after, a.at, s.text from signatures s join signature_audit a on a.signature_id = s.id
		where s.root_id = $1 order by a.id desc limit $2 offset $3`, root, limit, offset)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[AuditRow])
	return list, wrap("audit", err)
}

package store

import (
	"context"
	"encoding/json"
	"time"

	"heapdrift/internal/store/internal/db"
)

// An AuditRow records who changed what of a signature, a project or the server, and when. Before and After are JSON
// objects of the fields that changed.
type AuditRow struct {
	ID        int64
	Actor     string // "" for a change that followed from runs
	Verified  bool   // whether the actor was logged in; else the name is as somebody typed it
	Action    string // triage, comment, merge, split, alias, outline, state; of a project order, rules, policy, member, token, project, download, delete
	Before    json.RawMessage
	After     json.RawMessage
	At        time.Time
	Signature string // signature that was changed; "" for a project
}

// An AuditPage chooses a page of an audit.
type AuditPage struct {
	AfterID int64 // id of a row: only older ones; 0 for the newest
	Offset  int   // how many of these rows to skip
	Limit   int   // most rows of the page
}

// ListSignatureChanges lists the changes of a leak and of the signatures that became part of it, newest first, or
// returns ErrNotFound.
func (v View) ListSignatureChanges(ctx context.Context, project, signature string, q AuditPage) ([]AuditRow, error) {
	at, err := rootOf(ctx, db.Q(v), project, signature)
	if err != nil {
		return nil, err
	}
	list, err := db.All[AuditRow](ctx, db.Q(v), `
		select a.id, a.actor, a.verified, a.action, a.before, a.after, a.at, s.text as signature from signatures s join signature_audit a on a.signature_id = s.id
		where s.root_id = $1 and ($2 = 0 or a.id < $2) order by a.id desc limit $3 offset $4`, at.Root, q.AfterID, q.Limit, q.Offset)
	return list, db.Wrap("audit", err)
}

// ListProjectChanges lists the changes of a project without those of its signatures, newest first, or returns
// ErrNotFound.
func (v View) ListProjectChanges(ctx context.Context, project string, q AuditPage) ([]AuditRow, error) {
	id, err := projectID(ctx, db.Q(v), project)
	if err != nil {
		return nil, err
	}
	list, err := db.All[AuditRow](ctx, db.Q(v), `
		select id, actor, verified, action, before, after, at, '' as signature from project_audit
		where project_id = $1 and ($2 = 0 or id < $2) order by id desc limit $3 offset $4`, id, q.AfterID, q.Limit, q.Offset)
	return list, db.Wrap("audit of a project", err)
}

// ListServerChanges lists the changes of accounts and the deletions of projects, newest first.
func (v View) ListServerChanges(ctx context.Context, q AuditPage) ([]AuditRow, error) {
	list, err := db.All[AuditRow](ctx, db.Q(v), `
		select id, actor, verified, action, before, after, at, '' as signature from server_audit
		where $1 = 0 or id < $1 order by id desc limit $2 offset $3`, q.AfterID, q.Limit, q.Offset)
	return list, db.Wrap("audit of the server", err)
}

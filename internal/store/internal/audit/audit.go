// Package audit writes the lines of the audits: who changed what about a signature, a project or the server. Each line
// is written in the transaction of the change. In come the fields before and after; nothing comes out but an error.
package audit

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/accounts"
)

// RecordSignatureChange records who changed what about a signature; actor is "" for what followed from runs.
func RecordSignatureChange(
	ctx context.Context, tx pgx.Tx, signature int64, actor, action string, before, after any,
) error {
	return insert(ctx, tx, `insert into signature_audit (signature_id, actor, verified, action, before, after)`, signature,
		actor, action, before, after)
}

// RecordProjectChange records who changed what of a project; actor is "" where the server did it.
func RecordProjectChange(ctx context.Context, tx pgx.Tx, project int64, actor, action string, before, after any) error {
	return insert(ctx, tx, `insert into project_audit (project_id, actor, verified, action, before, after)`, project,
		actor, action, before, after)
}

func insert(ctx context.Context, tx pgx.Tx, into string, of int64, actor, action string, before, after any) error {
	old, now, err := texts(before, after)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, into+` values ($1, $2, $3, $4, $5, $6)`, of, actor, accounts.IsVerified(ctx, actor),
		action, old, now)
	return err
}

// RecordServerChange records who changed an account, or deleted a project.
func RecordServerChange(ctx context.Context, tx pgx.Tx, actor, action string, before, after any) error {
	old, now, err := texts(before, after)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `insert into server_audit (actor, verified, action, before, after) values ($1, $2, $3, $4, $5)`,
		actor, accounts.IsVerified(ctx, actor), action, old, now)
	return err
}

// texts are the JSON objects of a line.
func texts(before, after any) (old, now []byte, err error) {
	if old, err = json.Marshal(before); err != nil {
		return nil, nil, fmt.Errorf("audit: %w", err)
	}
	if now, err = json.Marshal(after); err != nil {
		return nil, nil, fmt.Errorf("audit: %w", err)
	}
	return old, now, nil
}

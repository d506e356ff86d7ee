package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// A keptDecision is the word of a signature as it was before another became part of it.
type keptDecision struct {
	leaks.TriageDecision
	Of int64 `json:"of"` // the signature; it may be part of a third by now
}

// triageDecisionColumns are what leaks.TriageDecision is made of, of a signature s.
const triageDecisionColumns = `s.mark, s.marked_by, s.reason, s.until, s.until_build, s.fixed_id, s.not_leak, s.not_leak_why, s.assignee, s.ticket`

// A versionedDecision is the team's word with its version.
type versionedDecision struct {
	leaks.TriageDecision
	Version int64
}

// triageDecisionOf returns the team's word, with the row locked.
func triageDecisionOf(ctx context.Context, tx pgx.Tx, id int64) (versionedDecision, error) {
	return db.One[versionedDecision](ctx, tx, `select `+triageDecisionColumns+
		`, s.version from signatures s where s.id = $1 for no key update`, id)
}

// saveTriageDecision stores the team's word and returns its new version.
func saveTriageDecision(ctx context.Context, tx pgx.Tx, id int64, w leaks.TriageDecision) (version int64, err error) {
	return db.Value[int64](ctx, tx, `
		update signatures set mark = $2, marked_by = $3, reason = $4, until = $5, until_build = $6, fixed_id = $7,
			not_leak = $8, assignee = $9, ticket = $10, not_leak_why = $11,
			version = version + 1 where id = $1 returning version`,
		id, w.Mark, w.MarkedBy, w.Reason, w.Until, w.UntilBuild, w.FixedID, w.NotLeak, w.Assignee, w.Ticket, w.NotLeakWhy)
}

// join makes a signature part of another, whose word is completed by that of the first. It reports false, with nothing
// changed, where the other is part of the first already. The first must not be part of another.
func join(ctx context.Context, tx pgx.Tx, from, into int64, actor string) (bool, error) {
	root, err := db.Value[int64](ctx, tx, `select root_id from signatures where id = $1`, into)
	if err != nil {
		return false, err
	}
	if root == from {
		return false, nil
	}
	part, err := triageDecisionOf(ctx, tx, from)
	if err != nil {
		return false, err
	}
	before, err := triageDecisionOf(ctx, tx, root)
	if err != nil {
		return false, err
	}
	version := before.Version
	var kept []byte
	if after := before.Joined(part.TriageDecision); !after.IsSame(&before.TriageDecision) {
		if kept, err = json.Marshal(keptDecision{before.TriageDecision, root}); err != nil {
			return false, err
		}
		if version, err = saveTriageDecision(ctx, tx, root, after); err != nil {
			return false, err
		}
	}
	_, err = tx.Exec(ctx,
		`update signatures set alias_of = $2, alias_by = $3, alias_at = now(), alias_word = $4, alias_version = $5 where id = $1`, from, into, actor, kept, version)
	if err != nil {
		return false, err
	}
	_, err = tx.Exec(ctx, `update signatures set root_id = $2 where root_id = $1`, from, root)
	return true, err
}

// separate makes a signature that is part of another one of its own again, with those that are part of it. The other
// signature loses what it took over from its word, unless the team has changed that word since. separate returns the
// other signature, whose history has changed.
func separate(ctx context.Context, tx pgx.Tx, id int64) (root int64, err error) {
	type alias struct {
		RootID       int64
		AliasWord    []byte
		AliasVersion *int64
	}
	was, err := db.One[alias](ctx, tx, `
		select root_id, alias_word, alias_version from signatures where id = $1 and alias_of is not null for no key update`, id)
	if err != nil {
		return 0, err
	}
	if was.AliasWord != nil {
		if err := restoreTriageDecision(ctx, tx, was.RootID, was.AliasWord, was.AliasVersion); err != nil {
			return 0, err
		}
	}
	_, err = tx.Exec(ctx,
		`update signatures set alias_of = null, alias_by = '', alias_at = null, alias_word = null, alias_version = null where id = $1`, id)
	if err != nil {
		return 0, err
	}
	_, err = tx.Exec(ctx, `
		with recursive parts as (
			select $1::bigint as id union select s.id from signatures s join parts p on s.alias_of = p.id)
		update signatures set root_id = $1 where id in (select id from parts)`, id)
	return was.RootID, err
}

// restoreTriageDecision gives a signature the word back that it had before another became part of it, unless the team
// has changed it since.
func restoreTriageDecision(ctx context.Context, tx pgx.Tx, root int64, kept []byte, version *int64) error {
	var before keptDecision
	if err := json.Unmarshal(kept, &before); err != nil {
		return fmt.Errorf("word of signature %d: %w", root, err)
	}
	now, err := triageDecisionOf(ctx, tx, before.Of)
	if err != nil || version == nil || now.Version != *version {
		return err
	}
	if before.FixedID != nil { // the build may be deleted since
		there, err := db.Value[bool](ctx, tx, `select exists (select from builds where id = $1)`, *before.FixedID)
		if err != nil {
			return err
		}
		if !there {
			before.Mark, before.MarkedBy, before.FixedID = "", "", nil
		}
	}
	_, err = saveTriageDecision(ctx, tx, before.Of, before.TriageDecision)
	return err
}

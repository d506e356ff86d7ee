package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// A word is what the team says of a signature, as audit rows and merges keep it.
type word struct {
	Mark       string     `json:"mark,omitempty"`
	MarkedBy   string     `json:"marked_by,omitempty"`
	Reason     string     `json:"reason,omitempty"`
	Until      *time.Time `json:"until,omitempty"`
	UntilBuild string     `json:"until_build,omitempty"`
	FixedID    *int64     `json:"fixed_id,omitempty"`
	NotLeak    bool       `json:"not_leak,omitempty"`
	Assignee   string     `json:"assignee,omitempty"`
	Ticket     string     `json:"ticket,omitempty"`
}

// A keptWord is the word of a signature as it was before another became part of it.
type keptWord struct {
	word
	Of int64 `json:"of"` // the signature; it may be part of a third by now
}

// same reports whether two words say the same. Instants are compared, not their zones.
func (w *word) same(other *word) bool {
	a, b := *w, *other
	a.Until, b.Until, a.FixedID, b.FixedID = nil, nil, nil, nil
	return a == b && equal(w.FixedID, other.FixedID) && (w.Until == nil) == (other.Until == nil) && (w.Until == nil || w.Until.Equal(*other.Until))
}

func equal(a, b *int64) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

// judged reports whether the word says what the signature is, and not only whose.
func (w *word) judged() bool { return w.Mark != "" || w.NotLeak }

// wordOf returns the team's word and its version, with the row locked.
func wordOf(ctx context.Context, tx pgx.Tx, id int64) (w word, version int64, err error) {
	err = tx.QueryRow(ctx, `
		select mark, marked_by, reason, until, until_build, fixed_id, not_leak, assignee, ticket, version from signatures where id = $1 for no key update`, id).
		Scan(&w.Mark, &w.MarkedBy, &w.Reason, &w.Until, &w.UntilBuild, &w.FixedID, &w.NotLeak, &w.Assignee, &w.Ticket, &version)
	return w, version, err
}

// say stores the team's word and returns its new version.
func say(ctx context.Context, tx pgx.Tx, id int64, w word) (version int64, err error) {
	err = tx.QueryRow(ctx, `
		update signatures set mark = $2, marked_by = $3, reason = $4, until = $5, until_build = $6, fixed_id = $7, not_leak = $8, assignee = $9, ticket = $10,
			version = version + 1 where id = $1 returning version`,
		id, w.Mark, w.MarkedBy, w.Reason, w.Until, w.UntilBuild, w.FixedID, w.NotLeak, w.Assignee, w.Ticket).Scan(&version)
	return version, err
}

// join makes a signature part of another, whose word is completed by that of the first. It reports false, with nothing
// changed, where the other is part of the first already. The first must not be part of another.
func join(ctx context.Context, tx pgx.Tx, from, into int64, actor string) (bool, error) {
	var root int64
	if err := tx.QueryRow(ctx, `select root_id from signatures where id = $1`, into).Scan(&root); err != nil {
		return false, err
	}
	if root == from {
		return false, nil
	}
	theirs, _, err := wordOf(ctx, tx, from)
	if err != nil {
		return false, err
	}
	before, version, err := wordOf(ctx, tx, root)
	if err != nil {
		return false, err
	}
	after := before
	if !after.judged() {
		after = theirs // whose it is remains the other's
	}
	after.Assignee, after.Ticket = first(before.Assignee, theirs.Assignee), first(before.Ticket, theirs.Ticket)
	var kept []byte
	if !after.same(&before) {
		if kept, err = json.Marshal(keptWord{before, root}); err != nil {
			return false, err
		}
		if version, err = say(ctx, tx, root, after); err != nil {
			return false, err
		}
	}
	_, err = tx.Exec(ctx, `update signatures set alias_of = $2, alias_by = $3, alias_at = now(), alias_word = $4, alias_version = $5 where id = $1`, from, into, actor, kept, version)
	if err != nil {
		return false, err
	}
	_, err = tx.Exec(ctx, `update signatures set root_id = $2 where root_id = $1`, from, root)
	return true, err
}

// separate makes a signature that is part of another one of its own again, with those that are part of it. What the other
// had of its word goes, unless the team has changed the word since. It returns the other, whose history is another one now.
func separate(ctx context.Context, tx pgx.Tx, id int64) (root int64, err error) {
	var kept []byte
	var version int64
	if err := tx.QueryRow(ctx, `select root_id, alias_word, alias_version from signatures where id = $1 and alias_of is not null for no key update`, id).Scan(&root, &kept, &version); err != nil {
		return 0, err
	}
	if kept != nil {
		var before keptWord
		if err := json.Unmarshal(kept, &before); err != nil {
			return 0, fmt.Errorf("word of signature %d: %w", root, err)
		}
		if _, now, err := wordOf(ctx, tx, before.Of); err != nil {
			return 0, err
		} else if now == version {
			if _, err := say(ctx, tx, before.Of, before.word); err != nil {
				return 0, err
			}
		}
	}
	_, err = tx.Exec(ctx, `update signatures set alias_of = null, alias_by = '', alias_at = null, alias_word = null, alias_version = null where id = $1`, id)
	if err != nil {
		return 0, err
	}
	_, err = tx.Exec(ctx, `
		with recursive parts as (
			select $1::bigint as id union select s.id from signatures s join parts p on s.alias_of = p.id)
		update signatures set root_id = $1 where id in (select id from parts)`, id)
	return root, err
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// audit records who changed what.
func audit(ctx context.Context, tx pgx.Tx, signature int64, actor, action string, before, after any) error {
	old, err := json.Marshal(before)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	now, err := json.Marshal(after)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	_, err = tx.Exec(ctx, `insert into signature_audit (signature_id, actor, action, before, after) values ($1, $2, $3, $4, $5)`, signature, actor, action, old, now)
	return err
}

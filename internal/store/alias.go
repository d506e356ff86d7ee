package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// An Alias is a signature that became part of another.
type Alias struct {
	Text  string
	Title string
	By    string // who merged it; "" where symbols or rules gave the same site another signature, ByOutline where it is the outline
	At    time.Time
}

// Aliases lists the signatures that became part of a signature, oldest first, or says ErrNotFound.
func (s *Store) Aliases(ctx context.Context, project, signature string) ([]Alias, error) {
	_, _, root, err := rootOf(ctx, s.pool, project, signature)
	if err != nil {
		return nil, err
	}
	rows, _ := s.pool.Query(ctx, `
		select text, title, alias_by, alias_at from signatures where root_id = $1 and alias_of is not null order by alias_at, id`, root)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Alias])
	return list, wrap("aliases", err)
}

// MergeSignatures makes a signature part of another: its comments, history and what the team says of it, where nothing is
// said of the other, go with it. It returns ErrNotFound, or a *TargetError where both are one already.
func (s *Store) MergeSignatures(ctx context.Context, project, from, into, actor string) error {
	if err := checkActor(actor); err != nil {
		return err
	}
	return s.tx(ctx, "merge signatures", func(tx pgx.Tx) error {
		projectID, source, err := lockedRoot(ctx, tx, project, from)
		if err != nil {
			return err
		}
		_, _, target, err := rootOf(ctx, tx, project, into)
		if err != nil {
			return err
		}
		if source == target {
			return &TargetError{"into", "is the same signature already"}
		}
		if _, err := join(ctx, tx, source, target, actor); err != nil {
			return err
		}
		if err := audit(ctx, tx, source, actor, "merge", map[string]any{}, map[string]any{"into": into}); err != nil {
			return err
		}
		return followHistory(ctx, tx, projectID, []int64{target}, actor)
	})
}

// SplitSignature takes a merge by hand back: what is an alias is a signature of its own again, with its comments and
// history. It returns ErrNotFound where the text is not that of an alias.
func (s *Store) SplitSignature(ctx context.Context, project, alias, actor string) error {
	if err := checkActor(actor); err != nil {
		return err
	}
	return s.tx(ctx, "split signature", func(tx pgx.Tx) error {
		projectID, _, err := lockedRoot(ctx, tx, project, alias)
		if err != nil {
			return err
		}
		_, own, _, err := rootOf(ctx, tx, project, alias)
		if err != nil {
			return err
		}
		var into string
		err = tx.QueryRow(ctx, `select other.text from signatures s join signatures other on other.id = s.alias_of where s.id = $1`, own).Scan(&into)
		if err != nil {
			return wrap("alias", err)
		}
		root, err := separate(ctx, tx, own)
		if err != nil {
			return err
		}
		// It stays apart: where its sites went is forgotten.
		if _, err := tx.Exec(ctx, `delete from signature_moves where from_id = $1`, own); err != nil {
			return err
		}
		if err := audit(ctx, tx, own, actor, "split", map[string]any{"into": into}, map[string]any{}); err != nil {
			return err
		}
		return followHistory(ctx, tx, projectID, []int64{own, root}, actor)
	})
}

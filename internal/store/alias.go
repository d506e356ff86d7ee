package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// An Alias is a signature that became part of another leak.
type Alias struct {
	Text  string // "sig1:…"
	Title string
	By    string // who merged it; "" where symbols or rules gave the same site another signature, leaks.ByOutline where it is the outline
	At    time.Time
}

// ListAliases lists the signatures that became part of a leak, oldest first, or returns ErrNotFound.
func (v View) ListAliases(ctx context.Context, project, signature string) ([]Alias, error) {
	at, err := rootOf(ctx, db.Q(v), project, signature)
	if err != nil {
		return nil, err
	}
	list, err := db.All[Alias](ctx, db.Q(v), `
		select text, title, alias_by as by, alias_at as at from signatures where root_id = $1 and alias_of is not null order by alias_at, id`, at.Root)
	return list, db.Wrap("aliases", err)
}

// MergeSignature makes a signature part of another, or separates it again where into is "". It returns ErrNotFound
// where there is no such signature, and a *leaks.FieldError where it cannot become part of the other.
func (s *Store) MergeSignature(ctx context.Context, project, signature, into, actor string) error {
	if err := leaks.CheckActor(actor); err != nil {
		return err
	}
	if into == "" {
		return s.split(ctx, project, signature, actor)
	}
	return s.merge(ctx, project, signature, into, actor)
}

// merge makes a signature part of another: its comments, history and what the team says of it, where nothing is said of
// the other, go with it.
func (s *Store) merge(ctx context.Context, project, from, into, actor string) error {
	return db.Tx(ctx, s, "merge signatures", func(tx pgx.Tx) error {
		source, err := lockedRoot(ctx, tx, project, from)
		if err != nil {
			return err
		}
		target, err := rootOf(ctx, tx, project, into)
		switch {
		case errors.Is(err, ErrNotFound):
			return &leaks.FieldError{Field: "into", Message: fmt.Sprintf("the project has no signature %q", into)}
		case err != nil:
			return err
		case source.Root == target.Root:
			return &leaks.FieldError{Field: "into", Message: "is the same signature already"}
		}
		if _, err := join(ctx, tx, source.Root, target.Root, actor); err != nil {
			return err
		}
		if err := audit.RecordSignatureChange(ctx, tx, source.Root, actor, "merge", map[string]any{},
			map[string]any{"into": into}); err != nil {
			return err
		}
		return followRoots(ctx, tx, source.Project, []int64{target.Root}, actor)
	})
}

// split takes a merge by hand back: what is an alias is a signature of its own again, with its comments and
// history. It returns ErrNotFound where the text is not that of an alias.
func (s *Store) split(ctx context.Context, project, alias, actor string) error {
	return db.Tx(ctx, s, "split signature", func(tx pgx.Tx) error {
		at, err := lockedRoot(ctx, tx, project, alias)
		if err != nil {
			return err
		}
		into, err := db.Value[string](ctx, tx,
			`select other.text from signatures s join signatures other on other.id = s.alias_of where s.id = $1`, at.Own)
		if err != nil {
			return db.Wrap("alias", err)
		}
		root, err := separate(ctx, tx, at.Own)
		if err != nil {
			return err
		}
		// It stays apart: where its sites went is forgotten.
		if _, err := tx.Exec(ctx, `delete from signature_moves where from_id = $1`, at.Own); err != nil {
			return err
		}
		if err := audit.RecordSignatureChange(ctx, tx, at.Own, actor, "split", map[string]any{"into": into},
			map[string]any{}); err != nil {
			return err
		}
		return followRoots(ctx, tx, at.Project, []int64{at.Own, root}, actor)
	})
}

package store

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/audit"
	"heapdrift/internal/store/internal/db"
)

// recordColumns are what leaks.Record is made of, of a signature s, but for its comments. Now is the instant of the
// snapshot: what is tolerated until a date ends by itself.
const recordColumns = triageDecisionColumns +
	`, s.version, s.state as state_by_runs, s.until_over, s.fixed_by_runs, s.known as rule_known, s.owner, now() as now`

const triageColumns = recordColumns +
	`, (select coalesce(sum(part.comments), 0) from signatures part where part.root_id = s.id) as comments`

// triageRow is triageColumns.
type triageRow struct {
	leaks.TriageRecord
	Now time.Time
}

func (r *triageRow) triage() leaks.Triage { return r.TriageAt(r.Now) }

// UpdateTriage changes what the team says of a leak and records who did it. It returns ErrNotFound, ErrConflict, or a
// *leaks.FieldError that says which field is wrong.
func (s *Store) UpdateTriage(ctx context.Context, project, signature string, change leaks.TriageChange) (
	after leaks.Triage, err error,
) {
	if err := change.Check(); err != nil {
		return after, err
	}
	err = db.Tx(ctx, s, "triage", func(tx pgx.Tx) error {
		after, err = changeTriage(ctx, tx, project, signature, change)
		return err
	})
	return after, err
}

// A PickedSignature is a leak that somebody picked from a list. Version is the version of its triage that the list
// showed, negative for any.
type PickedSignature struct {
	Signature string
	Version   int64
}

// UpdateTriages makes the same change of several leaks: of all, or of none. Its errors are those of UpdateTriage.
func (s *Store) UpdateTriages(
	ctx context.Context, project string, picks []PickedSignature, change leaks.TriageChange,
) error {
	if err := change.Check(); err != nil {
		return err
	}
	return db.Tx(ctx, s, "triage of several", func(tx pgx.Tx) error {
		var inProject int64
		var roots []int64 // whose word changes: what follows is drawn once for all, as there may be hundreds
		for _, pick := range picks {
			change.Version = pick.Version
			at, changed, err := sayTriage(ctx, tx, project, pick.Signature, change)
			if err != nil {
				return err
			}
			if inProject = at.Project; changed && !slices.Contains(roots, at.Root) {
				roots = append(roots, at.Root)
			}
		}
		if len(roots) == 0 {
			return nil
		}
		return followRoots(ctx, tx, inProject, roots, change.Actor)
	})
}

// changeTriage changes what the team says of a signature, with what follows from it.
func changeTriage(ctx context.Context, tx pgx.Tx, project, signature string,
	change leaks.TriageChange) (leaks.Triage, error) {
	at, changed, err := sayTriage(ctx, tx, project, signature, change)
	if err != nil {
		return leaks.Triage{}, err
	}
	if changed {
		if err := followRoots(ctx, tx, at.Project, []int64{at.Root}, change.Actor); err != nil {
			return leaks.Triage{}, err
		}
	}
	row, err := db.One[triageRow](ctx, tx, `select `+triageColumns+` from signatures s where s.id = $1`, at.Root)
	return row.triage(), err
}

// sayTriage stores the team's new word and who said it, and reports whether it is another one. What follows from it is
// not drawn yet.
func sayTriage(ctx context.Context, tx pgx.Tx, project, signature string,
	change leaks.TriageChange) (at signatureIDs, changed bool, err error) {
	if at, err = lockedRoot(ctx, tx, project, signature); err != nil {
		return at, false, err
	}
	before, err := triageDecisionOf(ctx, tx, at.Root)
	if err != nil {
		return at, false, err
	}
	if change.Version >= 0 && change.Version != before.Version {
		return at, false, ErrConflict
	}
	order := leaks.NewBuildOrder(nil)
	if change.Fixed != nil { // it names a build
		if order, err = readCalendar(ctx, tx, at.Project); err != nil {
			return at, false, err
		}
	}
	word, err := change.Apply(before.TriageDecision, order)
	if err != nil || word.IsSame(&before.TriageDecision) {
		return at, false, err
	}
	if _, err := saveTriageDecision(ctx, tx, at.Root, word); err != nil {
		return at, false, err
	}
	return at, true, audit.RecordSignatureChange(ctx, tx, at.Root, change.Actor, "triage", before.TriageDecision, word)
}

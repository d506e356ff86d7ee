package store

import (
	"context"
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
		for _, pick := range picks {
			change.Version = pick.Version
			if _, err := changeTriage(ctx, tx, project, pick.Signature, change); err != nil {
				return err
			}
		}
		return nil
	})
}

func changeTriage(ctx context.Context, tx pgx.Tx, project, signature string,
	change leaks.TriageChange) (leaks.Triage, error) {
	at, err := lockedRoot(ctx, tx, project, signature)
	if err != nil {
		return leaks.Triage{}, err
	}
	before, err := triageDecisionOf(ctx, tx, at.Root)
	if err != nil {
		return leaks.Triage{}, err
	}
	if change.Version >= 0 && change.Version != before.Version {
		return leaks.Triage{}, ErrConflict
	}
	order := leaks.NewBuildOrder(nil)
	if change.Fixed != nil { // it names a build
		if order, err = readCalendar(ctx, tx, at.Project); err != nil {
			return leaks.Triage{}, err
		}
	}
	word, err := change.Apply(before.TriageDecision, order)
	if err != nil {
		return leaks.Triage{}, err
	}
	if !word.IsSame(&before.TriageDecision) {
		if err := changeTriageDecision(ctx, tx, at, change.Actor, before.TriageDecision, word); err != nil {
			return leaks.Triage{}, err
		}
	}
	row, err := db.One[triageRow](ctx, tx, `select `+triageColumns+` from signatures s where s.id = $1`, at.Root)
	return row.triage(), err
}

// changeTriageDecision stores the team's new word, who said it, and what follows from it.
func changeTriageDecision(ctx context.Context, tx pgx.Tx, at signatureIDs, actor string,
	before, after leaks.TriageDecision) error {
	if _, err := saveTriageDecision(ctx, tx, at.Root, after); err != nil {
		return err
	}
	if err := audit.RecordSignatureChange(ctx, tx, at.Root, actor, "triage", before, after); err != nil {
		return err
	}
	return followRoots(ctx, tx, at.Project, []int64{at.Root}, actor)
}

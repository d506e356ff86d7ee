package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store/internal/db"
)

// These are the rules in SQL, for the tests that compare them with the functions that decide.
const (
	BuildColumns  = buildColumns
	NewestFirst   = newestFirst
	OldestFirst   = oldestFirst
	ShownState    = shownState
	StacksOfRuns  = stacksOfRuns
	TriageColumns = triageColumns
	VariantSites  = variantSites
)

var (
	Classes      = classes
	Suspect      = suspect
	GravestFirst = gravestFirst
	StatedUnit   = statedUnit
	StatedBytes  = statedBytes
)

// TriageRow is a row of TriageColumns.
type TriageRow = triageRow

// SightingsOf reads what runs of a project say of signatures, by root: of a scenario and some builds, or of all where
// the scenario is 0.
func (v View) SightingsOf(ctx context.Context, project int64, roots []int64, scenario int64,
	builds []int64) (map[int64][]leaks.RunSighting, error) {
	h, err := readHistories(ctx, db.Q(v), project)
	if err != nil {
		return nil, err
	}
	subjects := map[int64]*subject{}
	for _, root := range roots {
		subjects[root] = &subject{id: root}
	}
	err = h.readSightings(ctx, subjects, roots, runScope{scenario, builds})
	list := map[int64][]leaks.RunSighting{}
	for root, s := range subjects {
		list[root] = s.runs
	}
	return list, err
}

// PreviewTriageWithin is PreviewTriage with another time limit.
func (s *Store) PreviewTriageWithin(ctx context.Context, project, signature string, change leaks.TriageChange,
	work time.Duration) (*leaks.Impact, error) {
	return s.triageImpact(ctx, project, signature, change, work)
}

// ViewIn is a View of a transaction.
func ViewIn(tx pgx.Tx) View { return View{db.In(tx)} }

package store

import (
	"context"
	"time"

	"heapdrift/internal/leaks"
)

// The rules in the words of SQL, for the test that holds them against the functions that decide.
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
)

// TriageRow is TriageColumns.
type TriageRow = triageRow

// TriageImpactWithin is TriageImpact in another time.
func (s *Store) TriageImpactWithin(ctx context.Context, project, signature string, change leaks.Change,
	work time.Duration) (*leaks.Impact, error) {
	return s.triageImpact(ctx, project, signature, change, work)
}

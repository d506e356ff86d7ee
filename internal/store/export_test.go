package store

import (
	"context"
	"time"

	"heapdrift/internal/leaks"
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
)

// TriageRow is a row of TriageColumns.
type TriageRow = triageRow

// PreviewTriageWithin is PreviewTriage with another time limit.
func (s *Store) PreviewTriageWithin(ctx context.Context, project, signature string, change leaks.TriageChange,
	work time.Duration) (*leaks.Impact, error) {
	return s.triageImpact(ctx, project, signature, change, work)
}

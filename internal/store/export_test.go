package store

// The rules in the words of SQL, for the test that holds them against the functions that decide.
const (
	NewestFirst   = newestFirst
	OldestFirst   = oldestFirst
	ShownState    = shownState
	TriageColumns = triageColumns
)

var (
	Classes      = classes
	Suspect      = suspect
	GravestFirst = gravestFirst
	Place        = place
)

// TriageRow is TriageColumns.
type TriageRow = triageRow

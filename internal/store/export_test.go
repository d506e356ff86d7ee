package store

// The rules in the words of SQL, for the test that holds them against the functions that decide.
const (
	BuildColumns  = buildColumns
	NewestFirst   = newestFirst
	OldestFirst   = oldestFirst
	ShownState    = shownState
	TriageColumns = triageColumns
)

var (
	Classes      = classes
	Suspect      = suspect
	GravestFirst = gravestFirst
)

// TriageRow is TriageColumns.
type TriageRow = triageRow

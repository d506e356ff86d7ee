package run

import (
	"fmt"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/query"
)

// judgedText says what classes and reasons are of, where a part of a run is selected: of the selection, which is judged
// alone, or of all snapshots of a series; part are those that are selected. It is "" where the verdict says the same.
func judgedText(l *listing, alone bool, part *query.Snapshots, snapshots int) string {
	switch {
	case alone:
		return "Classes and reasons: this selection (" + l.selected() + "). Verdict: the whole run."
	case part != nil:
		return fmt.Sprintf("Classes and reasons: all %s. Held, blocks and growth: snapshots %d to %d.",
			quantity.Plural(snapshots, "snapshot"), part.From, part.To)
	}
	return ""
}

// selected names the part of a trace that is judged alone.
func (l *listing) selected() string {
	time := "the whole trace"
	if l.window.part {
		time = shownSeconds(l.window.From) + " to " + shownSeconds(l.window.To) + " s"
	}
	if l.more.OfAllocations() {
		return "some allocations of " + time
	}
	return time
}

package run

import (
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
)

// freeSide says what becomes of the memory that a stack allocates: how much of it the program freed, where the evidence
// records frees. What ends with the process was not freed by it.
func freeSide(l *analysis.Lifetimes, unit string) string {
	if l == nil {
		return "Record a trace to see how many of these blocks are freed, and at what age: snapshots record no frees."
	}
	all := l.AIFI.Count + l.AIFO.Count + l.AOFI.Count + l.AOFO.Count
	kept := l.AIFO.Count + l.AOFO.Count + l.AtExit.Count
	switch freed := max(0, all-kept); {
	case all == 0 && l.UnknownFrees == 0:
		return "No block of this site was allocated or freed in the trace."
	case all == 0:
		return "The trace has only frees of this stack, of blocks allocated before the trace."
	case freed == 0 && all == 1:
		return "The block in the trace was not freed."
	case freed == 0:
		return "None of the " + quantity.Plural(all, unit) + " in the trace was freed."
	case freed == all && all == 1:
		return "The block in the trace was freed."
	case freed == all:
		return "Each of the " + quantity.Plural(all, unit) + " in the trace was freed."
	default:
		return quantity.Count(freed) + " of the " + quantity.Plural(all, unit) +
			" in the trace were freed. The freeing stacks are not recorded."
	}
}

// freesHeading says of which time frees tells, where the page shows another one.
func (v siteView) freesHeading() string {
	if v.trace != nil && v.trace.listing.window.isChosen() {
		return "Frees in the whole trace"
	}
	return "Frees"
}

// frees is freeSide of a site over the whole of its evidence.
func (v siteView) frees() string {
	if v.trace == nil {
		return freeSide(nil, "")
	}
	return freeSide(lives(wholeNumbers(v.SiteRow)), unitOf(v.Kind))
}

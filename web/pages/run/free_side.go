package run

import (
	"heapdrift/ingest/figures"
	"heapdrift/internal/analysis"
)

// freeSide says what becomes of the memory that a stack allocates: how much of it the program freed, where the evidence
// records frees. What ends with the process was not freed by it.
func freeSide(l *analysis.Lifetimes, unit string) string {
	if l == nil {
		return "Snapshots record no frees: a trace says how many of these blocks are freed, and at which age."
	}
	all := l.AIFI.Count + l.AIFO.Count + l.AOFI.Count + l.AOFO.Count
	kept := l.AIFO.Count + l.AOFO.Count + l.AtExit.Count
	switch freed := max(0, all-kept); {
	case all == 0 && l.UnknownFrees == 0:
		return "The trace saw none of it allocated or freed."
	case all == 0:
		return "The trace has frees of this stack only, of what was allocated before it."
	case freed == 0 && all == 1:
		return "The one that the trace saw was not freed."
	case freed == 0:
		return "None of the " + figures.Plural(all, unit) + " that the trace saw was freed."
	case freed == all && all == 1:
		return "The one that the trace saw was freed."
	case freed == all:
		return "Each of the " + figures.Plural(all, unit) + " that the trace saw was freed."
	default:
		return figures.Count(freed) + " of the " + figures.Plural(all, unit) +
			" that the trace saw were freed. The stacks that freed them are not kept."
	}
}

// freesHeading says of which time frees tells, where the page shows another one.
func (v siteView) freesHeading() string {
	if v.trace != nil && v.trace.listing.window.isChosen() {
		return "What is freed of it in the whole trace"
	}
	return "What is freed of it"
}

// frees is freeSide of a site over the whole of its evidence.
func (v siteView) frees() string {
	if v.trace == nil {
		return freeSide(nil, "")
	}
	return freeSide(lives(wholeNumbers(v.SiteRow)), unitOf(v.Kind))
}

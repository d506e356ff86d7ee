package export

import (
	"fmt"
	"time"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
)

// textTrace writes what only traces have: what is covered, and the totals of the window by kind and heap.
func textTrace(p *printer, r *analysis.Report) {
	end := ""
	if at := r.Trace.ExitedNS; at != nil {
		end = ", process ended at " + at3(*at)
	}
	p.line("trace      from %s, covers %s to %s, %s events%s", orUnknown(r.Trace.Start), at3(r.Trace.FromNS),
		at3(r.Trace.ToNS), quantity.Count(r.Trace.Events), end)
	p.line("window     %s to %s", at3(r.Window.FromNS), at3(r.Window.ToNS))
	p.line("")
	p.line("%-24s %10s %10s %18s %18s %18s %10s", "", "impacting", "now", "allocated", "freed", "transient (AIFI)", "peak")
	noHeap, noVirtual := r.WhyUnrecorded()
	textTotals(p, "heap", &r.Totals.Heap, noHeap)
	textTotals(p, "virtual", &r.Totals.Virtual, noVirtual)
	if below := r.Totals.HeapVirtual; below != nil && below.Allocated.Count+below.Outstanding.Count > 0 {
		textTotals(p, "heaps' own commits*", below, "")
	}
	for i := range r.Heaps {
		textTotals(p, "heap "+r.Heaps[i].Handle, &r.Heaps[i].Amounts, "")
	}
	if r.Totals.HeapVirtual != nil && r.Totals.HeapVirtual.Allocated.Count > 0 {
		p.line("* what heaps took from the system for their blocks: the bytes of the heaps, in no other total")
	}
}

// textTotals writes a row of the totals; absent says why there are none, "" where there are.
func textTotals(p *printer, name string, a *analysis.Amounts, absent string) {
	if absent != "" {
		p.line("%-24s %s", name, absent)
		return
	}
	peak := ""
	if a.Peak != nil {
		peak = quantity.Bytes(a.Peak.Bytes)
	}
	p.line("%-24s %10s %10s %18s %18s %18s %10s", name, change(a.Growth.Bytes), quantity.Bytes(a.Outstanding.Bytes),
		pair(a.Allocated), pair(a.Freed), pair(a.AIFI), peak)
	if a.AtExit.Count > 0 {
		p.line("%-24s %s in %s ended with the process", "", quantity.Bytes(a.AtExit.Bytes),
			quantity.Plural(a.AtExit.Count, "block"))
	}
}

func pair(a analysis.Amount) string {
	return fmt.Sprintf("%s in %s", quantity.Bytes(a.Bytes), quantity.Count(a.Count))
}

// at3 prints a time of a trace in seconds; what is rounded to 0 has no sign.
func at3(ns int64) string {
	return fmt.Sprintf("%.3f s", time.Duration(ns).Round(time.Millisecond).Seconds())
}

// lifetimeNote says of a site of a trace what its growth does not.
func lifetimeNote(a *analysis.Amounts) string {
	if a.Lifetimes == nil {
		return ""
	}
	s := fmt.Sprintf("    allocated %s, freed %s, transient %s", pair(a.Allocated), pair(a.Freed), pair(a.AIFI))
	if a.AtExit.Count > 0 {
		s += ", ended with the process " + pair(a.AtExit)
	}
	if a.Peak != nil {
		s += fmt.Sprintf(", peak %s at %s", quantity.Bytes(a.Peak.Bytes), at3(a.Peak.AtNS))
	}
	if a.UnknownFrees > 0 {
		s += fmt.Sprintf(", frees of unknown blocks %s", quantity.Count(a.UnknownFrees))
	}
	return s
}

package analysis

import (
	"fmt"
	"time"

	"heapdrift/ingest/quantity"
)

// whatOfTrace says what the process allocated in the window of a trace, and what it holds.
func whatOfTrace(r *Report, t *tally) string {
	name := nameOf(r)
	if isAbsent(r) {
		return name + " did not run in the window"
	}
	end := ""
	if r.Trace.ExitedNS != nil && *r.Trace.ExitedNS <= r.Window.ToNS {
		end = " and then ended"
	}
	// Of a circular trace the beginning is gone.
	span := SecondsText(max(0, min(r.Window.ToNS, r.Trace.ToNS)-max(r.Window.FromNS, r.Trace.FromNS)))
	allocated := r.Totals.Heap.Allocated.Plus(r.Totals.Virtual.Allocated)
	if allocated.Count == 0 {
		return fmt.Sprintf("%s allocated nothing in %s%s", name, span, end)
	}
	s := fmt.Sprintf("%s allocated %s in %s over %s%s", name, quantity.Bytes(allocated.Bytes), blocks(allocated.Count), span, end)
	if t.top == nil {
		return s + "; no site keeps growing"
	}
	grown := t.top.GrowthBeforeExit()
	if t.top.Lifetimes == nil { // of snapshots beside the trace
		return fmt.Sprintf("%s; only snapshots show growth, the most, %s in %s, from %s", s, quantity.Bytes(grown.Bytes),
			blocks(grown.Count), t.top.Where())
	}
	growth := r.Totals.Heap.GrowthBeforeExit().Plus(r.Totals.Virtual.GrowthBeforeExit())
	if growth.Bytes <= 0 && r.Trace.isTorn(r.Window.capture()) { // totals are of the time behind
		return fmt.Sprintf("%s; before the process freed its memory, the most, %s in %s, was held from %s", s,
			quantity.Bytes(grown.Bytes), blocks(grown.Count), t.top.Where())
	}
	when := "; at the end"
	if end != "" {
		when = "; just before"
	}
	more := fmt.Sprintf("%s more was held than at the start", quantity.Bytes(growth.Bytes))
	if r.Totals.Heap.UnknownFrees > 0 { // what they freed was there at the start
		more = "at most " + more
	}
	if growth.Bytes <= 0 {
		more = fmt.Sprintf("%s less was held than at the start while %s grew", quantity.Bytes(-growth.Bytes), places(t))
	}
	return fmt.Sprintf("%s%s %s, the most, %s in %s, from %s", s, when, more, quantity.Bytes(grown.Bytes),
		blocks(grown.Count), t.top.Where())
}

// SecondsText prints a duration of a trace, given in ns, in seconds.
func SecondsText(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d < time.Second:
		return fmt.Sprintf("%.3g ms", float64(d)/1e6)
	case d < 10*time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

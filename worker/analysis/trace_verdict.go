package analysis

import (
	"fmt"
	"strconv"
	"time"
)

// whatOfTrace says what was seen in the window of a trace.
func whatOfTrace(r *Report, growing int) string {
	name := r.Process.Name
	if name == "" {
		name = "Process " + strconv.FormatUint(uint64(r.Process.PID), 10)
	}
	if isAbsent(r) {
		return name + " did not run in the window"
	}
	end := ""
	if r.Trace.ExitedNS != nil && *r.Trace.ExitedNS <= r.Window.ToNS {
		end = " and then ended"
	}
	// Of a circular trace the beginning is gone.
	span := Seconds(max(0, min(r.Window.ToNS, r.Trace.ToNS)-max(r.Window.FromNS, r.Trace.FromNS)))
	allocated := sum(r.Totals.Heap.Allocated, r.Totals.Virtual.Allocated)
	if allocated.Count == 0 {
		return fmt.Sprintf("%s allocated nothing in %s%s", name, span, end)
	}
	s := fmt.Sprintf("%s allocated %s in %s over %s%s", name, Bytes(allocated.Bytes), blocks(allocated.Count), span, end)
	if growing == 0 {
		return s + "; nothing that it allocated was left"
	}
	growth := sum(r.Totals.Heap.BeforeExit(), r.Totals.Virtual.BeforeExit())
	top := mostGrown(r.Sites)
	grown := top.BeforeExit()
	when := "; at the end"
	if end != "" {
		when = "; just before"
	}
	more := fmt.Sprintf("%s more was outstanding than at the start", Bytes(growth.Bytes))
	if r.Totals.Heap.UnknownFrees > 0 { // what they freed was there at the start
		more = "at most " + more
	}
	if growth.Bytes <= 0 {
		more = fmt.Sprintf("%s less was outstanding in all while %s grew", Bytes(-growth.Bytes), stacks(growing))
	}
	return fmt.Sprintf("%s%s %s, the most, %s in %s, from %s", s, when, more, Bytes(grown.Bytes), blocks(grown.Count), top.Where())
}

// mostGrown is the site that grew most as of the instant before the process ended.
func mostGrown(sites []Site) *Site {
	best := &sites[0]
	for i := range sites {
		s := &sites[i]
		if s.Verdict == ClassGrowing && (best.Verdict != ClassGrowing || s.BeforeExit().Bytes > best.BeforeExit().Bytes) {
			best = s
		}
	}
	return best
}

func sum(a, b Amount) Amount { return Amount{a.Count + b.Count, a.Bytes + b.Bytes} }

// Seconds prints a duration of a trace.
func Seconds(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d < time.Second:
		return fmt.Sprintf("%.3g ms", float64(d)/1e6)
	case d < 10*time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

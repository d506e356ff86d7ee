package analysis

import (
	"fmt"
	"time"

	"heapdrift/ingest/capture"
)

// tolerance: one part in so many of a window may lie outside of the trace without a warning. Users type windows in
// round seconds.
const tolerance = 100

// checkCoverage warns when a window reaches beyond the trace, where growth would not be recorded.
func (s *series) checkCoverage(p part) {
	w, whole := p.Trace.Window, p.Trace.Whole()
	if w == whole { // the trace's reader warns of missing parts
		return
	}
	if len(p.Heaps) > 0 {
		whole.From = max(whole.From, p.Trace.HeapFrom)
	}
	outside := max(0, min(w.To, whole.From)-w.From) + max(0, w.To-max(w.From, whole.To))
	if w.From <= whole.To && w.To >= whole.From && outside <= windowOf(w).DurationNS/tolerance {
		return
	}
	at := func(ns int64) float64 { return time.Duration(ns).Round(time.Millisecond).Seconds() }
	s.warnings = append(s.warnings, Warning{Code: capture.Truncated, Count: 1, File: p.file, Message: fmt.Sprintf(
		"Choose a window inside the trace (%.3f s to %.3f s): this window is from %.3f s to %.3f s, and nothing outside was recorded.",
		at(whole.From), at(whole.To), at(w.From), at(w.To))})
}

// isInstant reports whether the window of a trace is too short to show anything.
func isInstant(r *Report) bool { return r.Trace != nil && r.Window.DurationNS == 0 }

// isAbsent reports whether the process of a trace did not run in the window.
func isAbsent(r *Report) bool {
	t := r.Trace
	return t != nil && (t.ExitedNS != nil && *t.ExitedNS < r.Window.FromNS ||
		t.BeganNS != nil && *t.BeganNS > r.Window.ToNS)
}

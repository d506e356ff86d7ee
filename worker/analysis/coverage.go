package analysis

import (
	"fmt"

	"heapdrift/ingest/capture"
)

// tolerance is which part of a window may lie outside of the trace without a word: windows are typed in round seconds.
const tolerance = 100

// checkCoverage says when a window reaches beyond the trace: that nothing grew there was not seen.
func (s *series) checkCoverage(p part) {
	t := p.Trace
	w := t.Window
	if w == t.Whole() { // what is missing of the whole trace, its reader says
		return
	}
	outside := max(0, min(w.To, t.From)-w.From) + max(0, w.To-max(w.From, t.To))
	if outside == 0 || outside <= (w.To-w.From)/tolerance {
		return
	}
	s.warnings = append(s.warnings, Warning{Code: capture.Truncated, Count: 1, File: p.file, Message: fmt.Sprintf(
		"the window from %.3f s to %.3f s reaches beyond the trace, which covers %.3f s to %.3f s: what happened outside is not known",
		float64(w.From)/1e9, float64(w.To)/1e9, float64(t.From)/1e9, float64(t.To)/1e9)})
}

// isAbsent reports whether the process of a trace did not run in the window.
func isAbsent(r *Report) bool {
	t := r.Trace
	return t != nil && (t.ExitedNS != nil && *t.ExitedNS < r.Window.FromNS || t.BeganNS != nil && *t.BeganNS > r.Window.ToNS)
}

package run

import (
	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
)

// heldOf is what a finding holds. Where part of it ended with the process, it is what was held just before:
// ByKind[0] is the run's own evidence and tells that. If Sites is 0, the run's own evidence does not show the
// finding, and what other kinds of evidence hold counts.
func heldOf(f *store.Finding) (held analysis.Amount, ended bool) {
	if f.Sites > 0 && len(f.ByKind) > 0 {
		if held, ended = f.ByKind[0].HeldBeforeExit(); ended {
			return held, true
		}
	}
	return f.Outstanding, false
}

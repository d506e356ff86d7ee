package run

import (
	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
)

// heldOf is what a finding holds, or what it held before the process ended: its own evidence is the first of its
// witnesses.
func heldOf(f *store.Finding) (held analysis.Amount, ended bool) {
	if f.Sites > 0 && len(f.Witnesses) > 0 {
		if held, ended = f.Witnesses[0].HeldBeforeExit(); ended {
			return held, true
		}
	}
	return f.Outstanding, false
}

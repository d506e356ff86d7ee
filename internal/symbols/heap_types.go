package symbols

import (
	"context"
	"sync"
)

// HeapTypes finds the structures of heaps in the PDBs of a library, for the reader of dumps. The zero value, without a
// library, finds none.
type HeapTypes struct {
	Library Library

	mu   sync.Mutex // several dumps may be read at once
	open []*Types
}

// Find opens the types of a PDB; nil where the library does not have it. They stay open until Close.
func (h *HeapTypes) Find(ctx context.Context, pdb, debugID string) *Types {
	if h.Library == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	t, err := OpenTypes(ctx, h.Library, pdb, debugID)
	if err != nil || t == nil { // the tables that are built in do as well
		return nil
	}
	h.open = append(h.open, t)
	return t
}

// Close closes the PDBs that were found.
func (h *HeapTypes) Close() {
	for _, t := range h.open {
		_ = t.Close() // read only
	}
	h.open = nil
}

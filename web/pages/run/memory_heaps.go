package run

import (
	"fmt"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis/footprint"
)

// grows reports whether any heap has something to be compared with.
func grows(heaps []capture.HeapFacts) bool {
	return slices.ContainsFunc(heaps, func(h capture.HeapFacts) bool { return h.Growth != nil })
}

// busyChange is how the busy bytes of a heap have changed: as it counts them, or else by the sizes that are listed; nil
// where nobody knows.
func busyChange(g *capture.HeapGrowth) *capture.Usage {
	switch {
	case g == nil:
		return nil
	case g.Busy != nil:
		return g.Busy
	}
	return g.Sizes
}

// virtualChange is how the number of virtual blocks of a heap has changed.
func virtualChange(h *capture.HeapFacts) string {
	return fmt.Sprintf("%s → %s", quantity.Count(h.Blocks.Count-h.Growth.Blocks.Count), quantity.Count(h.Blocks.Count))
}

// heapFreeTitle says how the committed bytes of a heap are used.
func heapFreeTitle(r *footprint.HeapFree) string {
	s := fmt.Sprintf("%s of %s are in use, %s are free", quantity.Bytes(r.Committed-r.Free),
		quantity.Bytes(r.Committed), quantity.Bytes(r.Free))
	if r.Largest > 0 {
		s += fmt.Sprintf("; largest free block: %s", quantity.Bytes(r.Largest))
	}
	return s
}

// heapFreeShare is a part of the bar of a heap.
func heapFreeShare(r *footprint.HeapFree, part int64) string {
	return percent(plotWidth * float64(part) / float64(r.Committed))
}

func percentOf(part float64) string { return fmt.Sprintf("%.1f %%", 100*part) }

// heapNote is what there is to say of a heap beside its figures; "" for nothing.
func heapNote(h *capture.HeapFacts) string {
	parts := []string{h.Kind, "", h.FrontEnd, h.Name, h.Note}
	if h.Doubtful {
		parts[1] = "implausible size"
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

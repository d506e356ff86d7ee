package run

import (
	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
)

// A numberColumn is a column of numbers in the table of a trace's sites.
type numberColumn struct {
	sortColumn
	of     func(analysis.Amounts) (analysis.Amount, bool) // false where it is not known
	signed bool
	counts bool // shows the count, else the bytes
}

func numberOf(order store.SiteOrder, text, class, title string,
	of func(analysis.Amounts) (analysis.Amount, bool)) numberColumn {
	return numberColumn{sortColumn: sortColumn{order, text, "num k-" + class, title, "descending"}, of: of}
}

func (c numberColumn) ofGrowth() numberColumn { c.signed = true; return c }
func (c numberColumn) ofCounts() numberColumn { c.counts = true; return c }

var (
	columnImpacting = numberOf("growth", "Impacting", "growth",
		"impacting size: bytes held at the window's end minus bytes at its start", impacting).ofGrowth()
	columnCount = numberOf("count", "Count", "count",
		"blocks held at the window's end minus blocks at its start", impacting).ofGrowth().ofCounts()
	columnBytes  = numberOf("bytes", "Outstanding", "bytes", "bytes held at the window's end", outstanding)
	columnSize   = numberOf("size", "Size", "size", "bytes allocated inside the window, freed or not", allocated)
	columnAllocs = numberOf("allocs", "Allocs", "allocs", "allocations inside the window, freed or not",
		allocated).ofCounts()
	columnTransient = numberOf("transient", "Transient", "transient",
		"AIFI: bytes allocated and freed inside the window", transient)
	columnPeak = numberOf("peak", "Peak", "peak",
		"most bytes held at once, over the whole trace", peakOf)
	columnExit = numberOf("exit", "Before exit", "exit", "bytes held just before the process exited",
		heldBeforeExit)
)

func heldBeforeExit(a analysis.Amounts) (analysis.Amount, bool) {
	held, _ := a.HeldBeforeExit()
	return held, true
}

// numbers are the columns of numbers. Where the process ended inside the window nothing is outstanding at its end: what
// was until then stands in the place.
func (t siteTable) numbers() []numberColumn {
	held := columnBytes
	if _, ended := t.trace.exited(); ended {
		held = columnExit
	}
	return []numberColumn{columnImpacting, columnCount, held, columnSize, columnAllocs, columnTransient, columnPeak}
}

// sorts reports whether the table can be sorted by a column.
func (t siteTable) sorts(c sortColumn) bool {
	if t.trace.windowed != nil {
		return windowOrders[c.order] != nil
	}
	return store.ValidSiteOrder(c.order)
}

// memoryOf says where a site's memory is, in the words of a narrow column.
func memoryOf(s store.SiteRow) (short, long string) {
	switch s.Kind {
	case "virtual":
		return "virtual", "committed by VirtualAlloc"
	case "heap-virtual":
		if s.Heap != "" {
			return "commits", "committed by heap " + s.Heap + " for its blocks: the same bytes as the blocks"
		}
		return "commits", "committed by a heap for its blocks: the same bytes as the blocks"
	}
	if s.Heap == "" {
		return "heap", "a heap that the trace does not name"
	}
	return shortHandle(s.Heap), "heap " + s.Heap
}

// unitOf is what a kind of memory is counted in.
func unitOf(kind string) string {
	if kind == "heap" {
		return "block"
	}
	return "commit"
}

package export

import (
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis/footprint"
)

// textMemoryHistory writes the memory over time: what each instant tells, what grew, what nothing explains, and how
// long limits last.
func textMemoryHistory(p *printer, c *footprint.MemoryHistory) {
	if c == nil {
		return
	}
	p.line("")
	p.line("memory over time, %s", c.Measure)
	p.line("    %-19s %10s %11s %10s  %s", "taken", "total", "unexplained", "blocks", "file")
	for i := range c.Instants {
		at := &c.Instants[i]
		taken := at.TakenAt
		if taken == "" {
			taken = "–"
		}
		note := ""
		if at.OtherLife {
			note = ", another process"
		}
		p.line("    %-19s %10s %11s %10s  %s%s", taken, sizeOrDash(at.Total), sizeOrDash(at.Unexplained), sizeOrDash(at.Blocks), at.File, note)
	}
	for _, sentence := range c.Sentences() {
		p.line("    %s", sentence)
	}
}

// sizeOrDash prints a size that is nil where nobody says.
func sizeOrDash(n *int64) string {
	if n == nil {
		return "–"
	}
	return quantity.Bytes(*n)
}

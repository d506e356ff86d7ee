package run

import (
	"fmt"
	"strconv"

	"github.com/a-h/templ"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/footprint"
	"heapdrift/internal/query"
	"heapdrift/web/pages/ui"
)

// atLeast stands before a size that may be larger.
var atLeast = ui.MutedFor("≥", "Lower bound: the evidence ends early.")

func snapshotsTable(r *reportView) *ui.Table {
	t := ui.NewTable("Snapshots", "tight",
		ui.NumCol("#"), ui.Col("Taken"), ui.NumCol("Held"), ui.NumCol("Blocks")).InBox("tall")
	for i, s := range r.Snapshots {
		held := []templ.Component{ui.Text(quantity.Bytes(s.Bytes))}
		if s.LowerBound {
			held = append([]templ.Component{atLeast}, held...)
		}
		t.Row(ui.NumCell(strconv.Itoa(i+1)), ui.TextCell("name muted", ui.OrDash(localTime(s.TakenAt))).Titled(s.File),
			ui.PartCell("num", held...).Titled(ui.ExactBytes(s.Bytes)), ui.CountCell(s.Count))
	}
	return t
}

func reportHeapsTable(r *reportView) *ui.Table {
	t := ui.NewTable("Heaps", "tight",
		ui.Col("Heap"), ui.NumCol("Held"), ui.NumCol("Blocks"), ui.NumCol("Growth")).InBox("tall")
	for _, h := range r.Heaps {
		t.Row(ui.TextCell("name mono", h.Handle).Titled(h.Handle), ui.BytesCell(h.Outstanding.Bytes),
			ui.CountCell(h.Outstanding.Count), ui.GrowthCell(ui.BytesGrowthText(ui.GrowthBytes(h.Amounts)).Of("")))
	}
	return t
}

// traceHeapsTable is all heaps of a trace, each with its line on its own scale.
func traceHeapsTable(v traceView) *ui.Table {
	t := ui.NewTable("Heaps", "tight heaps", ui.Col("Heap"), ui.Col("Over time"), ui.NumCol("Held"),
		ui.NumCol("Impacting")).InBox("tall")
	for _, h := range v.heapRows() {
		t.Row(ui.PartCell("name mono", ui.Link(v.listing.inHeap(h.handle).url(), shortHandle(h.handle))).Titled(h.handle),
			ui.PartCell("", stableLine(h.path)), ui.HeldCell(h.Outstanding.Bytes, h.Outstanding.Count),
			ui.GrowthCell(ui.BytesGrowthText(ui.GrowthBytes(h.Amounts)).Of("")))
	}
	return t
}

// partsTable is the parts of a signature, by heap and class.
func partsTable(parts []query.HeapPart) *ui.Table {
	t := ui.NewTable("", "tight", ui.Col("Heap"), ui.Col("Class"), ui.NumCol("Held"), ui.NumCol("Growth")).InBox("")
	for i := range parts {
		p := &parts[i]
		t.Row(ui.TextCell("mono", shortHandle(p.Heap)).Titled(p.Heap), ui.PartCell("", ui.ClassChip(string(p.Class))),
			ui.NumCell(quantity.Bytes(p.Held.Bytes)), ui.GrowthCell(growthOfPart(p.Growth).Of(p.Class)))
	}
	return t
}

// seriesTable is what a site held at each snapshot.
func seriesTable(v siteView) *ui.Table {
	t := ui.NewTable("Series", "", ui.Col("Snapshot"), ui.NumCol("Bytes"), ui.NumCol("Change")).InBox("series")
	for i, s := range v.steps() {
		t.Row(ui.TextCell("", strconv.Itoa(i+1)).Titled(s.taken), ui.BytesCell(s.bytes),
			ui.GrowthCell(s.change.Of(analysis.Class(v.Verdict))))
	}
	return t
}

// numbersTable is a site's numbers over the whole trace and in the window.
func numbersTable(v siteView) *ui.Table {
	head := []ui.Column{ui.Col("Bytes")}
	if v.trace.listing.window.part {
		head = append(head, ui.NumCol("In the window"))
	}
	t := ui.NewTable("Numbers", "", append(head, ui.NumCol("Whole trace"))...).InBox("series")
	for _, m := range v.measures() {
		cells := []ui.Cell{ui.TextCell("", m.name).Heading().Titled(m.title)}
		if v.trace.listing.window.part {
			cells = append(cells, ui.PartCell("num", siteNumber(m, v.inside(), v.SiteRow)))
		}
		t.Row(append(cells, ui.PartCell("num", siteNumber(m, wholeNumbers(v.SiteRow), v.SiteRow)))...)
	}
	return t
}

// mapTable says what the map of the address space shows.
func mapTable(m *spaceMap) *ui.Table {
	t := ui.NewTable("Map as a table", "tight", ui.Col("Addresses"), ui.NumCol("Used"), ui.NumCol("Committed"),
		ui.Col("Content")).Tall()
	for i := range m.lines {
		l := &m.lines[i]
		if l.fold != nil {
			t.Row(ui.TextCell("mono muted", fmt.Sprintf("%#x – %#x", l.fold.address, l.fold.end())), ui.DashCell(),
				ui.DashCell(), ui.TextCell("name", l.fold.text()))
			continue
		}
		taken, committed := l.sums.sum()
		content := []templ.Component{ui.Text(m.contents(&l.sums))}
		if text := l.leftOut(); text != "" {
			content = append(content, leftOutLine(text))
		}
		t.Row(ui.TextCell("mono muted", l.sums.bounds()), ui.BytesCell(taken), ui.BytesCell(committed),
			ui.PartCell("name", content...))
	}
	return t
}

// historyTable says what the chart of memory over time shows.
func historyTable(c *footprint.MemoryHistory) *ui.Table {
	uses := historyUses(c)
	head := []ui.Column{ui.Col("Taken"), ui.Col("Evidence"), ui.NumCol(measureTitle(c))}
	for _, use := range uses {
		head = append(head, ui.NumCol(useTitle(use)))
	}
	t := ui.NewTable("Memory over time", "tight", append(head,
		ui.NumCol("Heap blocks", "requested bytes, in evidence that lists allocations"),
		ui.NumCol("Address space", "address space that is not free"))...).Tall()
	for i := range c.Instants {
		at := &c.Instants[i]
		file := []templ.Component{ui.Text(at.File), ui.Muted(at.Kind)}
		if at.OtherLife {
			file = append(file, ui.Muted("another process"))
		}
		cells := []ui.Cell{ui.TextCell("muted nowrap", ui.OrDash(instantTime(c, i))), ui.PartCell("name", file...),
			useBytesCell(at.Total)}
		for _, use := range uses {
			cells = append(cells, useBytesCell(useBytes(at, use)))
		}
		t.Row(append(cells, blocksCell(at), useBytesCell(at.Taken))...)
	}
	if from, to, growth, by, ok := c.Growth(); ok {
		cells := []ui.Cell{ui.TextCell("", "First to last").Heading().Over(2).Titled(growthTitle(c, from, to, by)),
			changeCell(growth.Total)}
		for _, use := range uses {
			cells = append(cells, changeCell(useBytes(&growth, use)))
		}
		t.Foot(append(cells, changeCell(growth.Blocks), changeCell(growth.Taken))...)
	}
	return t
}

// blocksCell is what the blocks of heaps had, where the evidence lists allocations.
func blocksCell(at *footprint.Instant) ui.Cell {
	if at.Blocks == nil {
		return ui.PartCell("num", ui.Muted("–"))
	}
	parts := []templ.Component{titledText(ui.ExactBytes(*at.Blocks), quantity.Bytes(*at.Blocks))}
	if at.LowerBound {
		parts = append([]templ.Component{atLeast}, parts...)
	}
	if at.SinceStart {
		parts = append(parts, ui.MutedFor("in the trace", "without blocks allocated before the trace began"))
	}
	return ui.PartCell("num", parts...)
}

// useBytesCell is a size that is nil where nobody says.
func useBytesCell(n *int64) ui.Cell {
	if n == nil {
		return ui.DashCell()
	}
	return ui.BytesCell(*n)
}

// changeCell is a growth that is nil where nobody says.
func changeCell(n *int64) ui.Cell {
	if n == nil {
		return ui.PartCell("num", ui.Muted("–"))
	}
	return ui.GrowthCell(ui.BytesGrowthText(n).Of(""))
}

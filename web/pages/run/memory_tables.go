package run

import (
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/footprint"
	"heapdrift/web/pages/ui"
)

// usesTable is the address space by use.
func usesTable(s *capture.Space) *ui.Table {
	t := ui.NewTable("Address space by use", "uses", ui.Col("Use"),
		ui.Col("WinDbg", "name in !address -summary, current and older"),
		ui.NumCol("Reserved", "used address space, committed or not"), ui.NumCol("Committed"),
		ui.NumCol("Share", "of the committed bytes"), ui.NumCol("Private", "committed bytes that no other process shares"),
		ui.NumCol("Regions"), ui.NumCol("Largest"))
	for _, u := range s.Uses {
		word, part := footprint.NamesOfUse(u.Name), ""
		if u.Committed > 0 {
			part = share(u.Committed, footprint.CommittedBytes(s))
		}
		t.Row(ui.PartCell("", useMark(string(u.Name)), ui.Text(word.Title)).Heading().Titled(word.Meaning),
			ui.TextCell("muted", word.WinDbg).Titled(word.Classic),
			ui.BytesOrDash(u.Reserved), ui.BytesOrDash(u.Committed), ui.TextCell("num muted", part),
			ui.BytesOrDash(u.Private), ui.CountOrDash(u.Regions), ui.BytesOrDash(u.Largest))
	}
	return t
}

// groupsTable is a table of groups of blocks.
func groupsTable(m *analysis.Memory, g *groupTable) *ui.Table {
	head := []ui.Column{ui.Col("Blocks"), ui.NumCol("Count"), ui.NumCol("Bytes")}
	if g.shares {
		head = append(head, ui.NumCol("Share", "of the heap"))
	}
	if g.grows {
		head = append(head, ui.NumCol("Growth"))
	}
	if g.searched {
		head = append(head, ui.NumCol("Unreachable", "blocks that no pointer was found to"))
	}
	t := ui.NewTable(g.title, "", append(head, ui.Col("First"))...).Tall()
	for i := range g.rows {
		t.Row(groupCells(m, g, &g.rows[i])...)
	}
	return t
}

func groupCells(m *analysis.Memory, g *groupTable, row *capture.BlockGroup) []ui.Cell {
	cells := []ui.Cell{ui.TextCell("name mono", analysis.NameOfGroup(row)), ui.CountCell(row.Usage.Count),
		ui.BytesOrDash(row.Usage.Bytes)}
	if g.shares {
		cells = append(cells, ui.NumCell(groupShare(m, row)))
	}
	if g.grows {
		grown := ui.PartCell("num")
		if row.Growth != nil {
			grown = ui.GrowthCell(ui.BytesGrowthText(&row.Growth.Bytes).Of(""))
		}
		cells = append(cells, grown)
	}
	if g.searched {
		count := ""
		if row.Unreachable != nil {
			count = quantity.Count(row.Unreachable.Count)
		}
		cells = append(cells, ui.NumCell(count))
	}
	first := ""
	if row.Example != 0 {
		first = row.Example.String()
	}
	return append(cells, ui.TextCell("mono muted", first))
}

// claimsTable is the functions that another tool reports.
func claimsTable(m *analysis.Memory, stacks *analysis.Stacks, project string) *ui.Table {
	t := ui.NewTable("Functions", "", ui.Col("Function"), ui.Col("Type"), ui.NumCol("Count"), ui.NumCol("Bytes"),
		ui.NumCol("Leak probability (tool)", "estimated by the tool; its method is not public"), ui.Col("Samples")).Tall()
	for i := range m.Claims {
		c := &m.Claims[i]
		percent, details := "", ui.PartCell("")
		if c.Percent != nil {
			percent = strconv.Itoa(*c.Percent) + " %"
		}
		if list := withStacks(c.Samples); len(list) > 0 {
			details = ui.PartCell("", folded(strconv.Itoa(len(list)), samples(list, stacks, "")))
		}
		t.Row(functionCell(project, c.Signature, c.Where), ui.TextCell("muted", c.Type), ui.CountCell(c.Count),
			ui.BytesOrDash(c.Bytes), ui.NumCell(percent), details)
	}
	return t
}

// functionCell is a function, which leads to its leak where it has one.
func functionCell(project, signature, where string) ui.Cell {
	if signature == "" {
		return ui.TextCell("name mono", where)
	}
	return ui.PartCell("name mono", ui.Link(ui.SignatureURL(project, signature), where))
}

// reportedTable is the leaks that Application Verifier reports.
func reportedTable(list []analysis.ReportedLeaks, stacks *analysis.Stacks) *ui.Table {
	t := ui.NewTable("Application Verifier leaks", "", ui.Col("Stop"), ui.Col("Message"), ui.NumCol("Leaks"),
		ui.NumCol("Bytes"), ui.Col("Address"), ui.Col("Stack")).Tall()
	for i := range list {
		l := &list[i]
		stack := ui.Muted("–")
		if l.Stack != 0 {
			stack = folded(ui.OrDash(l.Where), stackOf(viewOfStack(stacks.Frames(l.Stack)), true, ui.Source{}))
		}
		t.Row(ui.TextCell("name", l.Title), ui.TextCell("", l.Note), ui.CountCell(l.Count), ui.BytesOrDash(l.Bytes),
			ui.TextCell("mono muted", ui.OrDash(strings.Join(l.Addresses, " "))), ui.PartCell("mono", stack))
	}
	return t
}

// unreachedTable is the blocks that nothing points to, by function.
func unreachedTable(list []analysis.UnreachedFinding, project string) *ui.Table {
	t := ui.NewTable("Unreferenced blocks by function", "", ui.Col("Blamed function"), ui.NumCol("Unreferenced"),
		ui.NumCol("Blocks"), ui.NumCol("Of"), ui.NumCol("Blocks")).Tall()
	for _, u := range list {
		t.Row(functionCell(project, u.Signature, u.Where), ui.BytesOrDash(u.Unreachable.Bytes),
			ui.CountCell(u.Unreachable.Count), ui.BytesOrDash(u.Outstanding.Bytes), ui.CountCell(u.Outstanding.Count))
	}
	return t
}

func managedTable(m *analysis.Memory) *ui.Table {
	t := ui.NewTable("Managed heaps", "", ui.Col("Heap"), ui.NumCol("Bytes"), ui.NumCol("Small objects"),
		ui.NumCol("Large objects"), ui.NumCol("Pinned"), ui.NumCol("Segments"))
	for _, h := range m.Managed {
		name := []templ.Component{ui.Text(h.Name)}
		if h.Guess {
			name = append(name, ui.Muted("guess"))
		}
		t.Row(ui.PartCell("name", name...), ui.BytesOrDash(h.Bytes), ui.BytesOrDash(h.Small), ui.BytesOrDash(h.Large),
			ui.BytesOrDash(h.Pinned), ui.CountCell(h.Segments))
	}
	t.Foot(ui.TextCell("", "Together").Heading(), ui.BytesCell(managedBytes(m)), ui.PartCell("").Over(4))
	return t
}

func reservationsTable(s *capture.Space) *ui.Table {
	t := ui.NewTable("Largest reservations", "", ui.Col("Address"), ui.NumCol("Reserved"), ui.NumCol("Committed"),
		ui.Col("Protection"), ui.Col("Use")).Tall()
	for _, r := range s.Largest {
		t.Row(ui.TextCell("name mono", r.Address.String()), ui.BytesOrDash(r.Reserved), ui.BytesOrDash(r.Committed),
			ui.TextCell("muted", r.Protect), ui.TextCell("muted", footprint.NamesOfUse(r.Use).Title))
	}
	return t
}

func threadsTable(m *analysis.Memory) *ui.Table {
	t := ui.NewTable("Threads", "tight", ui.NumCol("Id"), ui.Col("Name"), ui.NumCol("Stack"), ui.NumCol("Committed"),
		ui.Col("Started at")).Tall()
	for _, thread := range m.Threads {
		t.Row(ui.NumCell(strconv.FormatUint(uint64(thread.ID), 10)), ui.TextCell("name", ui.OrDash(thread.Name)),
			ui.BytesOrDash(thread.Reserved), ui.BytesOrDash(thread.Committed),
			ui.TextCell("mono muted", ui.OrDash(thread.Start)))
	}
	return t
}

func handlesTable(m *analysis.Memory) *ui.Table {
	t := ui.NewTable("Handles by type", "tight", ui.Col("Type"), ui.NumCol("Count"), ui.NumCol("Named")).Tall()
	for _, h := range m.Handles {
		t.Row(ui.TextCell("name", h.Type), ui.CountCell(h.Count), ui.CountCell(h.Named))
	}
	return t
}

func sharesTable(s *capture.Space) *ui.Table {
	t := ui.NewTable("By state, type and protection", "tight", ui.Col("Names as in !address"), ui.NumCol("Regions"),
		ui.NumCol("Bytes")).Tall()
	for i, shares := range [][]capture.Share{s.States, s.Types, s.Protections} {
		if i > 0 {
			t.Body()
		}
		for _, r := range shares {
			t.Row(ui.TextCell("name mono", r.Name), ui.CountCell(r.Regions), ui.BytesCell(r.Bytes))
		}
	}
	return t
}

func unloadedTable(m *analysis.Memory) *ui.Table {
	t := ui.NewTable("Unloaded modules", "tight", ui.Col("Module"), ui.Col("Base"), ui.NumCol("Size")).Tall()
	for _, u := range m.Unloaded {
		t.Row(ui.TextCell("name", u.Name), ui.TextCell("mono muted", u.Base.String()),
			ui.NumCell(quantity.Bytes(int64(u.Size))))
	}
	return t
}

// heapsTable is the heaps with what is busy and free in them, and how they have changed.
func heapsTable(m *analysis.Memory) *ui.Table {
	head := []ui.Column{ui.Col("Heap"), ui.Col("Kind"), ui.NumCol("Reserved"), ui.NumCol("Committed"),
		ui.NumCol("Busy", "requested bytes"), ui.NumCol("Blocks"),
		ui.NumCol("Free inside", "free blocks in the committed bytes, including the low-fragmentation heap"),
		ui.Col("Use of the committed bytes", "busy, largest free block, other free blocks"),
		ui.NumCol("Largest free", "A larger allocation commits new memory, however much is free."),
		ui.NumCol("Scattered", "share of the free bytes outside the largest free block"),
		ui.NumCol("LFH", "busy blocks of the low-fragmentation heap"),
		ui.NumCol("Virtual", "blocks with their own reservation"), ui.NumCol("Segments"),
		ui.NumCol("UCRs", "uncommitted ranges in segments")}
	grew := grows(m.Heaps)
	if grew {
		head = append(head, ui.NumCol("Committed since"), ui.NumCol("Virtual since", "blocks with their own reservation"),
			ui.NumCol("Busy since", "of the listed sizes, if busy blocks are not counted"))
	}
	t := ui.NewTable("Heaps", "", head...).Tall()
	for i := range m.Heaps {
		h := &m.Heaps[i]
		cells := []ui.Cell{ui.TextCell("name mono", h.Handle.String()),
			ui.TextCell("muted", ui.OrDash(heapNote(h))).Titled(h.LayoutSource),
			ui.BytesOrDash(h.Reserved), ui.BytesOrDash(h.Committed), ui.BytesOrDash(h.Busy.Bytes), ui.CountOrDash(h.Busy.Count)}
		cells = append(cells, roomCells(h)...)
		cells = append(cells, ui.CountOrDash(h.LFH.Count), ui.CountOrDash(h.Blocks.Count), ui.CountOrDash(h.Segments),
			ui.CountOrDash(h.UncommittedRanges))
		if grew {
			cells = append(cells, heapGrowthCells(h)...)
		}
		t.Row(cells...)
	}
	return t
}

// roomCells are what is free inside of a heap: dashes where the evidence does not tell.
func roomCells(h *capture.HeapFacts) []ui.Cell {
	r, ok := footprint.HeapFreeOf(h)
	if !ok {
		return []ui.Cell{ui.DashCell(), ui.TextCell("muted", "not told"), ui.DashCell(), ui.DashCell()}
	}
	scattered := ui.DashCell()
	if part, told := r.ScatteredShare(); told {
		scattered = ui.NumCell(percentOf(part))
	}
	return []ui.Cell{
		ui.PartCell("num", ui.Text(quantity.Bytes(r.Free)), ui.Muted(share(r.Free, r.Committed))).
			Titled(ui.ExactBytes(r.Free)),
		ui.PartCell("", roomBar(&r)), ui.BytesOrDash(r.Largest), scattered}
}

// heapGrowthCells are how a heap has changed.
func heapGrowthCells(h *capture.HeapFacts) []ui.Cell {
	committed, blocks := ui.PartCell("num"), ui.PartCell("num", ui.Muted("–"))
	busy := ui.PartCell("num", ui.MutedFor("–", "not counted in both snapshots"))
	if g := h.Growth; g != nil {
		committed = ui.GrowthCell(ui.BytesGrowthText(&g.Committed).Of(""))
		if g.Blocks != nil {
			blocks = ui.NumCell(virtualChange(h))
		}
	}
	if u := busyChange(h.Growth); u != nil {
		busy = ui.GrowthCell(ui.BytesGrowthText(&u.Bytes).Of(""))
	}
	return []ui.Cell{committed, blocks, busy}
}

package ui

import (
	"context"
	"io"

	"github.com/a-h/templ"

	"heapdrift/ingest/quantity"
)

// A Table is a table in a box that scrolls sideways where the page is narrower.
type Table struct {
	name   string // for readers who hear the page
	class  string
	box    string // class of the box, "" for none
	role   string
	over   string // its caption, "" for none
	head   []Column
	bodies [][][]Cell
	foot   []Cell
}

// A Column is the heading of a column.
type Column struct {
	text, title string
	number      bool
	hidden      bool // for readers who hear the page alone
}

// Col is a column of texts; titles explain it.
func Col(text string, title ...string) Column {
	c := Column{text: text}
	for _, t := range title {
		c.title = t
	}
	return c
}

// NumCol is a column of numbers; titles explain it.
func NumCol(text string, title ...string) Column {
	c := Col(text, title...)
	c.number = true
	return c
}

// HiddenCol is a column whose heading only screen readers read.
func HiddenCol(text string) Column { return Column{text: text, hidden: true} }

// NewTable is a table without rows.
func NewTable(name, class string, head ...Column) *Table {
	return &Table{name: name, class: class, box: "scroll-x", role: "group", head: head, bodies: [][][]Cell{nil}}
}

// Tall lets the box scroll vertically, too.
func (t *Table) Tall() *Table {
	t.box = "scroll-x tall"
	return t
}

// InBox sets the CSS class of the box around the table; "" is for no box.
func (t *Table) InBox(class string) *Table {
	t.box = class
	return t
}

// Caption is a sentence over the table.
func (t *Table) Caption(text string) *Table {
	t.over = text
	return t
}

// Region makes the box a landmark for screen readers.
func (t *Table) Region() *Table {
	t.role = "region"
	return t
}

// Row adds a row.
func (t *Table) Row(cells ...Cell) {
	last := len(t.bodies) - 1
	t.bodies[last] = append(t.bodies[last], cells)
}

// Body begins another tbody: the rows that follow are set apart.
func (t *Table) Body() { t.bodies = append(t.bodies, nil) }

// Foot sets the last row, which sums up the others.
func (t *Table) Foot(cells ...Cell) { t.foot = cells }

// Render shows the table.
func (t *Table) Render(ctx context.Context, w io.Writer) error { return tableBox(t).Render(ctx, w) }

// Or is the table, or the note if it has no rows.
func (t *Table) Or(note string) templ.Component {
	if len(t.bodies) == 1 && len(t.bodies[0]) == 0 {
		return Note(note)
	}
	return t
}

// A Cell is a cell of a table.
type Cell struct {
	class, title string
	titled       bool // title is set, though it may be empty
	heading      bool // of its row
	span         int  // columns, 0 for one
	parts        []templ.Component
}

// PartCell shows the parts with spaces between them; class is its CSS class.
func PartCell(class string, parts ...templ.Component) Cell {
	c := Cell{class: class}
	for i, part := range parts {
		if i > 0 {
			c.parts = append(c.parts, space)
		}
		c.parts = append(c.parts, part)
	}
	return c
}

var space = Text(" ")

// TextCell is a text.
func TextCell(class, text string) Cell { return PartCell(class, Text(text)) }

// NumCell is a number.
func NumCell(text string) Cell { return TextCell("num", text) }

// CountCell is a number of things.
func CountCell(n int64) Cell { return NumCell(quantity.Count(n)) }

// BytesCell is a size.
func BytesCell(n int64) Cell { return NumCell(quantity.Bytes(n)).Titled(ExactBytes(n)) }

// HeldCell shows held bytes and the number of blocks.
func HeldCell(bytes, blocks int64) Cell {
	return NumCell(quantity.Bytes(bytes)).Titled(ExactBytes(bytes) + " in " + quantity.Plural(blocks, "block"))
}

// DashCell stands where a number is not there.
func DashCell() Cell { return TextCell("num muted", "–") }

// CountOrDash is a number of things; a dash for none.
func CountOrDash(n int64) Cell {
	if n == 0 {
		return DashCell()
	}
	return CountCell(n)
}

// BytesOrDash is a size; a dash for nothing.
func BytesOrDash(n int64) Cell {
	if n == 0 {
		return DashCell()
	}
	return BytesCell(n)
}

// GrowthCell is a growth.
func GrowthCell(c GrowthText) Cell { return PartCell("num", ShowGrowth(c)) }

// Titled sets the tooltip.
func (c Cell) Titled(title string) Cell {
	c.title, c.titled = title, true
	return c
}

// Heading makes the cell the heading of its row.
func (c Cell) Heading() Cell {
	c.heading = true
	return c
}

// Over makes the cell span so many columns.
func (c Cell) Over(columns int) Cell {
	c.span = columns
	return c
}

package query

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/export"
)

// Cells are a view as a table of texts: columns with stable names, bytes and ns as whole numbers.
type Cells struct {
	Columns []string
	Rows    [][]string
}

// WriteCSV writes the table with a line of names. Texts that a spreadsheet would run as a formula are made harmless.
func (c *Cells) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	_ = out.Write(c.Columns) // the error stays in the writer
	for _, row := range c.Rows {
		_ = out.Write(row)
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("query: write CSV: %w", err)
	}
	return nil
}

// numberColumns are the columns of Numbers.
var numberColumns = []string{"held_bytes", "held_count", "growth_bytes", "growth_count", "allocated_bytes",
	"allocated_count", "freed_bytes", "freed_count", "transient_bytes", "transient_count"}

func (n *Numbers) cells() []string {
	cells := []string{number(n.Held.Bytes), number(n.Held.Count)}
	for _, a := range []*analysis.Amount{n.Growth, n.Allocated, n.Freed, n.Transient} {
		if a == nil {
			cells = append(cells, "", "")
		} else {
			cells = append(cells, number(a.Bytes), number(a.Count))
		}
	}
	return cells
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// CellsOfRows makes Cells of a ranked table.
func CellsOfRows(rows []Row) *Cells {
	c := &Cells{Columns: append([]string{"signature", "kind", "class", "function", "place", "owner", "score", "sites"},
		numberColumns...)}
	for i := range rows {
		r := &rows[i]
		score := ""
		if r.Score != nil {
			score = strconv.FormatFloat(*r.Score, 'f', 4, 64)
		}
		c.Rows = append(c.Rows,
			append([]string{export.CSVCell(r.Signature), r.Kind, string(r.Class), export.CSVCell(r.Function),
				export.CSVCell(r.Place),
				export.CSVCell(r.Owner), score, strconv.Itoa(r.Sites)}, r.cells()...))
	}
	return c
}

// CellsOfGroups makes Cells of groups. name is the column of Group.Name.
func CellsOfGroups(name string, groups []Group) *Cells {
	c := &Cells{Columns: append([]string{name, "sites"}, numberColumns...)}
	for i := range groups {
		g := &groups[i]
		c.Rows = append(c.Rows, append([]string{export.CSVCell(g.Name), strconv.Itoa(g.Sites)}, g.cells()...))
	}
	return c
}

// Cells makes Cells of the sizes.
func (s *Sizes) Cells() *Cells {
	c := &Cells{Columns: []string{"from_bytes", "to_bytes", "bytes", "count"}}
	for _, class := range s.Classes {
		c.Rows = append(c.Rows, []string{number(class.From), number(class.To), number(class.Bytes), number(class.Count)})
	}
	return c
}

// Cells makes Cells of the allocations. A time or a thread that the trace does not know is empty.
func (a *Allocations) Cells() *Cells {
	c := &Cells{Columns: []string{"signature", "function", "place", "kind", "heap", "address", "thread", "commit_ns",
		"decommit_ns", "impacting_size", "size", "count", "end"}}
	at := func(ns *int64) string {
		if ns == nil {
			return ""
		}
		return number(*ns)
	}
	for i := range a.List {
		r := &a.List[i]
		thread := ""
		if r.Thread != nil {
			thread = number(int64(*r.Thread))
		}
		c.Rows = append(c.Rows, []string{
			export.CSVCell(r.Signature), export.CSVCell(r.Function), export.CSVCell(r.Place), r.Kind, r.Heap, r.Address, thread,
			at(r.CommitNS), at(r.FreedNS), strconv.FormatUint(r.Impacting, 10), strconv.FormatUint(r.Size, 10),
			number(r.Count), r.End,
		})
	}
	return c
}

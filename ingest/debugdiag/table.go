package debugdiag

// Bounds of one table. What comes behind them is passed over and counted.
const (
	maxCells     = 1 << 17
	maxTableText = 16 << 20 // bytes
	maxDepth     = 32       // tables in tables
)

// A cell is a cell of a table: its text, and the last anchor in it.
type cell struct {
	text string
	name string
}

// A row is a row of a table with the hooks of an analysis summary.
type row struct {
	cells      []cell
	dump, rule string
}

func (r *row) text(i int) string {
	if i < len(r.cells) {
		return r.cells[i].text
	}
	return ""
}

// A table is the rows of a table, or the further rows of one that was handed on in pieces.
type table struct {
	header row // the first row, also of the pieces that follow
	rows   []row
	cells  int
	bytes  int
}

// An open table is one whose end was not met yet.
//
// A table in a cell is handed on when it ends, not when the table around it does. So a page that is laid out in one
// table is not held as a whole. Only the first of the tables side by side in a row waits for the second: they are a bar
// graph.
type openTable struct {
	table
	row     row
	inRow   bool
	inCell  bool
	place   int // of the open cell in its row
	name    string
	text    prose
	divs    int    // open ones where the cell began
	held    *table // the captions of what may be a bar graph
	heldAt  int    // place of the cell that holds them
	graphed bool   // the row was a bar graph: what else is in it is bars
}

// full reports whether the table has no room for more.
func (t *openTable) full() bool { return t.cells >= maxCells || t.bytes >= maxTableText }

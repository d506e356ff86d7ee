package run

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis/footprint"
)

// The size of the map, in rows, and what is left out of one of 64 bits.
const (
	mapRows = 16
	// foldOver is how long a gap is at least, or memory that is only reserved, that is named instead of drawn.
	foldOver = 64 << 20
	// shownReserve is how much is drawn of memory that is only reserved and longer than that.
	shownReserve = 16 << 20
	// namedFolds is how many of them, the longest, have a line of their own. The others have a sign in the middle of a
	// row.
	namedFolds = 11
	leastRow   = 1 << 20 // bytes in a row of 64 bits
)

const gigabyte = 1 << 30

// A spaceMap is the address space by address, ready to draw.
type spaceMap struct {
	lines    []mapLine
	rowBytes int64
	end      int64 // of a 32-bit program: what its address space is drawn up to; 0 where what is long is left out
	limit    int64 // what it may use; 0 where the evidence does not tell
	above    int64 // committed bytes that lie behind the end: the 64-bit side of a 32-bit program
	grain    int64
	partial  bool
	folds    int
	signs    bool // some of them have no line of their own
	uses     []capture.UseName
	reserved bool // some cells are mostly reserved
	sparse   bool // some cells are mostly free
}

// A mapLine is a row of the map, or what is left out between two rows.
type mapLine struct {
	fold  *fold
	rects []mapRect
	sums  cell
	folds []*fold // that have a sign in the row
}

// A fold is address space that is not drawn.
type fold struct {
	address uint64
	bytes   int64
	use     capture.UseName // that reserves it; free, or "" where nobody knows
}

func (f *fold) end() uint64 { return f.address + uint64(f.bytes) }

func (f *fold) text() string {
	switch f.use {
	case capture.UseFree:
		return quantity.Bytes(f.bytes) + " free"
	case "":
		return quantity.Bytes(f.bytes) + " that the evidence does not list"
	}
	return quantity.Bytes(f.bytes) + " reserved and not committed: " + footprint.NamesOfUse(f.use).Title
}

// mapOf draws the map of the address space; nil where the evidence has none.
func mapOf(s *capture.Space) *spaceMap {
	if s == nil || s.Map == nil || len(s.Map.Stretches) == 0 {
		return nil
	}
	m := &spaceMap{grain: s.Map.Grain, partial: s.Partial}
	if s.Bits == 32 {
		m.drawWhole(s)
	} else {
		m.drawFolded(s)
	}
	return m
}

// drawWhole draws all of a 32-bit address space: up to its limit, or where that is not known to the next GB behind what
// is taken.
func (m *spaceMap) drawWhole(s *capture.Space) {
	end := uint64(2 * gigabyte)
	for i := range s.Map.Stretches {
		if at := s.Map.Stretches[i].End(); at <= 4*gigabyte {
			end = max(end, (at+gigabyte-1)/gigabyte*gigabyte)
		}
	}
	if s.Limit > 0 {
		end, m.limit = uint64(min(s.Limit, 4*gigabyte)), s.Limit
	}
	m.end, m.rowBytes = int64(end), int64(end)/mapRows
	c := &canvas{cellBytes: float64(m.rowBytes) / rowCells}
	at := uint64(0)
	free := func(to uint64) {
		c.draw(&drawnSpan{address: at, size: float64(to - at), drawn: float64(to - at), use: capture.UseFree})
		at = to
	}
	for i := range s.Map.Stretches {
		st := &s.Map.Stretches[i]
		if uint64(st.Address) >= end {
			m.above += max(0, st.Committed)
			continue
		}
		free(uint64(st.Address))
		at = min(end, st.End())
		size := float64(at - uint64(st.Address))
		part := size / float64(st.Size)
		c.draw(&drawnSpan{uint64(st.Address), size, size, st.Use, float64(st.Taken) * part, float64(st.Committed) * part})
	}
	free(end)
	m.takeRows(c)
}

// A mapArea is what is drawn between two folds that have a line of their own.
type mapArea struct {
	before *fold
	parts  []mapPart
}

// A mapPart is a span, or a fold that has no line of its own.
type mapPart struct {
	span drawnSpan
	fold *fold
}

// drawFolded draws what is taken, and leaves out what is long and empty.
func (m *spaceMap) drawFolded(s *capture.Space) {
	parts := partsOf(s)
	var folds []*fold
	for i := range parts {
		if parts[i].fold != nil {
			folds = append(folds, parts[i].fold)
		}
	}
	slices.SortStableFunc(folds, func(a, b *fold) int { return cmp.Compare(b.bytes, a.bytes) })
	m.folds = len(folds)
	named := folds[:min(len(folds), namedFolds)]
	areas := []mapArea{{}}
	for _, p := range parts {
		if last := &areas[len(areas)-1]; slices.Contains(named, p.fold) {
			areas = append(areas, mapArea{before: p.fold})
		} else {
			last.parts = append(last.parts, p)
		}
	}
	m.rowBytes = leastRow
	for rowsFor(areas, float64(m.rowBytes)) > mapRows+len(areas) && m.rowBytes < math.MaxInt64/2 {
		m.rowBytes *= 2
	}
	for _, a := range areas {
		if a.before != nil {
			m.lines = append(m.lines, mapLine{fold: a.before})
		}
		c := &canvas{cellBytes: float64(m.rowBytes) / rowCells}
		for i := range a.parts {
			if f := a.parts[i].fold; f != nil {
				c.leaveOut(f)
				m.signs = true
				continue
			}
			c.draw(&a.parts[i].span)
		}
		m.takeRows(c)
	}
}

// rowsFor is how many rows the areas take.
func rowsFor(areas []mapArea, rowBytes float64) (rows int) {
	for _, a := range areas {
		drawn := 0.0
		for i := range a.parts {
			drawn += a.parts[i].span.drawn
			if a.parts[i].fold != nil {
				drawn += (foldCells + 1) * rowBytes / rowCells // the cell before it may not be full
			}
		}
		rows += int(math.Ceil(drawn / rowBytes))
	}
	return rows
}

// partsOf cuts the address space into what is drawn and what is not.
func partsOf(s *capture.Space) (parts []mapPart) {
	between := capture.UseFree
	if s.Partial {
		between = ""
	}
	at := uint64(0)
	for i := range s.Map.Stretches {
		st := &s.Map.Stretches[i]
		gap := uint64(st.Address) - at
		switch {
		case i == 0 && gap <= foldOver: // the first page that a program may have is no part of a gap
		case gap > foldOver:
			parts = append(parts, mapPart{fold: &fold{at, int64(gap), between}})
		case gap > 0:
			parts = append(parts,
				mapPart{span: drawnSpan{address: at, size: float64(gap), drawn: float64(gap), use: capture.UseFree}})
		}
		at = st.End()
		size := st.Size
		if rest := st.Size - max(st.Committed, shownReserve); rest > foldOver && rest > st.Size/2 {
			size -= rest
			parts = append(parts,
				mapPart{span: drawnSpan{uint64(st.Address), float64(size), float64(size), st.Use, float64(size),
					float64(min(size, st.Committed))}},
				mapPart{fold: &fold{uint64(st.Address) + uint64(size), rest, st.Use}})
			continue
		}
		parts = append(parts,
			mapPart{span: drawnSpan{uint64(st.Address), float64(size), float64(size), st.Use, float64(st.Taken),
				float64(st.Committed)}})
	}
	return parts
}

// takeRows cuts what a canvas holds into rows.
func (m *spaceMap) takeRows(c *canvas) {
	var last *fold // its sign may be on two rows
	for row := range slices.Chunk(c.cells, rowCells) {
		l := mapLine{rects: c.rects(row), sums: cell{from: row[0].from}}
		for i := range row {
			if f := row[i].folded; f == nil {
				l.sums.join(&row[i])
			} else if f != last {
				l.folds, last = append(l.folds, f), f
			}
		}
		for i := range l.rects {
			r := &l.rects[i]
			m.reserved, m.sparse = m.reserved || r.reserved, m.sparse || r.sparse
			if r.use != "" && !slices.Contains(m.uses, r.use) {
				m.uses = append(m.uses, r.use)
			}
		}
		m.lines = append(m.lines, l)
	}
	slices.SortFunc(m.uses, func(a, b capture.UseName) int {
		return cmp.Compare(slices.Index(mapUses, a), slices.Index(mapUses, b))
	})
}

// scale says what the picture shows, in a sentence or two.
func (m *spaceMap) scale() string {
	var b strings.Builder
	fmt.Fprintf(&b, "One row is %s, one cell %s; addresses rise to the right and down.", quantity.Bytes(m.rowBytes),
		quantity.Bytes(m.rowBytes/rowCells))
	if m.end > 0 && m.limit == 0 {
		fmt.Fprintf(&b, " The address limit of the program is unknown; %s are drawn.", quantity.Bytes(m.end))
	}
	if m.above > 0 {
		fmt.Fprintf(&b, " Above it, %s are committed, invisible to the 32-bit program.", quantity.Bytes(m.above))
	}
	if m.folds > 0 {
		what := "free"
		if m.partial {
			what = "not in the evidence"
		}
		fmt.Fprintf(&b, " Not drawn: %[2]s of more than %[3]s each, %[1]s or only reserved.", what,
			quantity.Plural(m.folds, "piece"), quantity.Bytes(foldOver))
	}
	if m.grain > 0 {
		fmt.Fprintf(&b, " Regions that begin in the same %s are drawn as one.", quantity.Bytes(m.grain))
	}
	return b.String()
}

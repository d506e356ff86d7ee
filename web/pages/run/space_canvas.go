package run

import (
	"slices"

	"heapdrift/ingest/capture"
)

// rowCells is how many cells a row of the map of the address space has: at 1440 px one is four pixels wide.
const rowCells = 256

// A cell is a small part of the address space, and what lies in it by use, in bytes.
type cell struct {
	from, to  uint64 // addresses
	taken     map[capture.UseName]float64
	committed map[capture.UseName]float64
	folded    *fold // what is left out here, of a cell that stands for it
}

// A canvas is cells, written from left to right.
type canvas struct {
	cellBytes float64
	cells     []cell
	at        float64 // where the next byte goes, in bytes from the beginning
}

// A drawnSpan is address space of one use. It takes as many bytes of the canvas as drawn says, which is less than its
// size where a part of it is left out. Its figures are spread over them evenly: that is all that is known.
type drawnSpan struct {
	address          uint64
	size, drawn      float64
	use              capture.UseName
	taken, committed float64
}

// draw puts a span behind what is drawn.
func (c *canvas) draw(s *drawnSpan) {
	from := func(at float64) uint64 { return s.address + uint64((at-c.at)/s.drawn*s.size) }
	end := c.at + s.drawn
	for at := c.at; at < end; {
		i := int(at / c.cellBytes)
		next := min(end, float64(i+1)*c.cellBytes)
		if next <= at { // no number lies between them
			break
		}
		if len(c.cells) <= i {
			c.cells = append(c.cells, cell{from: from(at)})
		}
		a := &c.cells[len(c.cells)-1]
		a.to = from(next)
		if s.use != capture.UseFree {
			part := (next - at) / s.drawn
			a.add(s.use, s.taken*part, s.committed*part)
		}
		at = next
	}
	c.at = end
}

// foldCells is how wide the sign is for what is left out in the middle of a row.
const foldCells = 2

// leaveOut puts the sign for something that is not drawn behind what is drawn.
func (c *canvas) leaveOut(f *fold) {
	for range foldCells {
		c.cells = append(c.cells, cell{from: f.address, to: f.end(), folded: f})
	}
	c.at = float64(len(c.cells)) * c.cellBytes
}

// A paint is how a cell looks.
type paint struct {
	use      capture.UseName // "" for nothing
	reserved bool            // most of it is not committed
	sparse   bool            // less than half of the cell is taken
	folded   *fold
}

// paintOf chooses the use of most bytes in a cell.
func (c *canvas) paintOf(a *cell) paint {
	if a.folded != nil {
		return paint{folded: a.folded}
	}
	var p paint
	all, most := 0.0, 0.0
	for _, use := range mapUses {
		n := a.taken[use]
		if all += n; n > most {
			p.use, most = use, n
		}
	}
	if p.use == "" {
		return p
	}
	p.reserved, p.sparse = a.committed[p.use] < a.taken[p.use]/2, all < c.cellBytes/2
	return p
}

// mapUses are the uses that the map tells apart, in the order of tables: what is free is what is left.
var mapUses = slices.DeleteFunc(slices.Clone(capture.UseNames),
	func(u capture.UseName) bool { return u == capture.UseFree })

// A mapRect is cells of a row that look alike, with what lies in them.
type mapRect struct {
	paint
	at, cells int // in the row
	sums      cell
}

// rects joins the cells of a row that look alike, and leaves out those with nothing in them.
func (c *canvas) rects(row []cell) (list []mapRect) {
	for i := range row {
		p := c.paintOf(&row[i])
		if p.use == "" && p.folded == nil {
			continue
		}
		if n := len(list); n > 0 && list[n-1].paint == p && list[n-1].at+list[n-1].cells == i {
			list[n-1].cells++
			list[n-1].sums.join(&row[i])
			continue
		}
		r := mapRect{paint: p, at: i, cells: 1, sums: cell{from: row[i].from}}
		r.sums.join(&row[i])
		list = append(list, r)
	}
	return list
}

// add counts bytes of a use in.
func (a *cell) add(use capture.UseName, taken, committed float64) {
	if a.taken == nil {
		a.taken, a.committed = map[capture.UseName]float64{}, map[capture.UseName]float64{}
	}
	a.taken[use] += taken
	a.committed[use] += committed
}

// join adds a cell that follows.
func (a *cell) join(b *cell) {
	for use, n := range b.taken {
		a.add(use, n, b.committed[use])
	}
	a.to = b.to
}

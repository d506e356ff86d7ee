package run

import (
	"fmt"
	"strconv"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis/footprint"
)

// bounds are the addresses of the first byte and of the one behind the last.
func (a *cell) bounds() string { return fmt.Sprintf("%#x – %#x", a.from, a.to) }

// sum is what is taken of a cell, and committed, in whole bytes.
func (a *cell) sum() (taken, committed int64) {
	var t, c float64
	for _, use := range mapUses {
		t, c = t+a.taken[use], c+a.committed[use]
	}
	return int64(t + .5), int64(c + .5)
}

// contents lists what lies in a cell, in the order of tables; "" for nothing.
func (a *cell) contents() string {
	var parts []string
	for _, use := range mapUses {
		if n := int64(a.taken[use] + .5); n > 0 {
			parts = append(parts, footprint.NamesOfUse(use).Title+" "+quantity.Bytes(n))
		}
	}
	return strings.Join(parts, ", ")
}

// contents lists what lies in a cell, or says that nothing does.
func (m *spaceMap) contents(a *cell) string {
	switch text := a.contents(); {
	case text != "":
		return text
	case m.partial:
		return "nothing in the evidence"
	}
	return "nothing"
}

// sparseWord says in the legend what a cell of half height is.
func (m *spaceMap) sparseWord() string {
	if m.partial {
		return "half height: mostly not in the evidence"
	}
	return "half height: mostly free"
}

// leftOut lists what has a sign in a row, "" for nothing.
func (l *mapLine) leftOut() string {
	var parts []string
	for _, f := range l.folds {
		parts = append(parts, fmt.Sprintf("%#x: %s", f.address, f.text()))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Not drawn: " + strings.Join(parts, "; ")
}

// title says what a part of the picture is.
func (r *mapRect) title() string {
	if r.folded != nil {
		return fmt.Sprintf("%#x – %#x: %s, not drawn", r.folded.address, r.folded.end(), r.folded.text())
	}
	_, committed := r.sums.sum()
	return fmt.Sprintf("%s: %s; %s committed", r.sums.bounds(), r.sums.contents(), quantity.Bytes(committed))
}

// fill is the texture of a part of the picture.
func (r *mapRect) fill() string {
	if r.folded != nil {
		return "url(#use-folded)"
	}
	return useFill(r.use)
}

// useFill is the texture of a use: it tells uses apart where colours do not.
func useFill(use capture.UseName) string {
	switch use {
	case capture.UsePEB, capture.UseTEB:
		use = capture.UseSystem
	}
	return "url(#use-" + string(use) + ")"
}

// top and height are those of a part of the picture in a row, in pixels.
func (r *mapRect) top() string {
	if r.sparse {
		return strconv.Itoa(mapRowHeight / 2)
	}
	return "0"
}

func (r *mapRect) height() string {
	if r.sparse {
		return strconv.Itoa(mapRowHeight / 2)
	}
	return strconv.Itoa(mapRowHeight)
}

// mapRowHeight is how high a row is, in pixels.
const mapRowHeight = 14

// inRow places something along a row.
func inRow(cells int) string {
	return strconv.FormatFloat(100*float64(cells)/rowCells, 'f', 3, 64) + "%"
}

// legend are the uses as the legend names them, each once.
func (m *spaceMap) legend() (list []capture.UseName) {
	system := false
	for _, use := range m.uses {
		if use == capture.UsePEB || use == capture.UseTEB || use == capture.UseSystem {
			system = true
			continue
		}
		list = append(list, use)
	}
	if system {
		list = append(list, capture.UseSystem)
	}
	return list
}

// legendWord names a use in the legend.
func legendWord(use capture.UseName) string {
	if use == capture.UseSystem {
		return "PEB, TEBs, system"
	}
	return footprint.NamesOfUse(use).Title
}

// name says what the picture shows, for those who do not see it.
func (m *spaceMap) name(s *capture.Space) string {
	known, limit := "used", ""
	if m.limit > 0 {
		limit = " of " + quantity.Bytes(m.limit)
	}
	if m.partial {
		known = "in the evidence"
	}
	return fmt.Sprintf("Address space: %s%s %s. The table below has the same data.",
		quantity.Bytes(footprint.UsedBelowLimit(s)), limit, known)
}

// mapSum is what stands beside the title of the map.
func (m *spaceMap) sum(s *capture.Space) string {
	if m.limit > 0 {
		return fmt.Sprintf("%d-bit program, limit %s", s.Bits, quantity.Bytes(m.limit))
	}
	if s.Bits > 0 {
		return fmt.Sprintf("%d-bit program", s.Bits)
	}
	return ""
}

// A texture is what a use is drawn with: lines over its colour.
type texture struct{ use, size, path string }

var textures = []texture{
	{string(capture.UsePrivate), "6", "M-1.5 1.5 1.5 -1.5 M0 6 6 0 M4.5 7.5 7.5 4.5"},
	{string(capture.UseHeap), "6", ""},
	{string(capture.UseUnreached), "6", "M0 1.5 3 4.500 6 1.5"},
	{string(capture.UsePageHeap), "6", "M0 3H6 M3 0V6"},
	{string(capture.UseManaged), "6", "M-1.5 4.5 1.5 7.5 M0 0 6 6 M4.5 -1.5 7.5 1.5"},
	{string(capture.UseStack), "4", "M2 0V4"},
	{string(capture.UseImage), "4", "M0 2H4"},
	{string(capture.UseMapped), "5", "M2 2.500H3.500"},
	{string(capture.UseSystem), "3", "M1.500 0V3 M0 1.500H3"},
	{string(unexplained), "6", "M0 6 6 0 M-1 1 1 -1 M5 7 7 5 M0 0 6 6 M-1 5 1 7 M5 -1 7 1"},
	{"folded", "6", "M0 0 3 3 0 6"},
}

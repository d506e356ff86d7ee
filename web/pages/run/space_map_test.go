package run

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
)

const mega = 1 << 20

// draw renders a map as text: a row for each line, runs of cells by the first letters of their use.
func draw(m *spaceMap) string {
	var b strings.Builder
	for i := range m.lines {
		l := &m.lines[i]
		if l.fold != nil {
			fmt.Fprintf(&b, "%#x: %s\n", l.fold.address, l.fold.text())
			continue
		}
		fmt.Fprintf(&b, "%#x:", l.sums.from)
		for k := range l.rects {
			r := &l.rects[k]
			name := string(r.use)
			if r.folded != nil {
				name = "~"
			}
			if r.reserved {
				name = "(" + name + ")"
			}
			if r.sparse {
				name += "'"
			}
			fmt.Fprintf(&b, " %d+%d %s", r.at, r.cells, name)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func stretch(address uint64, size int64, use capture.UseName, committed int64) capture.AddressRange {
	return capture.AddressRange{Address: capture.Address(address), Size: size, Use: use, Committed: committed}
}

func spaceWith(bits uint8, limit int64, list ...capture.AddressRange) *capture.Space {
	return &capture.Space{Bits: bits, Limit: limit, Map: capture.DrawSpaceMap(list)}
}

func TestMapOfA32BitProgram(t *testing.T) {
	heap, image := capture.UseHeap, capture.UseImage
	s := spaceWith(32, 2*gigabyte,
		stretch(0x10000, 0x8000, heap, 0x8000),      // less than half of a cell of 512 KB
		stretch(64*mega, 64*mega, heap, 64*mega),    // to the end of the first row
		stretch(128*mega, 32*mega, heap, 0),         // only reserved
		stretch(2000*mega, 100*mega, image, 4*mega), // beyond the limit, in part
		stretch(0x7FFE_0000_0000, mega, image, 3*mega),
	)
	m := mapOf(s)
	lines := strings.Split(draw(m), "\n")
	if len(lines) != mapRows+1 || lines[0] != "0x0: 0+1 heap' 128+128 heap" || lines[1] != "0x8000000: 0+64 (heap)" ||
		lines[2] != "0x10000000:" || lines[15] != "0x78000000: 160+96 (image)" {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
	if m.above != mega || m.rowBytes != 128*mega || m.limit != 2*gigabyte || m.folds != 0 {
		t.Errorf("%+v", m)
	}
	if text := m.scale(); text != "One row is 128 MB, one cell 512 KB; addresses rise to the right and down. Above it, 1.00 MB are committed, invisible to the 32-bit program." {
		t.Error(text)
	}
	taken, committed := m.lines[0].sums.sum()
	if taken != 64*mega+0x8000 || committed != taken || m.lines[0].sums.bounds() != "0x0 – 0x8000000" ||
		m.contents(&m.lines[0].sums) != "Heaps 64.0 MB" || m.contents(&m.lines[2].sums) != "nothing" {
		t.Errorf("%d, %d, %s, %s", taken, committed, m.lines[0].sums.bounds(), m.contents(&m.lines[0].sums))
	}
	if title := m.lines[1].rects[0].title(); title != "0x8000000 – 0xa000000: Heaps 32.0 MB; 0 B committed" {
		t.Error(title)
	}
}

// Where the limit of the program's addresses is unknown, every GB that holds something is drawn.
func TestEndOfA32BitMap(t *testing.T) {
	for _, test := range []struct {
		limit int64
		at    uint64
		end   int64
		says  bool
	}{
		{0, 0x10000, 2 * gigabyte, true}, {0, 2*gigabyte - mega, 2 * gigabyte, true}, {0, 2 * gigabyte, 3 * gigabyte, true},
		{0, 3*gigabyte + 1, 4 * gigabyte, true},
		{0, 4 * gigabyte, 2 * gigabyte, true}, {3 * gigabyte, 0x10000, 3 * gigabyte, false},
		{4 * gigabyte, 0x10000, 4 * gigabyte, false}, {math.MaxInt64, 0x10000, 4 * gigabyte, false},
	} {
		m := mapOf(spaceWith(32, test.limit, stretch(test.at, mega, capture.UseHeap, mega)))
		if said := strings.Contains(m.scale(), "is unknown"); m.end != test.end || said != test.says ||
			len(m.lines) != mapRows {
			t.Errorf("limit %d, memory at %#x: end %#x, %s", test.limit, test.at, m.end, m.scale())
		}
	}
}

func TestMapOfA64BitProgram(t *testing.T) {
	heap, image, mapped := capture.UseHeap, capture.UseImage, capture.UseMapped
	s := spaceWith(64, 0,
		stretch(0x7FFE_0000, 4096, mapped, 4096),
		stretch(0x1_0000_0000, 2*mega, heap, 2*mega),
		stretch(0x1_0000_0000+66*mega, mega, heap, mega),            // after a gap of 64 MB, which is drawn
		stretch(0x1_0000_0000+131*mega+4096, mega, heap, mega),      // after a gap that is a page longer
		stretch(0x7DF4_0000_0000, 2<<40, mapped, 3*mega),            // the bitmap of Control Flow Guard
		stretch(0x7FF4_0000_1000, mega, image, mega),                // a page after it
		stretch(0x7FFF_F000_0000, 100*mega, image, 100*mega),        // long, and committed
		stretch(0x7FFF_FF00_0000, 78*mega+1, capture.UsePrivate, 1), // 62 MB are left to fold: too few
	)
	m := mapOf(s)
	var folds []string
	for i := range m.lines {
		if f := m.lines[i].fold; f != nil {
			folds = append(folds, f.text())
		}
	}
	want := []string{"2.00 GB free", "2.00 GB free", "64.0 MB free", "126 TB free",
		"2.00 TB reserved and not committed: Mapped files", "47.7 GB free", "140 MB free"}
	if strings.Join(folds, "\n") != strings.Join(want, "\n") || m.folds != len(want) || m.signs || m.end != 0 {
		t.Errorf("%q, want %q\n%s", folds, want, draw(m))
	}
	if rows := len(m.lines) - m.folds; rows > mapRows+len(want)+1 || rows < mapRows/2 {
		t.Errorf("%d rows:\n%s", rows, draw(m))
	}
	partial := *s
	partial.Partial = true
	if text := draw(mapOf(&partial)); strings.Contains(text, " free\n") ||
		!strings.Contains(text, "2.00 GB that the evidence does not list") {
		t.Error(text)
	}
}

// Evidence that lists only some regions proves neither that the rest is free nor that nothing else is taken.
func TestMapOfPartialEvidence(t *testing.T) {
	s := spaceWith(32, 2*gigabyte, stretch(0x10000, mega, capture.UseHeap, mega))
	s.Uses = []capture.UseTotal{{Name: capture.UseHeap, Reserved: mega, Committed: mega}}
	wide := spaceWith(64, 0, stretch(0x10000, mega, capture.UseHeap, mega), stretch(1<<40, mega, capture.UseHeap, mega))
	for _, test := range []struct {
		partial                   bool
		name, row, sparse, gapped string
	}{
		{false, "Address space: 1.00 MB of 2.00 GB used.", "nothing", "half height: mostly free",
			"Not drawn: 1 piece of more than 64.0 MB each, free or only reserved."},
		{true, "Address space: 1.00 MB of 2.00 GB in the evidence.", "nothing in the evidence",
			"half height: mostly not in the evidence", "Not drawn: 1 piece of more than 64.0 MB each, not in the evidence or only reserved."},
	} {
		s.Partial, wide.Partial = test.partial, test.partial
		m := mapOf(s)
		if name, row, sparse := m.name(s), m.contents(&m.lines[5].sums),
			m.sparseWord(); !strings.HasPrefix(name, test.name) || row != test.row || sparse != test.sparse {
			t.Errorf("partial %v: %q, %q, %q", test.partial, name, row, sparse)
		}
		if text := mapOf(wide).scale(); !strings.Contains(text, test.gapped) {
			t.Errorf("partial %v: %s", test.partial, text)
		}
	}
}

// Whatever the regions are, the picture stays small and shows all committed memory.
func TestMapOfHostileRegions(t *testing.T) {
	var scattered, dense []capture.AddressRange
	for i := range uint64(1024) {
		scattered = append(scattered, stretch(0x10000+i<<36, 4096, capture.UseHeap, 4096))
		dense = append(dense, stretch(0x10000+i<<20, 1<<19, mapUses[i%4], int64(i%3)<<17))
	}
	for name, s := range map[string]*capture.Space{
		"scattered":           spaceWith(64, 0, scattered...),
		"dense":               spaceWith(64, 0, dense...),
		"dense, 32 bits":      spaceWith(32, 4*gigabyte, dense...),
		"one byte":            spaceWith(64, 0, stretch(1, 1, capture.UseHeap, 1)),
		"all of it":           spaceWith(64, 0, stretch(0, math.MaxInt64, capture.UseHeap, math.MaxInt64)),
		"all of it, reserved": spaceWith(64, 0, stretch(0, math.MaxInt64, capture.UseHeap, 0)),
		"all of 32 bits":      spaceWith(32, 0, stretch(0, 4*gigabyte, capture.UseHeap, 4*gigabyte)),
		"at the very end":     spaceWith(64, 0, stretch(math.MaxInt64-4096, 4096, capture.UseHeap, 4096)),
		"a use of tomorrow":   spaceWith(64, 0, stretch(0x10000, 4096, "enclave", 4096)),
	} {
		m := mapOf(s)
		rects := 0
		for i := range m.lines {
			rects += len(m.lines[i].rects)
			for k := range m.lines[i].rects {
				if r := &m.lines[i].rects[k]; r.at < 0 || r.cells < 1 || r.at+r.cells > rowCells {
					t.Errorf("%s: %+v", name, r)
				}
			}
		}
		if len(m.lines) > 3*mapRows+namedFolds || rects > 4096 || rects == 0 && name != "a use of tomorrow" {
			t.Errorf("%s: %d lines, %d parts", name, len(m.lines), rects)
		}
	}
	for name, s := range map[string]*capture.Space{"none": nil, "sums only": {}, "no regions": {Map: &capture.SpaceMap{}}} {
		if m := mapOf(s); m != nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

// Beyond the gaps that are named, a sign marks each part that is left out.
func TestSignsForWhatIsLeftOut(t *testing.T) {
	var list []capture.AddressRange
	for i := range uint64(14) {
		list = append(list, stretch(0x10000+i<<(30+i/8), mega, capture.UseHeap, mega))
	}
	m := mapOf(spaceWith(64, 0, list...))
	var told []string
	for i := range m.lines {
		if text := m.lines[i].leftOut(); text != "" {
			told = append(told, text)
		}
	}
	if text := strings.Join(told,
		"\n"); text != "Not drawn: 0x140110000: 1.00 GB free\nNot drawn: 0x180110000: 1.00 GB free" {
		t.Errorf("the table tells %q of what is left out", told)
	}
	if text := draw(m); m.folds != 13 || !m.signs || strings.Count(text, "~") != 2 ||
		strings.Count(text, "free") != namedFolds {
		t.Errorf("%d folds\n%s", m.folds, text)
	}
}

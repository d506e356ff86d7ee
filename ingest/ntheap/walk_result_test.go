package ntheap

import (
	"fmt"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
)

// A heap with one fault has one warning for it, at its address, and a heap without faults has none.
func TestWarningsOfOneFault(t *testing.T) {
	for _, c := range []struct {
		fault func(*walk)
		want  string
	}{
		{func(*walk) {}, ""},
		{func(w *walk) { w.gap("range", 0x1000, 1, "gone") }, "partial-heap x1 at address 0x1000"},
		{func(w *walk) { w.gap("heap", 0x1000, 0, "of no size") }, ""},
		{func(w *walk) { w.bad.add(0x2000) }, "malformed x1 at address 0x2000"},
		{func(w *walk) { w.unread.add(0x3000) }, "partial-heap x1 at address 0x3000"},
		{func(w *walk) { w.odd.add(0x4000) }, "inconsistent x1 at address 0x4000"},
	} {
		w := &walk{heap: &Heap{Handle: 0x10000}, out: &WalkResult{}}
		c.fault(w)
		w.finish()
		var got []string
		for _, warning := range w.out.Warnings {
			got = append(got, fmt.Sprintf("%s x%d at %s", warning.Code, warning.Count, warning.Place))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if w.out.Facts.BadEntries != w.bad.n {
			t.Errorf("%d bad entries, want %d", w.out.Facts.BadEntries, w.bad.n)
		}
	}
}

// As many gaps as are told one by one are told so; the next one, and all behind it, are one more.
func TestGapsBeyondTheFew(t *testing.T) {
	for _, more := range []int{0, 1, 2} {
		w := &walk{heap: &Heap{Handle: 0x10000}, out: &WalkResult{}}
		for i := range fewGaps + more {
			w.gap("heap", uint64(i+1)<<12, 10, "gone")
		}
		w.finish()
		if len(w.out.Gaps) != fewGaps+min(more, 1) {
			t.Errorf("%d gaps beyond the few: %d are told", more, len(w.out.Gaps))
			continue
		}
		if more == 0 {
			continue
		}
		want := capture.Gap{What: "range", Heap: 0x10000, Address: (fewGaps + 1) << 12, Bytes: int64(10 * more),
			Why: fmt.Sprintf("%d more ranges of this heap could not be read; this is the first of them", more)}
		if got := w.out.Gaps[fewGaps]; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// Every walk of a heap adds up what it met: free blocks, and busy ones by their areas.
func TestSumsOfAWalk(t *testing.T) {
	w := &walk{heap: &Heap{}, out: &WalkResult{}, visit: func(Block) error { return nil }}
	for _, size := range []uint64{16, 64, 32} {
		w.free(size)
	}
	for area := range areaCount {
		if err := w.busy(Block{Size: 1 << area, Overhead: 2 << area, Area: area}); err != nil {
			t.Fatal(err)
		}
	}
	w.out.Internal = capture.Usage{Count: 1, Bytes: 77}
	w.finish()
	f := w.out.Facts
	all := int64(1)<<areaCount - 1
	if f.Free != (capture.Usage{Count: 3, Bytes: 112}) || f.LargestFree != 64 || f.Internal != 77 ||
		f.Busy != (capture.Usage{Count: int64(areaCount), Bytes: all, Overhead: 2 * all}) ||
		f.LFH != (capture.Usage{Count: 1, Bytes: 1 << LFH, Overhead: 2 << LFH}) ||
		f.Blocks != (capture.Usage{Count: 2, Bytes: 1<<Virtual + 1<<Large, Overhead: 2<<Virtual + 2<<Large}) {
		t.Errorf("%+v", f)
	}
}

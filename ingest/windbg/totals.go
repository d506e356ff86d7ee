package windbg

import (
	"bytes"

	"heapdrift/ingest/capture"
)

const sourceTotals = "!heap -stat"

// heapTotals reads !heap -stat without a heap, as every version since Windows 2000 prints it, all numbers hexadecimal:
//
//	_HEAP 00360000
//	     Segments            00000001
//	         Reserved  bytes 00100000
//	         Committed bytes 000f1000
//	     VirtAllocBlocks     00000001
//	         VirtAlloc bytes 035f0000
type heapTotals struct {
	r    *reader
	in   *instant
	heap *capture.HeapFacts // nil where there was no room
	seen map[capture.Address]bool
	rows int
}

func openTotals(r *reader, text []byte) section {
	handle, ok := cutTotals(text)
	if !ok {
		return nil
	}
	s := &heapTotals{r: r, in: r.begin("!heap -stat of all heaps", sourceTotals), seen: map[capture.Address]bool{}}
	s.enter(handle, text)
	return s
}

// cutTotals reads "_HEAP 00360000".
func cutTotals(text []byte) (capture.Address, bool) {
	rest, ok := bytes.CutPrefix(text, []byte("_HEAP "))
	if !ok {
		return 0, false
	}
	v, ok := hex(bytes.TrimSpace(rest))
	return capture.Address(v), ok
}

func (s *heapTotals) enter(handle capture.Address, text []byte) {
	s.seen[handle] = true
	s.heap = s.in.heap(s.r, handle)
	if s.heap != nil {
		s.heap.Bits = max(s.heap.Bits, wide(bytes.TrimSpace(text[len("_HEAP "):])))
		s.in.c.Process.Bits = max(s.in.c.Process.Bits, s.heap.Bits)
		s.heap.Kind = "NT heap"
	}
}

// totalsOf are the lines below a heap, by their words without the number.
var totalsOf = map[string]func(h *capture.HeapFacts) *int64{
	"Segments":        func(h *capture.HeapFacts) *int64 { return &h.Segments },
	"Reserved bytes":  func(h *capture.HeapFacts) *int64 { return &h.Reserved },
	"Committed bytes": func(h *capture.HeapFacts) *int64 { return &h.Committed },
	"VirtAllocBlocks": func(h *capture.HeapFacts) *int64 { return &h.Blocks.Count },
	"VirtAlloc bytes": func(h *capture.HeapFacts) *int64 { return &h.Blocks.Bytes },
}

func (s *heapTotals) line(text []byte) bool {
	if handle, ok := cutTotals(text); ok {
		if s.seen[handle] || len(s.seen) == maxHeaps {
			return false // the command ran again
		}
		s.enter(handle, text)
		return true
	}
	if isEllipsis(text) {
		s.in.truncate(s.r.in.number, "lines of !heap -stat are left out in the log, and heaps may be missing")
		return true
	}
	w := split(text)
	name := string(w.words[0])
	if w.n == 3 {
		name += " " + string(w.words[1])
	}
	take := totalsOf[name]
	if take == nil || w.n < 2 || w.n > 3 {
		return false
	}
	v, ok := size(w.words[w.n-1])
	if !ok {
		s.in.malformed.add(s.r.in.number)
		return true
	}
	if s.rows++; s.heap != nil {
		*take(s.heap) = v
	}
	return true
}

func (s *heapTotals) close() {
	if s.rows == 0 {
		s.in.truncate(s.r.in.number, "!heap -stat names a heap and no figure of it: the log is cut short or an excerpt")
	}
}

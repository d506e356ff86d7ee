package windbg

import (
	"bytes"
	"fmt"

	"heapdrift/ingest/capture"
)

const sourceHeaps = "!heap -s"

// heaps reads !heap -s. Its tables, with the sizes in units that the second line names:
//
//	          Heap     Flags   Reserv  Commit  Virt   Free  List   UCR  Virt  Lock  Fast
//	                            (k)     (k)    (k)     (k) length      blocks cont. heap
//	-------------------------------------------------------------------------------------
//	Virtual block: 07dc0000 - 07dc0000 (size 00000000)
//	000001a200bb0000 08000002    9000   7000   8800    250    90     5    1      a   LFH
//	    External fragmentation  29 % (1549 free blocks)
//	-------------------------------------------------------------------------------------
//
// Lock contention is hexadecimal, or N/A for a heap without a lock. Before the table, where there are any, stand the
// segment heaps: heap, signature ddeeddee, two numbers, reserved and committed in KiB. That is known from a printed
// page only, so a row is told by the signature and not by its heading.
type heaps struct {
	r    *reader
	in   *instant
	unit int64 // bytes
	// state is how far the NT table is: nothing, its header, its rows, all of it.
	state   int
	began   int64 // line of the header
	virtual int64 // bytes of the virtual blocks listed before the row of their heap
	seen    map[capture.Address]bool
	last    *capture.HeapFacts // of the row before
	wrapped []byte             // the beginning of a row that mail has broken in two
	odd     int                // lines of the header that were not understood
	empty   bool               // the table is closed without a row
	headed  bool               // the header of the segment heaps was there
}

const (
	noTable = iota
	tableHeader
	tableRows
	tableDone
)

func openHeaps(r *reader) section {
	return newHeaps(r, r.begin(sourceHeaps, sourceHeaps))
}

func newHeaps(r *reader, in *instant) *heaps {
	return &heaps{r: r, in: in, unit: 1 << 10, seen: map[capture.Address]bool{}, began: r.in.number}
}

func openHeapTable(r *reader, text []byte) section {
	if w := split(text); w.n > 2 && (string(w.words[1]) == "Signature" || string(w.words[2]) == "Signature") { // of the segment heaps
		s := newHeaps(r, r.begin(sourceHeaps, sourceHeaps))
		s.headed = true
		return s
	}
	if !isHeapHeader(text) {
		return nil
	}
	s := openHeaps(r)
	s.line(text)
	return s
}

func isHeapHeader(text []byte) bool {
	w := split(text)
	return w.n >= 5 && string(w.words[0]) == "Heap" && string(w.words[1]) == "Flags" &&
		bytes.HasPrefix(w.words[2], []byte("Reserv"))
}

// line takes a line by the part of the table that has come: the order of the cases is that of the table, and the first
// that fits decides.
func (s *heaps) line(text []byte) bool {
	switch c := text[0]; {
	case isHeapHeader(text):
		if s.state != noTable {
			return false // the command ran again
		}
		s.state, s.began = tableHeader, s.r.in.number
		return true
	case c == '(' && s.state == tableHeader:
		s.unit = unitOf(text)
		return true
	case isRule(text):
		if s.empty = s.state == tableRows && len(s.seen) == 0 && len(s.wrapped) == 0; s.empty {
			return true // mail has broken the rule in two, or there is no row
		}
		s.unwrap()
		if s.state == tableHeader || s.state == tableRows {
			s.state++
		}
		return true
	case hexValue[c] >= 0 && isSegmentRow(text):
		s.segment(text)
		return true
	case s.state == noTable || s.state == tableDone:
		return s.state == noTable && bytes.Contains(text, []byte("NT HEAP STATS BELOW"))
	case isEllipsis(text):
		s.in.truncate(s.r.in.number, "rows of !heap -s are left out in the log, and heaps may be missing")
		return true
	case s.state == tableHeader && s.heading(text):
		return true
	}
	return s.detail(text) || s.goesOn(text) || s.row(text)
}

// unitOf reads the unit of the sizes from "(k) (k) (k) (k) length".
func unitOf(text []byte) int64 {
	switch text[min(1, len(text)-1)] | 0x20 {
	case 'b':
		return 1
	case 'm':
		return 1 << 20
	}
	return 1 << 10
}

// isSegmentRow reports whether a line is the row of a segment heap.
func isSegmentRow(text []byte) bool {
	if hexValue[text[0]] < 0 || !bytes.Contains(text, []byte(" ddeeddee ")) {
		return false
	}
	w := split(text)
	_, ok := hex(w.words[0])
	return ok && w.n == 6 && string(w.words[1]) == "ddeeddee"
}

func (s *heaps) segment(text []byte) {
	w := split(text)
	handle, _ := hex(w.words[0])
	reserved, ok := scaled(w.words[4], 1<<10)
	committed, okCommitted := scaled(w.words[5], 1<<10)
	if !ok || !okCommitted {
		s.in.malformed.add(s.r.in.number)
		return
	}
	s.add(capture.HeapFacts{Handle: capture.Address(handle), Kind: "segment heap",
		Reserved: reserved, Committed: committed})
}

// columns are those of an NT heap from the third on, in their order.
var columns = []struct {
	take func(h *capture.HeapFacts) *int64
	size bool // in the unit of the table
}{
	{func(h *capture.HeapFacts) *int64 { return &h.Reserved }, true},
	{func(h *capture.HeapFacts) *int64 { return &h.Committed }, true},
	{func(h *capture.HeapFacts) *int64 { return &h.Virtual }, true},
	{func(h *capture.HeapFacts) *int64 { return &h.Free.Bytes }, true},
	{func(h *capture.HeapFacts) *int64 { return &h.Free.Count }, false},
	{func(h *capture.HeapFacts) *int64 { return &h.UncommittedRanges }, false},
	{func(h *capture.HeapFacts) *int64 { return &h.Blocks.Count }, false},
}

// frontEnds are the words of the last column.
var frontEnds = map[string]string{"": "", "LFH": "LFH", "L": "lookaside lists", "N/A": ""}

// row takes the row of an NT heap, and counts lines that begin as one and are none.
func (s *heaps) row(text []byte) bool {
	w := split(text)
	handle, isAddress := hex(w.words[0])
	if !isAddress || len(w.words[0]) < 8 {
		return false
	}
	const lock = 9 // the column
	h := capture.HeapFacts{Handle: capture.Address(handle), Kind: "NT heap", Bits: wide(w.words[0])}
	flags, ok := hex(w.words[1])
	ok = ok && flags <= 0xFFFFFFFF && w.n > lock && w.n <= lock+2
	h.Flags = uint32(flags)
	for i, c := range columns {
		unit := int64(1)
		if c.size {
			unit = s.unit
		}
		v, good := scaled(w.words[2+i], unit)
		*c.take(&h) = v
		ok = ok && good
	}
	if contention, good := size(w.words[lock]); good {
		h.Contention = contention
	} else {
		ok = ok && string(w.words[lock]) == "N/A"
	}
	frontEnd, known := frontEnds[string(w.words[lock+1])]
	if !ok && w.n > 2 && w.n <= lock && isBegun(&w) {
		s.wrapped = bytes.Clone(text)
		return true
	}
	if !ok || !known {
		s.in.malformed.add(s.r.in.number)
		return true
	}
	h.FrontEnd = frontEnd
	h.Blocks.Bytes, s.virtual = s.virtual, 0
	if h.Committed > h.Reserved {
		s.in.contradict(s.r.in.number, "!heap -s has a heap with more committed than reserved")
	}
	s.state = tableRows
	s.add(h)
	return true
}

// add keeps a heap, each once. What other outputs say of it and this one does not stays.
func (s *heaps) add(h capture.HeapFacts) {
	if s.seen[h.Handle] {
		s.in.contradict(s.r.in.number, "!heap -s lists a heap twice; the first row counts")
		return
	}
	s.seen[h.Handle] = true
	s.last = s.in.heap(s.r, h.Handle)
	if s.last == nil {
		return
	}
	h.Segments, h.Busy, h.Note = s.last.Segments, s.last.Busy, s.last.Note
	if s.last.Blocks.Count == h.Blocks.Count && h.Blocks.Bytes == 0 {
		h.Blocks.Bytes = s.last.Blocks.Bytes
	}
	h.Bits = max(h.Bits, s.last.Bits)
	*s.last = h
	s.in.c.Process.Bits = max(s.in.c.Process.Bits, h.Bits)
}

// remarks are lines below a heap that say something of it.
var remarks = [][]byte{[]byte("External fragmentation"), []byte("Virtual address fragmentation"),
	[]byte("Lock contention")}

// troubles are words of lines in which the debugger says that it could not read a heap, or that one is damaged.
var troubles = [][]byte{[]byte("error"), []byte("invalid"), []byte("unable"), []byte("corrupt")}

// detail takes a line of a table that is no row.
func (s *heaps) detail(text []byte) bool {
	if rest, ok := bytes.CutPrefix(text, []byte("Virtual block:")); ok {
		if _, amount, found := bytes.Cut(rest, []byte("(size ")); found {
			if v, good := size(trimRight(amount, ')')); good {
				s.virtual = sum(s.virtual, v)
			}
		}
		return true
	}
	for _, remark := range remarks {
		if bytes.HasPrefix(text, remark) {
			if h := s.last; h != nil {
				if len(h.Note) < maxText {
					h.Note = joined(h.Note, plain(text))
				}
			}
			return true
		}
	}
	for _, word := range troubles {
		if bytes.Contains(bytes.ToLower(text), word) {
			s.trouble(text)
			return true
		}
	}
	return false
}

// trouble says what the debugger could not read: a gap where the line names the heap.
func (s *heaps) trouble(text []byte) {
	words := split(text)
	for i := range min(words.n, len(words.words)) {
		word := bytes.Trim(words.words[i], "():,.@")
		if handle, ok := hex(word); ok && len(word) >= 8 && handle != 0 {
			if len(s.in.m.Gaps) == maxNotes {
				s.r.dropped.add(s.r.in.number)
			} else if s.r.keep(1) {
				s.in.m.Gaps = append(s.in.m.Gaps,
					capture.Gap{What: "heap", Heap: capture.Address(handle), Address: capture.Address(handle),
						Why: "WinDbg says: " + plain(text)})
			}
			return
		}
	}
	s.in.addNote(s.r, capture.TopicWarning, "WinDbg says of the heaps: "+plain(text))
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return fmt.Sprintf("%s; %s", a, b)
}

func trimRight(b []byte, c byte) []byte {
	if len(b) > 0 && b[len(b)-1] == c {
		return b[:len(b)-1]
	}
	return b
}

func (s *heaps) close() {
	s.unwrap()
	if s.headed && s.state == noTable && len(s.seen) == 0 {
		s.in.truncate(s.began, "the table of segment heaps of !heap -s names no heap: the log is cut short or an excerpt")
	}
	if !s.empty && (s.state == tableHeader || s.state == tableRows) {
		s.in.truncate(s.began,
			"the table of !heap -s is not closed: the log is cut short or an excerpt, and heaps may be missing")
	}
}

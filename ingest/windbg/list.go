package windbg

import (
	"bytes"
	"fmt"

	"heapdrift/ingest/capture"
)

const sourceList = "!heap"

// list reads the list of heaps, and what the options -m, -f, -a, -h and -v add to it: all numbers are hexadecimal, but
// for the index.
//
//	Index   Address  Name      Debugging options enabled
//	  1:   00150000                 tail checking
//	    Segment at 00150000 to 00250000 (00058000 bytes committed)
//	    Flags:                00000002
//	    Granularity:          8 bytes
//	    Total Free Size:      00000a83                      in units of the granularity
//	    Virtual Alloc List:   00150050
//	        03f40020: 00a00000 [commited a01000, unused 1000] - busy (9ff000)
//	    Heap entries for Segment00 in Heap 00150000
//	        address: psize . size  flags   state (requested size)
//	        00150000: 00000 . 00640 [01] - busy (640)
//	        00150640: 00640 . 00040 [00]
//	        001a8000:      000a8000      - uncommitted bytes.
//
// The newest versions list heaps without an index:
//
//	Heap Address      NT/Segment Heap
//	 1e8e4a60000              NT Heap
//
// The heap of an excerpt that begins with a segment is told by the first segment, in which it lies.
type list struct {
	r       *reader
	in      *instant
	began   int64
	option  string // of the command
	named   bool   // the newest form
	rows    int
	heap    *capture.HeapFacts // nil until its line has come
	sums    capture.HeapFacts  // of the heap at hand, until it is over
	grain   int64              // bytes
	free    int64              // units
	busy    capture.Usage
	entries bool
	sizes   sizer
}

func openList(r *reader, text []byte) section {
	switch {
	case bytes.HasPrefix(text, []byte("Index ")) && bytes.Contains(text, []byte("Address")) &&
		bytes.Contains(text, []byte("Debugging options")):
		return newList(r, false)
	case bytes.HasPrefix(text, []byte("Heap Address")) && bytes.Contains(text, []byte("NT/Segment Heap")):
		return newList(r, true)
	}
	return nil
}

// openSegments opens an excerpt that begins with a segment.
func openSegments(r *reader, text []byte) section {
	if _, _, _, ok := cutSegment(text); !ok {
		return nil
	}
	s := newList(r, false)
	s.line(text)
	return s
}

func newList(r *reader, named bool) *list {
	r.end()
	r.question.answered = true
	s := &list{r: r, in: r.now, began: r.in.number, named: named, sizes: newSizer(r, r.now)}
	if _, rest, ok := bytes.Cut(r.command, []byte("heap ")); ok {
		s.option = plain(rest)
	}
	return s
}

// isHeapWord reports whether a command is "heap -s", as new debuggers show those without their "!".
func isHeapWord(command []byte) bool { return bytes.HasPrefix(command, []byte("heap -")) }

func (s *list) line(text []byte) bool {
	if handle, kind, bits, ok := s.row(text); ok {
		s.enter(handle, kind, bits)
		return true
	}
	if begin, end, committed, ok := cutSegment(text); ok {
		s.segment(begin, end, committed)
		return true
	}
	if s.entry(text) || s.fact(text) {
		return true
	}
	switch {
	case isEllipsis(text):
		s.in.truncate(s.r.in.number, "lines of !heap are left out in the log, and blocks may be missing")
	case bytes.HasPrefix(text, []byte("Segment at ")):
		s.in.malformed.add(s.r.in.number)
	default:
		return s.heap != nil && s.detail(text)
	}
	return true
}

// row reads the line of a heap: "  1:   00150000    tail checking", or "1e8e4a60000    NT Heap".
func (s *list) row(text []byte) (handle capture.Address, kind string, bits uint8, ok bool) {
	w := split(text)
	if s.named {
		v, isNumber := hex(w.words[0])
		if !isNumber || w.n < 3 || !bytes.EqualFold(w.words[2], []byte("Heap")) {
			return 0, "", 0, false
		}
		kind = map[string]string{"NT": "NT heap", "Segment": "segment heap"}[string(w.words[1])]
		return capture.Address(v), kind, wide(w.words[0]), kind != ""
	}
	number, colon := bytes.CutSuffix(w.words[0], []byte(":"))
	if _, isNumber := decimal(number); !colon || !isNumber || len(number) > 4 || w.n < 2 {
		return 0, "", 0, false
	}
	v, isNumber := hex(w.words[1])
	return capture.Address(v), "heap", wide(w.words[1]), isNumber && len(w.words[1]) >= 5
}

// cutSegment reads "Segment at 00150000 to 00250000 (00058000 bytes committed)".
func cutSegment(text []byte) (begin, end uint64, committed int64, ok bool) {
	rest, ok := bytes.CutPrefix(text, []byte("Segment at "))
	w := split(rest)
	if !ok || w.n < 4 || string(w.words[1]) != "to" {
		return 0, 0, 0, false
	}
	begin, okBegin := hex(w.words[0])
	end, okEnd := hex(w.words[2])
	committed, okSize := size(bytes.TrimPrefix(w.words[3], []byte("(")))
	return begin, end, committed, okBegin && okEnd && okSize && end >= begin && end-begin < 1<<62
}

// enter begins a heap.
func (s *list) enter(handle capture.Address, kind string, bits uint8) {
	s.settle()
	if s.rows++; s.rows > maxHeaps {
		s.r.dropped.add(s.r.in.number)
		return
	}
	s.heap = s.in.heap(s.r, handle)
	if s.heap == nil {
		return
	}
	s.in.note("list of heaps", sourceList) // asking twice makes no instant
	if s.heap.Kind == "" || s.heap.Kind == "heap" {
		s.heap.Kind = kind
	}
	s.heap.Bits = max(s.heap.Bits, bits)
	s.in.c.Process.Bits = max(s.in.c.Process.Bits, bits)
}

func (s *list) segment(begin, end uint64, committed int64) {
	if s.heap == nil || s.sums.Segments == 0 {
		handle := capture.Address(begin)
		if s.heap != nil {
			handle = s.heap.Handle
		}
		s.open(handle)
	}
	reserved := int64(end - begin)
	if committed > reserved {
		s.in.contradict(s.r.in.number, "!heap has a segment with more committed than reserved")
	}
	s.sums.Segments++
	s.sums.Reserved = sum(s.sums.Reserved, reserved)
	s.sums.Committed = sum(s.sums.Committed, committed)
}

// open begins the figures of a heap, in the next instant where this one has them already.
func (s *list) open(handle capture.Address) {
	kind, bits := "heap", uint8(0)
	if s.heap != nil {
		kind, bits = s.heap.Kind, s.heap.Bits
	}
	if key := fmt.Sprintf("!heap %s, segments of %x", s.option, uint64(handle)); s.in.has(key) {
		s.r.section = nil // it is this one, and not over
		s.r.next()
		s.in = s.r.now
		s.sizes = newSizer(s.r, s.in)
		s.r.section = s
		s.in.note(key, sourceList)
		s.heap = nil
	} else {
		s.in.note(key, sourceList)
	}
	if s.heap == nil {
		s.heap = s.in.heap(s.r, handle)
	}
	if s.heap != nil {
		s.heap.Bits = max(s.heap.Bits, bits)
		if s.heap.Kind == "" {
			s.heap.Kind = kind
		}
	}
}

// fact takes the lines that count.
func (s *list) fact(text []byte) bool {
	name, value, ok := bytes.Cut(text, []byte(":"))
	if !ok || s.heap == nil {
		return false
	}
	w := split(value)
	switch string(name) {
	case "Flags":
		if v, isNumber := hex(w.words[0]); isNumber && v <= 0xFFFFFFFF && s.heap.Flags == 0 {
			s.heap.Flags = uint32(v)
		}
	case "Granularity":
		s.grain, _ = decimal(w.words[0])
	case "Total Free Size":
		s.free, _ = size(w.words[0])
	default:
		return false
	}
	return true
}

// details begin lines of -a and -v that say nothing of sizes.
var details = [][]byte{
	[]byte("ForceFlags"), []byte("Segment Reserve"), []byte("Segment Commit"), []byte("DeCommit"),
	[]byte("Max. Allocation Size"), []byte("Lock Variable"), []byte("Next TagIndex"), []byte("Maximum TagIndex"),
	[]byte("Tag Entries"), []byte("PsuedoTag Entries"), []byte("PseudoTag Entries"), []byte("Virtual Alloc List"),
	[]byte("UCR FreeList"), []byte("Uncommitted ranges"), []byte("UnCommitted Ranges"),
	[]byte("FreeList"), []byte("128-bit"), []byte("Segment0"), []byte("Segment1"), []byte("Base"), []byte("First Entry"),
	[]byte("Last Entry"), []byte("Total Pages"), []byte("Total UnCommit"), []byte("Largest UnCommit"),
	[]byte("address: psize"), []byte("Address"), []byte("Entry "), []byte("Free "), []byte("List "), []byte("# "),
	[]byte("Head "), []byte("0x"), []byte("Lookaside"), []byte("Unable to read"), []byte("Trace Buffer"),
	[]byte("Number of"), []byte("Heap Lock"), []byte("Process heap"), []byte("heap "),
}

// detail takes a line that says nothing of sizes, or that the blocks of a segment follow.
func (s *list) detail(text []byte) bool {
	if bytes.HasPrefix(text, []byte("Heap entries for ")) {
		s.entries = true
		return true
	}
	for _, word := range troubles {
		if bytes.Contains(text, word) {
			s.in.addNote(s.r, capture.TopicWarning, "WinDbg says of the heaps: "+plain(text))
			return true
		}
	}
	for _, d := range details {
		if text[0] == d[0] && bytes.HasPrefix(text, d) {
			return true
		}
	}
	return false
}

// settle puts the figures of the heap at hand into it.
func (s *list) settle() {
	if h := s.heap; h != nil {
		if s.sums.Segments > 0 {
			h.Segments, h.Reserved, h.Committed = s.sums.Segments, s.sums.Reserved, s.sums.Committed
		}
		if s.sums.Blocks.Count > 0 {
			h.Blocks = s.sums.Blocks
		}
		if s.free > 0 && s.grain > 0 && s.free <= 1<<62/s.grain {
			h.Free.Bytes = s.free * s.grain
		}
		if s.busy.Count > 0 && s.entries {
			h.Busy = s.busy
		}
	}
	s.heap, s.sums, s.grain, s.free, s.busy, s.entries = nil, capture.HeapFacts{}, 0, 0, capture.Usage{}, false
}

func (s *list) close() {
	entries := s.entries
	s.settle()
	if entries {
		s.in.addNote(s.r, capture.TopicMethod,
			"!heap lists the blocks of the low-fragmentation heap as the larger blocks that hold them: they are counted as those")
	}
	if s.rows == 0 && s.in == s.r.now && len(s.in.m.Heaps) == 0 {
		s.in.truncate(s.began, "the list of !heap names no heap: the log is cut short or an excerpt")
	}
}

package windbg

import (
	"bytes"
	"fmt"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
)

const (
	sourceManaged = "!eeheap -gc"
	sourceLoader  = "!eeheap -loader"
)

// managedHeaps reads !eeheap -gc of any generation of SOS: the segments of each heap of the garbage collector, and
// their sums.
//
//	Number of GC Heaps: 4
//	------------------------------
//	Heap 0 (0x000dfaf0)
//	segment    begin       allocated     size
//	0x102d0000 0x102d0030  0x1165033c 0x138030c(20,448,012)
//	Large object heap starts at 0x202d0030
//	0x202d0000 0x202d0030  0x20636810 0x003667e0(3,565,536)
//	Heap Size  0x16e6aec(24,013,548)
//	------------------------------
//	GC Heap Size  0x54e06e8(88,999,656)
//
// In later versions the rows have a fourth address, the end of what is committed, and a second size. There are pinned
// and frozen objects. With regions, small objects stand under "generation 0:", and a size of 0 is blank:
//
//	7f104ad7e1a8     7f106a800028     7f106a800028     7f106a801000                    0x1000 (4096)
//
// A workstation collector has one heap and no line that begins it.
type managedHeaps struct {
	r         *reader
	in        *instant
	began     int64
	heap      *capture.ManagedHeap // the last of m.Managed, or nil
	part      func(h *capture.ManagedHeap) *int64
	expected  int64 // heaps
	first     int   // place of the first heap in m.Managed
	committed int64
	complete  bool // the total was there
}

func openManaged(r *reader, text []byte) section {
	_, number, _ := bytes.Cut(text, []byte(":"))
	expected, ok := decimal(bytes.TrimSpace(number))
	if !ok {
		return nil
	}
	in := r.begin(sourceManaged, sourceManaged)
	return &managedHeaps{r: r, in: in, began: r.in.number, expected: expected,
		first: len(in.m.Managed), part: smallObjects}
}

func smallObjects(h *capture.ManagedHeap) *int64 { return &h.Small }

// parts are the lines that say what the segments below them hold, in lower case; nil is what the model has no figure
// for.
var parts = []struct {
	prefix string
	part   func(h *capture.ManagedHeap) *int64
}{
	{"small object heap", smallObjects},
	{"generation ", smallObjects},
	{"ephemeral segment", smallObjects},
	{"large object heap", func(h *capture.ManagedHeap) *int64 { return &h.Large }},
	{"pinned object heap", func(h *capture.ManagedHeap) *int64 { return &h.Pinned }},
	{"frozen object heap", nil},
	{"nongc heap", nil},
}

// totals are the lines with the sum of a heap.
var totals = []string{"Heap Size", "Allocated Heap Size:", "Total Allocated Size:", "Total Size"}

func (s *managedHeaps) line(text []byte) bool {
	if s.complete {
		if rest, ok := bytes.CutPrefix(text, []byte("GC Committed Heap Size:")); ok {
			s.committed, _, _ = amounts(rest)
			return true
		}
		return false
	}
	switch {
	case hexValue[text[0]] >= 0 && s.segment(text):
		return true
	case bytes.HasPrefix(text, []byte("Heap ")) && bytes.IndexByte(text, '(') > 0 && bytes.IndexByte(text, 'z') < 0:
		s.begin(plain(text[:bytes.IndexByte(text, '(')]))
		return true
	case bytes.HasPrefix(text, []byte("GC Heap Size")), bytes.HasPrefix(text, []byte("GC Allocated Heap Size:")):
		s.total(text)
		return true
	case isRule(text), bytes.HasPrefix(text, []byte("segment ")), bytes.HasPrefix(text, []byte("Committed Heap Size:")),
		bytes.HasPrefix(text, []byte("Total Committed Size:")):
		return true
	}
	for _, prefix := range totals {
		if rest, ok := bytes.CutPrefix(text, []byte(prefix)); ok {
			s.heapTotal(rest)
			return true
		}
	}
	return s.heading(text)
}

func (s *managedHeaps) heading(text []byte) bool {
	lower := bytes.ToLower(text[:min(len(text), 32)])
	for i := range parts {
		if bytes.HasPrefix(lower, []byte(parts[i].prefix)) {
			s.part = parts[i].part
			return true
		}
	}
	return false
}

// begin adds a heap.
func (s *managedHeaps) begin(name string) {
	s.heap, s.part = nil, smallObjects
	if len(s.in.m.Managed)-s.first == maxHeaps {
		s.r.dropped.add(s.r.in.number)
	} else if s.r.keep(1) {
		s.in.m.Managed = append(s.in.m.Managed, capture.ManagedHeap{Name: name})
		s.heap = &s.in.m.Managed[len(s.in.m.Managed)-1]
	}
}

// segment takes a row, if the line is one: three addresses and a size, or four and two sizes, of which the first may be
// blank.
func (s *managedHeaps) segment(text []byte) bool {
	w := split(text)
	address, n := addressesOf(&w)
	if n < 3 {
		looksLike := n > 0 && len(w.words[0]) >= 8 && bytes.IndexByte(text, '(') > 0
		if looksLike {
			s.in.malformed.add(s.r.in.number)
		}
		return looksLike
	}
	begin, end := address[1], address[2]
	printed, count, ok := amounts(rowTail(text, n))
	if !ok || end < begin || end-begin > 1<<62 {
		s.in.malformed.add(s.r.in.number)
		return true
	}
	used := int64(end - begin)
	if n == 4 && count == 1 && used == 0 {
		printed = 0 // what is blank was allocated, and the one size is committed
	}
	if printed != used {
		s.in.contradict(s.r.in.number, "!eeheap -gc has a segment whose addresses do not make its size; the addresses count")
	}
	if s.heap == nil && len(s.in.m.Managed) == s.first {
		s.begin("GC heap")
	}
	if s.heap != nil {
		s.heap.Segments++
		s.heap.Bytes = sum(s.heap.Bytes, used)
		if s.part != nil {
			p := s.part(s.heap)
			*p = sum(*p, used)
		}
	}
	return true
}

// addressesOf reads the addresses that a row begins with.
func addressesOf(w *row) (address [4]uint64, n int) {
	for n < min(w.n, len(address)) && bytes.IndexByte(w.words[n], '(') < 0 {
		v, ok := hex(w.words[n])
		if !ok || n == 3 && (w.n == 4 || w.words[4][0] == '(' && w.n == 5) {
			break // a size without its brackets on it
		}
		address[n] = v
		n++
	}
	return address, n
}

// rowTail is what follows the first n words of a line.
func rowTail(text []byte, n int) []byte {
	for range n {
		text = bytes.TrimLeft(text, " \t")
		at := bytes.IndexAny(text, " \t")
		if at < 0 {
			return nil
		}
		text = text[at:]
	}
	return text
}

// amounts reads sizes as SOS prints them, "0x138030c(20,448,012)" or "Size: 0x5b1000 (5967872) bytes": the first of
// them, and how many there are. The decimal digits are grouped as on the machine, and must say the same.
func amounts(text []byte) (first int64, count int, ok bool) {
	for {
		open, end := bytes.IndexByte(text, '('), bytes.IndexByte(text, ')')
		if open < 0 || end < open {
			return first, count, count > 0
		}
		_, number := cutWord(text[:open])
		v, isNumber := size(number)
		again, isDecimal := grouped(text[open+1 : end])
		if !isNumber || !isDecimal || v != again {
			return first, count, false
		}
		if count++; count == 1 {
			first = v
		}
		text = text[end+1:]
	}
}

// heapTotal checks the sum of a heap.
func (s *managedHeaps) heapTotal(text []byte) {
	printed, _, ok := amounts(text)
	switch {
	case !ok:
		s.in.malformed.add(s.r.in.number)
	case s.heap != nil && printed != s.heap.Bytes:
		s.in.contradict(s.r.in.number, "%s of !eeheap -gc is %s bytes by its segments and %s by its total",
			s.heap.Name, quantity.Count(s.heap.Bytes), quantity.Count(printed))
	}
}

// total checks the sum of all heaps, which ends the output.
func (s *managedHeaps) total(text []byte) {
	printed, _, ok := amounts(text)
	if !ok {
		s.in.malformed.add(s.r.in.number)
		return
	}
	s.complete = true
	if all := s.all(); all != printed {
		s.in.contradict(s.r.in.number, "the heaps of !eeheap -gc hold %s bytes by their segments and %s by the total",
			quantity.Count(all), quantity.Count(printed))
	}
}

// all is the bytes of the heaps of this output.
func (s *managedHeaps) all() (total int64) {
	for i := range s.in.m.Managed[s.first:] {
		total = sum(total, s.in.m.Managed[s.first+i].Bytes)
	}
	return total
}

func (s *managedHeaps) close() {
	if found := int64(len(s.in.m.Managed) - s.first); !s.complete || found < s.expected {
		s.in.truncate(s.began, "!eeheap -gc is incomplete, %d of %d heaps are there: the log is cut short or an excerpt",
			found, s.expected)
	}
	if s.committed > 0 {
		s.in.addNote(s.r, capture.TopicManaged,
			fmt.Sprintf("the garbage collector has committed %s for %s that are allocated", quantity.Bytes(s.committed), quantity.Bytes(s.all())))
	}
}

// openLoader takes the one line of !eeheap -loader that matters: "Total LoaderHeap size: Size: 0x5b1000 (5967872) bytes
// total, …".
func openLoader(r *reader, text []byte) section {
	amount, _, ok := amounts(text)
	if !ok {
		return nil
	}
	in := r.begin(sourceLoader, sourceLoader)
	in.addNote(r, capture.TopicManaged,
		fmt.Sprintf("the loader heaps of the runtime, for types and code, hold %s", quantity.Bytes(amount)))
	return oneLine{}
}

// oneLine is a section that is over already.
type oneLine struct{}

func (oneLine) line([]byte) bool { return false }

func (oneLine) close() {}

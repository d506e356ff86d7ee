package windbg

import (
	"bytes"
	"fmt"

	"heapdrift/ingest/capture"
)

// filter reads !heap -flt s N and -flt r A B, and the lists of !heap -p -all: for each heap the blocks whose size
// passes.
//
//	_HEAP @ 510000
//	HEAP_ENTRY Size Prev Flags    UserPtr UserSize - state
//	  0ac49018 2ae00 0000  [00]   0ac49030    156600 - (busy VirtualAlloc)
//	    unknown!printable
//
// With page heap the blocks stand below its root:
//
//	_DPH_HEAP_ROOT @ 297e9ed1000
//	Freed and decommitted blocks
//	  DPH_HEAP_BLOCK : VirtAddr VirtSize
//	Busy allocations
//	  DPH_HEAP_BLOCK : UserAddr  UserSize - VirtAddr VirtSize
//	    00000297e9edb068 : 00000297ec170600 0000000002625a00 - 00000297ec170000 0000000002627000
//
// Where the line of an address is missing from the answer of !heap -p -a, the stack of the block follows its row.
type filter struct {
	r      *reader
	in     *instant
	heap   capture.Address
	seen   map[capture.Address]bool // heaps of this output
	sizes  sizer
	began  int64
	rows   int
	freed  bool  // the page heap's blocks that follow are freed
	block  entry // of the row before
	stack  *block
	source string
}

const sourceFilter = "!heap -flt"

func openFilter(r *reader, text []byte) section {
	heap, ok := cutHeap(text)
	if !ok {
		return nil
	}
	s := newFilter(r)
	s.enter(heap)
	return s
}

// A root is the line of a page heap, which begins a list or the answer to a question after one block.
type root struct {
	r    *reader
	heap uint64
}

func openRoot(r *reader, text []byte) section {
	heap, ok := cutHeap(text)
	if !ok {
		return nil
	}
	r.end()
	return &root{r, heap}
}

func (s *root) line(text []byte) bool {
	if bytes.HasPrefix(text, []byte("in busy allocation")) || bytes.HasPrefix(text, []byte("in free-ed allocation")) {
		return false
	}
	list := newFilter(s.r)
	list.enter(s.heap)
	s.r.section = list
	return list.line(text)
}

func (s *root) close() {}

// openEntries opens an excerpt that begins behind the line of its heap, which the command may tell.
func openEntries(r *reader, text []byte) section {
	_, like, ok := parseEntry(text)
	if !isEntryHeader(text) && (!like || !ok) {
		return nil
	}
	s := newFilter(r)
	s.enter(heapOf(r.command))
	if !isEntryHeader(text) {
		s.line(text)
	}
	return s
}

func newFilter(r *reader) *filter {
	key, source := sourceFilter, sourceFilter
	switch argument := argumentOf(r.command, "-flt"); {
	case argument != nil:
		key = fmt.Sprintf("!heap -flt %s", argument)
	case bytes.Contains(r.command, []byte("-p")):
		key, source = fmt.Sprintf("!heap -p %s", argumentOf(r.command, "-p")), "!heap -p"
	}
	in := r.begin(key, source)
	return &filter{r: r, in: in, sizes: newSizer(r, in), seen: map[capture.Address]bool{},
		began: r.in.number, source: source}
}

func (s *filter) enter(heap uint64) {
	s.flush()
	s.heap, s.freed = capture.Address(heap), false
	s.seen[s.heap] = true
}

func (s *filter) line(text []byte) bool {
	if heap, ok := cutHeap(text); ok {
		if s.seen[capture.Address(heap)] || len(s.seen) == maxHeaps {
			return false // the command ran again
		}
		s.enter(heap)
		return true
	}
	switch {
	case isEntryHeader(text), bytes.HasPrefix(text, []byte("DPH_HEAP_BLOCK :")),
		bytes.HasPrefix(text, []byte("_HEAP_LOOKASIDE @")),
		bytes.HasPrefix(text, []byte("_HEAP_SEGMENT @")), bytes.HasPrefix(text, []byte("_HEAP_SUBSEGMENT")),
		bytes.HasPrefix(text, []byte("_LFH_HEAP @")),
		bytes.HasPrefix(text, []byte("CommittedRange")), bytes.HasPrefix(text, []byte("uncommitted bytes")),
		bytes.HasPrefix(text, []byte("VirtualAlloc")):
		return true
	case bytes.HasPrefix(text, []byte("Freed and decommitted blocks")), bytes.HasPrefix(text, []byte("Busy allocations")):
		s.freed = text[0] == 'F'
		return true
	case isEllipsis(text):
		s.in.truncate(s.r.in.number, "blocks of %s are left out in the log", s.source)
		return true
	}
	e, like, ok := parseEntry(text)
	if !like {
		e, like, ok = parsePageBlock(text)
		e.busy = !s.freed
	}
	switch {
	case !like:
		return s.follows(text)
	case !ok:
		s.in.malformed.add(s.r.in.number)
	case e.busy:
		s.flush()
		s.rows++
		s.block = e
		s.sizes.count(s.heap, e)
	}
	return true
}

// follows takes what the block looks like, or a frame of its stack.
func (s *filter) follows(text []byte) bool {
	if frame, _, ok := parseFrame(plain(text)); s.rows > 0 && (s.stack != nil || ok && frame.Module != "") {
		if s.stack == nil {
			s.stack = &block{r: s.r, in: s.in, asked: fmt.Sprintf("%x", s.block.user), began: s.r.in.number, found: true,
				user: s.block.user, size: s.block.bytes}
		}
		return s.stack.line(text)
	}
	return bytes.IndexByte(text, '!') > 0 && bytes.IndexByte(text, ' ') < 0
}

// flush keeps the block whose stack is over.
func (s *filter) flush() {
	if s.stack != nil {
		s.stack.close()
		s.stack = nil
	}
}

func (s *filter) close() {
	s.flush()
	if s.rows == 0 {
		s.in.addNote(s.r, capture.TopicInfo, fmt.Sprintf("%s lists no busy block", s.source))
	}
}

// parsePageBlock reads the row of a block of a page heap.
func parsePageBlock(text []byte) (e entry, like, ok bool) {
	if hexValue[text[0]] < 0 || bytes.IndexByte(text, ':') < 0 {
		return e, false, false
	}
	w := split(text)
	if w.n != 7 || string(w.words[1]) != ":" || string(w.words[4]) != "-" {
		return e, false, false
	}
	user, okUser := hex(w.words[2])
	amount, okBytes := size(w.words[3])
	return entry{user, amount, true}, true, okUser && okBytes
}

// heapOf is the heap that a command names, "!heap -stat -h 510000"; 0 where it names none.
func heapOf(command []byte) uint64 {
	for _, option := range [...]string{"-h", "-a", "-f", "-m"} {
		if argument := argumentOf(command, " "+option); len(argument) > 0 {
			w := split(argument)
			if v, ok := hex(w.words[0]); ok {
				return v
			}
		}
	}
	return 0
}

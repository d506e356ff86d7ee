package windbg

import (
	"bytes"
	"strings"

	"heapdrift/ingest/capture"
)

// heapDetails reads !heap -s of one heap, which tells it line by line:
//
//	0: Heap 00140000
//	  Flags          00000002 - HEAP_GROWABLE
//	  Reserved memory in segments              1024 (k)
//	  Commited memory in segments              896 (k)
//	  Virtual bytes (correction for large UCR) 896 (k)
//	  Free space                               6 (k) (1 blocks)
//	  Virtual blocks  11 - total 45056 KBytes
//	  Lock contention 0
//	  Segments        1
type heapDetails struct {
	r    *reader
	in   *instant
	heap *capture.HeapFacts
	rows int
}

func openHeapDetails(r *reader, text []byte) section {
	if !digitsAt(text, 0, 1) || !bytes.Contains(text, []byte(": Heap ")) {
		return nil
	}
	w := split(text)
	number, colon := bytes.CutSuffix(w.words[0], []byte(":"))
	_, isNumber := decimal(number)
	handle, ok := hex(w.words[2])
	if w.n != 3 || !colon || !isNumber || string(w.words[1]) != "Heap" || !ok || len(w.words[2]) < 5 {
		return nil
	}
	in := r.begin("!heap -s of heap "+capture.Address(handle).String(), sourceHeaps)
	s := &heapDetails{r: r, in: in, heap: in.heap(r, capture.Address(handle))}
	if h := s.heap; h != nil {
		h.Kind, h.Bits = "NT heap", wide(w.words[2])
		in.c.Process.Bits = max(in.c.Process.Bits, h.Bits)
	}
	return s
}

// detailsOf are the lines of a heap, in lower case, with the first of their numbers; those in KiB say so behind it.
var detailsOf = []struct {
	prefix string
	take   func(h *capture.HeapFacts) *int64
}{
	{"reserved memory in segments", func(h *capture.HeapFacts) *int64 { return &h.Reserved }},
	{"commited memory in segments", func(h *capture.HeapFacts) *int64 { return &h.Committed }},
	{"committed memory in segments", func(h *capture.HeapFacts) *int64 { return &h.Committed }},
	{"virtual bytes (correction for large ucr)", func(h *capture.HeapFacts) *int64 { return &h.Virtual }},
	{"free space", func(h *capture.HeapFacts) *int64 { return &h.Free.Bytes }},
	{"virtual blocks", func(h *capture.HeapFacts) *int64 { return &h.Blocks.Count }},
	{"lock contention", func(h *capture.HeapFacts) *int64 { return &h.Contention }},
	{"segments", func(h *capture.HeapFacts) *int64 { return &h.Segments }},
}

func (s *heapDetails) line(text []byte) bool {
	if isRule(text) || isEllipsis(text) {
		return true
	}
	line := strings.ToLower(plain(text))
	for _, d := range detailsOf {
		rest, ok := strings.CutPrefix(line, d.prefix)
		if !ok {
			continue
		}
		unit := int64(1)
		if strings.Contains(rest, "(k)") {
			unit = 1 << 10
		}
		w := split([]byte(rest))
		v, isNumber := scaled(w.words[0], unit)
		if !isNumber {
			s.in.malformed.add(s.r.in.number)
			return true
		}
		s.rows++
		if s.heap != nil && *d.take(s.heap) == 0 {
			*d.take(s.heap) = v
			s.second(d.prefix, rest)
		}
		return true
	}
	for _, known := range [...]string{"flags", "external fragmentation", "virtual address fragmentation",
		"low fragmentation heap", "metadata usage", "statistics"} {
		if strings.HasPrefix(line, known) {
			return true
		}
	}
	return false
}

// second takes the second number of a line: how many free blocks there are, or how large the virtual blocks are.
func (s *heapDetails) second(prefix, rest string) {
	switch prefix {
	case "free space":
		if _, more, ok := strings.Cut(rest, "(k) ("); ok {
			s.heap.Free.Count, _ = decimal(split([]byte(more)).words[0])
		}
	case "virtual blocks":
		if _, more, ok := strings.Cut(rest, "total "); ok {
			s.heap.Blocks.Bytes, _ = scaled(split([]byte(more)).words[0], 1<<10)
		}
	}
}

func (s *heapDetails) close() {
	if s.rows == 0 {
		s.in.truncate(s.r.in.number, "!heap -s names a heap and no figure of it: the log is cut short or an excerpt")
	}
}

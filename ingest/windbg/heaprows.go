package windbg

import (
	"bytes"

	"heapdrift/ingest/capture"
)

// openRows opens an excerpt that begins with a row, or goes on behind what somebody wrote between two rows.
func openRows(r *reader, text []byte) section {
	isBlock := bytes.HasPrefix(text, []byte("Virtual block: "))
	handle, isRow := heapRow(text)
	if !isRow && !isBlock {
		if hexValue[text[0]] < 0 || !r.now.has(sourceHeaps) {
			return nil
		}
		if w := split(text); w.n > 4 && len(w.words[0]) >= 8 && isHex(string(w.words[0])) && isBegun(&w) {
			r.now.malformed.add(r.in.number) // it would be a row if it were whole
		}
		return nil
	}
	if _, known := r.now.heaps[handle]; r.now.has(sourceHeaps) && !known && isRow {
		r.end()
		r.question.answered = true
		s := newHeaps(r, r.now)
		s.state = tableRows
		s.line(text)
		return s
	}
	s := newHeaps(r, r.begin(sourceHeaps, sourceHeaps))
	s.state = tableRows
	s.line(text)
	return s
}

// openSegmentHeap opens an excerpt that begins with the row of a segment heap.
func openSegmentHeap(r *reader, text []byte) section {
	if !isSegmentRow(text) {
		return nil
	}
	s := openHeaps(r)
	s.line(text)
	return s
}

// heapRow is the heap of a line that can be nothing but the row of an NT heap.
func heapRow(text []byte) (capture.Address, bool) {
	if hexValue[text[0]] < 0 {
		return 0, false
	}
	const lock = 9 // the column
	w := split(text)
	handle, ok := hex(w.words[0])
	flags := len(w.words[1]) == 8 && isHex(string(w.words[1]))
	if !ok || !flags || w.n <= lock || w.n > lock+2 || len(w.words[0]) < 8 {
		return 0, false
	}
	for _, word := range w.words[2:lock] {
		if _, isNumber := decimal(word); !isNumber || len(word) > 1 && word[0] == '0' {
			return 0, false
		}
	}
	_, known := frontEnds[string(w.words[lock+1])]
	return capture.Address(handle), known
}

// heading takes what is left of the header's lines where mail has broken them, and what the debugger says below it.
func (s *heaps) heading(text []byte) bool {
	if bytes.HasPrefix(text, []byte("No heaps to display")) {
		s.in.addNote(s.r, capture.TopicInfo, "!heap -s has no heap to display")
		return true
	}
	for _, word := range [...]string{"Fast", "heap", "blocks", "cont", "Lock", "length", "List", "Virt", "UCR", "(k)"} {
		if bytes.HasPrefix(text, []byte(word)) && s.odd < 4 {
			s.odd++
			return true
		}
	}
	return false
}

// goesOn takes the second part of a row that mail has broken in two.
func (s *heaps) goesOn(text []byte) bool {
	if len(s.wrapped) == 0 {
		if _, known := frontEnds[string(text)]; known && s.last != nil && s.last.FrontEnd == "" && s.last.Kind == "NT heap" {
			s.last.FrontEnd = frontEnds[string(text)]
			return true
		}
		return false
	}
	whole := append(append(s.wrapped, ' '), text...)
	s.wrapped = nil
	if _, ok := heapRow(whole); ok {
		return s.row(whole)
	}
	s.in.malformed.add(s.r.in.number)
	return false
}

// unwrap gives up a row whose second part has not come.
func (s *heaps) unwrap() {
	if len(s.wrapped) > 0 {
		s.wrapped = nil
		s.in.malformed.add(s.r.in.number)
	}
}

// isBegun reports whether the words that are there are those that a row begins with.
func isBegun(w *row) bool {
	for _, word := range w.words[2:min(w.n, len(w.words))] {
		if _, ok := decimal(word); !ok || len(word) > 1 && word[0] == '0' {
			return false
		}
	}
	return len(w.words[1]) == 8
}

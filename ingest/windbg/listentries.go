package windbg

import (
	"bytes"

	"heapdrift/ingest/capture"
)

// entry takes the row of a block, of a virtual block, or of what is not committed.
func (s *list) entry(text []byte) bool {
	if hexValue[text[0]] < 0 {
		return false
	}
	at := bytes.IndexByte(text, ':')
	if at < 5 || at > 20 {
		return false
	}
	address, ok := hex(text[:at])
	if !ok {
		return false
	}
	rest := text[at+1:]
	requested, busy := cutBusy(rest)
	w := split(rest)
	switch {
	case w.n >= 4 && string(w.words[1]) == ".":
		total, okTotal := size(w.words[2])
		if !okTotal || busy && (requested > total || requested < 0) {
			s.in.malformed.add(s.r.in.number)
		} else if busy && s.entries && !bytes.Contains(rest, []byte("Internal")) {
			s.block(entry{address, requested, true}, total-requested)
		}
	case busy && bytes.Contains(rest, []byte("[")):
		if bytes.Contains(rest, []byte("[comm")) { // newer versions print the requested size first
			if v, okSize := size(w.words[0]); okSize {
				requested = v
			}
		}
		s.virtualBlock(address, requested)
	default:
		return bytes.Contains(rest, []byte("uncommitted bytes")) || bytes.Contains(rest, []byte(" bytes)")) || w.n == 1
	}
	return true
}

// virtualBlock takes a block outside of the segments.
func (s *list) virtualBlock(address uint64, requested int64) {
	if requested < 0 {
		s.in.malformed.add(s.r.in.number)
		return
	}
	s.sums.Blocks.Count++
	s.sums.Blocks.Bytes = sum(s.sums.Blocks.Bytes, requested)
	s.block(entry{address, requested, true}, 0)
}

// cutBusy reads the state "- busy (1d), tail fill"; −1 for a size that is none.
func cutBusy(text []byte) (requested int64, busy bool) {
	_, rest, busy := bytes.Cut(text, []byte("- busy ("))
	if !busy {
		return 0, false
	}
	number, _, closed := bytes.Cut(rest, []byte(")"))
	if v, ok := size(number); ok && closed {
		return v, true
	}
	return -1, true
}

func (s *list) block(e entry, overhead int64) {
	if s.heap == nil {
		return
	}
	s.busy = capture.Usage{Count: sum(s.busy.Count, 1), Bytes: sum(s.busy.Bytes, e.bytes),
		Overhead: sum(s.busy.Overhead, overhead)}
	s.sizes.count(s.heap.Handle, e)
}

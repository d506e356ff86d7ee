package windbg

import "bytes"

// An entry is the row of a block as !heap -flt and !heap -p -a print it. All numbers are hexadecimal. Size (with the
// header) and Prev (of the block before) are in units of the heap; UserSize is in bytes:
//
//	HEAP_ENTRY Size Prev Flags    UserPtr UserSize - state
//	  0ac49018 2ae00 0000  [00]   0ac49030    156600 - (busy VirtualAlloc)
type entry struct {
	user  uint64
	bytes int64
	busy  bool
}

// parseEntry reads a row. like says that the line is meant to be one, right or wrong.
func parseEntry(text []byte) (e entry, like, ok bool) {
	if hexValue[text[0]] < 0 || bytes.IndexByte(text, '[') < 0 {
		return e, false, false
	}
	w := split(text)
	const state = 7 // the word
	if w.n <= state || w.n > len(w.words) || w.words[3][0] != '[' || string(w.words[6]) != "-" {
		return e, true, false
	}
	last := w.words[w.n-1]
	user, okUser := hex(w.words[4])
	amount, okBytes := size(w.words[5])
	ok = okUser && okBytes && w.words[state][0] == '(' && last[len(last)-1] == ')'
	return entry{user, amount, bytes.HasPrefix(w.words[state], []byte("(busy"))}, true, ok
}

func isEntryHeader(text []byte) bool { return bytes.HasPrefix(text, []byte("HEAP_ENTRY ")) }

// cutHeap reads "_HEAP @ 510000" and "_DPH_HEAP_ROOT @ 6731000".
func cutHeap(text []byte) (uint64, bool) {
	rest, ok := bytes.CutPrefix(text, []byte("_HEAP @ "))
	if !ok {
		rest, ok = bytes.CutPrefix(text, []byte("_DPH_HEAP_ROOT @ "))
	}
	if !ok {
		return 0, false
	}
	heap, ok := hex(bytes.TrimSpace(rest))
	return heap, ok
}

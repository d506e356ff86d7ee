package windbg

import (
	"bytes"
	"unicode/utf8"
)

// anchors are what nobody but the debugger writes, wherever it stands in a line.
var anchors = [][]byte{
	[]byte("Heap     Flags   Reserv"), []byte("heap @ "), []byte("_HEAP @ "), []byte("_DPH_HEAP_ROOT @ "),
	[]byte("group-by: "), []byte("LFH Key  "), []byte("Index   Address  Name"),
	[]byte("Heap Address      NT/Segment"), []byte("HEAP_ENTRY Size Prev"),
	[]byte("Searching the memory for potential unreachable"), []byte("Segment at "), []byte("VERIFIER STOP "),
	[]byte("--- Usage Summary ---"), []byte("-------------------- Usage SUMMARY ---"), []byte("Entry     User      Heap"),
	[]byte("Entry             User              Heap"),
}

// anchorIn is the place of text that only the debugger writes, or of a prompt with a command whose output is read; −1
// where there is none.
func anchorIn(text []byte) int {
	if len(text) < 8 {
		return -1
	}
	if at := bytes.Index(text, []byte("> !")); at > 0 {
		start := at
		for start > 0 && (digitsAt(text, start-1, 1) || text[start-1] == ':') {
			start--
		}
		if command, _, ok := cutPrompt(text[start:]); ok && start > 0 && isBareCommand(command) {
			return start
		}
	}
	for at, c := range text {
		for _, a := range anchorsBy[c] {
			if !bytes.HasPrefix(text[at:], a) {
				continue
			}
			if at == 0 || !saysMore(text[:at]) && isAnchored(text[at:], a) {
				return at
			}
		}
	}
	return -1
}

// anchorsBy are the anchors by their first byte.
var anchorsBy = func() (t [256][][]byte) {
	for _, a := range anchors {
		t[a[0]] = append(t[a[0]], a)
	}
	return t
}()

// isAnchored reports whether what stands behind an anchor is what the debugger prints there. Prose has its words, too.
func isAnchored(text, anchor []byte) bool {
	w := split(text[len(anchor):])
	switch word := w.words[0]; string(anchor) {
	case "heap @ ", "_HEAP @ ", "_DPH_HEAP_ROOT @ ":
		return w.n == 1 && isHex(string(word))
	case "VERIFIER STOP ":
		return isHex(string(bytes.TrimRight(word, ":"))) && bytes.Contains(text, []byte("pid "))
	case "Segment at ":
		_, _, _, ok := cutSegment(text)
		return ok
	}
	return true
}

// saysMore reports whether text before an anchor is the debugger's own.
func saysMore(before []byte) bool {
	for _, own := range []string{"Allocations statistics for", "Start of data for", "End of data for", "Heap entries",
		"found in", "busy", "Walking"} {
		if bytes.Contains(before, []byte(own)) {
			return true
		}
	}
	return false
}

// isDash reports whether a rune is drawn as a dash.
func isDash(r rune) bool {
	switch r {
	case '-', '\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2015', '\u2212', '\u2500', '\u2501', '\u2550':
		return true
	}
	return false
}

// isRule reports whether a line is a rule of dashes, and no title with dashes around it. Pages make long dashes of
// short ones, and tables cut them at their columns.
func isRule(text []byte) bool {
	n := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if i += size; isDash(r) {
			n++
		} else if r != ' ' && r != '\t' && r != ':' {
			return false
		}
	}
	return n >= 5
}

package windbg

import (
	"bytes"
	"context"
	"io"
)

// Sniff reports whether head, the first bytes of a file, looks like a log of WinDbg or text pasted from one: up to 64
// KiB in any encoding that Read takes, pages included that quote a debugger.
func Sniff(head []byte) bool {
	text, ok := sniffText(head)
	if !ok {
		return false
	}
	var p paste
	for line := range bytes.Lines(text) {
		line, _ = unmark(bytes.Trim(line, " \t\r\n\x00"), nil)
		line = p.strip(line)
		if len(line) > 0 && isOurs(line) {
			return true
		}
	}
	return false
}

// banners are lines that a debugger or a log of it begins with.
var banners = []string{"Microsoft (R) Windows Debugger Version ", "Opened log file '",
	"NT HEAP STATS BELOW", "HEAP ERROR DETECTED"}

// isOurs reports whether a line is one that nothing but a debugger writes.
func isOurs(line []byte) bool {
	for _, banner := range banners {
		if bytes.HasPrefix(line, []byte(banner)) {
			return true
		}
	}
	if rest, ok := bytes.CutPrefix(line, []byte("VERIFIER STOP ")); ok {
		w := split(rest)
		return isHex(string(bytes.TrimRight(w.words[0], ":")))
	}
	if command, _, ok := cutPrompt(line); ok {
		return isBareCommand(command) && !bytes.HasPrefix(line, []byte("!")) // without a prompt it may be an instruction to a reader
	}
	if _, _, ok := titleOf(line); ok {
		return bytes.Contains(line, []byte("RgnCount")) || bytes.Contains(line, []byte(" SUMMARY ---")) ||
			bytes.Contains(line, []byte("Region Size"))
	}
	if _, ok := heapRow(line); ok || isSegmentRow(line) {
		return true
	}
	if _, _, _, ok := cutSegment(line); ok {
		return true
	}
	if w := split(line); isSizeRow(&w) || w.n >= 3 && string(w.words[0]) == "size" && string(w.words[1]) == "#blocks" {
		return true
	}
	if _, _, ok := tableOfRow(line); ok {
		return true
	}
	if _, like, ok := parseEntry(line); like && ok {
		return true
	}
	if _, ok := cutTotals(line); ok {
		return true
	}
	number, isCount := bytes.CutPrefix(line, []byte("Number of GC Heaps: "))
	if _, ok := decimal(number); ok && isCount {
		return true
	}
	return bytes.HasPrefix(line, []byte("Index ")) && bytes.Contains(line, []byte("Debugging options")) ||
		bytes.HasPrefix(line, []byte("Heap Address")) && bytes.Contains(line, []byte("NT/Segment Heap")) ||
		bytes.HasPrefix(line, []byte("in busy allocation (")) ||
		bytes.HasPrefix(line, []byte("address ")) && bytes.HasSuffix(line, []byte(" found in")) ||
		isHeapHeader(line) || isLeakHeader(line) || bytes.HasPrefix(line, []byte("HEAP_ENTRY Size Prev Flags")) ||
		bytes.HasPrefix(line, []byte("Searching the memory for potential unreachable")) ||
		bytes.HasPrefix(line, []byte("group-by: ")) && bytes.Contains(line, []byte(" max-display: "))
}

// sniffText gives the beginning of a file as text, unless it has bytes that text has not.
func sniffText(head []byte) ([]byte, bool) {
	text, _ := io.ReadAll(newTextDecoder(bytes.NewReader(head))) // reading from memory does not fail
	text = bytes.TrimRight(text, "\x00")
	if bytes.IndexByte(text[:min(len(text), 512)], 0) >= 0 {
		return nil, false
	}
	start := bytes.ToLower(bytes.TrimLeft(text[:min(len(text), 256)], " \t\r\n"))
	if bytes.HasPrefix(start, []byte("{\\rtf")) ||
		bytes.HasPrefix(start, []byte("<?xml")) && !bytes.Contains(start, []byte("<html")) {
		return nil, false
	}
	text, _ = io.ReadAll(openPage(context.Background(), bytes.NewReader(text)))
	return text, true
}

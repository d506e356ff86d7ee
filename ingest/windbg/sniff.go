package windbg

import (
	"bytes"
	"context"
	"io"

	"heapdrift/ingest/plaintext"
)

// Sniff reports whether head looks like a log of WinDbg, text pasted from one, or a page that quotes a debugger. head
// is up to the first 64 KiB of a file, in any encoding that Read takes.
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

// A lineKind is one form of the lines that a debugger writes.
type lineKind struct {
	is func(line []byte) bool
	// alone tells of a line of this form whether nothing but a debugger writes it; nil is always.
	alone func(line []byte) bool
}

// lineKinds are in order: the first form that a line has decides.
var lineKinds = []lineKind{
	{is: heading("Microsoft (R) Windows Debugger Version ", "")},
	{is: heading("Opened log file '", "")},
	{is: heading("NT HEAP STATS BELOW", "")},
	{is: heading("HEAP ERROR DETECTED", "")},
	{is: heading("VERIFIER STOP ", ""), alone: hasStopCode},
	{is: isPrompt, alone: asksBareCommand},
	{is: isTitle, alone: isTitleOfAddresses},
	{is: func(line []byte) bool { _, ok := heapRow(line); return ok }},
	{is: isSegmentRow},
	{is: func(line []byte) bool { _, _, _, ok := cutSegment(line); return ok }},
	{is: func(line []byte) bool { w := split(line); return isSizeRow(&w) }},
	{is: isSizeHeading},
	{is: func(line []byte) bool { _, _, ok := tableOfRow(line); return ok }},
	{is: func(line []byte) bool { _, like, ok := parseEntry(line); return like && ok }},
	{is: func(line []byte) bool { _, ok := cutTotals(line); return ok }},
	{is: isCountOfManagedHeaps},
	{is: heading("Index ", "Debugging options")},
	{is: heading("Heap Address", "NT/Segment Heap")},
	{is: heading("in busy allocation (", "")},
	{is: heading("address ", " found in"), alone: func(line []byte) bool { return bytes.HasSuffix(line, []byte(" found in")) }},
	{is: isHeapHeader},
	{is: isLeakHeader},
	{is: heading("HEAP_ENTRY Size Prev Flags", "")},
	{is: heading("Searching the memory for potential unreachable", "")},
	{is: heading("group-by: ", " max-display: ")},
}

// isOurs reports whether a line is one that nothing but a debugger writes.
func isOurs(line []byte) bool {
	for _, kind := range lineKinds {
		if kind.is(line) {
			return kind.alone == nil || kind.alone(line)
		}
	}
	return false
}

// heading is the form of lines with fixed words: at their beginning, and anywhere.
func heading(begins, has string) func(line []byte) bool {
	return func(line []byte) bool {
		return bytes.HasPrefix(line, []byte(begins)) && bytes.Contains(line, []byte(has))
	}
}

// hasStopCode reports whether a hexadecimal number follows "VERIFIER STOP".
func hasStopCode(line []byte) bool {
	w := split(line)
	return w.n > 2 && isHex(string(bytes.TrimRight(w.words[2], ":")))
}

func isPrompt(line []byte) bool {
	_, _, ok := cutPrompt(line)
	return ok
}

// asksBareCommand reports whether nothing follows the command. Without a prompt it may be an instruction to a reader.
func asksBareCommand(line []byte) bool {
	command, _, _ := cutPrompt(line)
	return isBareCommand(command) && line[0] != '!'
}

func isTitle(line []byte) bool {
	_, _, ok := titleOf(line)
	return ok
}

// isTitleOfAddresses reports whether a title is one of !address -summary.
func isTitleOfAddresses(line []byte) bool {
	return bytes.Contains(line, []byte("RgnCount")) || bytes.Contains(line, []byte(" SUMMARY ---")) ||
		bytes.Contains(line, []byte("Region Size"))
}

// isSizeHeading reports whether a line is the heading of the sizes of !heap -stat -h.
func isSizeHeading(line []byte) bool {
	w := split(line)
	return w.n >= 3 && string(w.words[0]) == "size" && string(w.words[1]) == "#blocks"
}

func isCountOfManagedHeaps(line []byte) bool {
	number, ok := bytes.CutPrefix(line, []byte("Number of GC Heaps: "))
	if ok {
		_, ok = decimal(number)
	}
	return ok
}

// sniffText gives the beginning of a file as text, unless it has bytes that text has not.
func sniffText(head []byte) ([]byte, bool) {
	text, _ := io.ReadAll(plaintext.NewDecoder(bytes.NewReader(head))) // reading from memory does not fail
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

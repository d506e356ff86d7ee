package windbg

import (
	"bytes"
	"io"
)

// Sniff reports whether head, the first bytes of a file, looks like a log of WinDbg or text pasted from one: up to 64 KiB in any
// encoding that Read takes. Pages that quote a debugger are refused.
func Sniff(head []byte) bool {
	text, ok := sniffText(head)
	if !ok {
		return false
	}
	for line := range bytes.Lines(text) {
		line, _ = unmark(bytes.Trim(line, " \t\r\n\x00"), nil)
		if len(line) > 0 && isOurs(line) {
			return true
		}
	}
	return false
}

// banners are lines that a debugger or a log of it begins with.
var banners = []string{"Microsoft (R) Windows Debugger Version ", "Opened log file '", "NT HEAP STATS BELOW", "VERIFIER STOP "}

// isOurs reports whether a line is one that nothing but a debugger writes.
func isOurs(line []byte) bool {
	for _, banner := range banners {
		if bytes.HasPrefix(line, []byte(banner)) {
			return true
		}
	}
	if command, _, ok := cutPrompt(line); ok {
		return isBareCommand(command) && !bytes.HasPrefix(line, []byte("!")) // without a prompt it may be an instruction to a reader
	}
	if _, _, ok := titleOf(line); ok {
		return bytes.Contains(line, []byte("RgnCount")) || bytes.Contains(line, []byte(" SUMMARY ---")) || bytes.Contains(line, []byte("Region Size"))
	}
	number, isCount := bytes.CutPrefix(line, []byte("Number of GC Heaps: "))
	if _, ok := decimal(number); ok && isCount {
		return true
	}
	return isHeapHeader(line) || isLeakHeader(line) || bytes.HasPrefix(line, []byte("HEAP_ENTRY Size Prev Flags")) ||
		bytes.HasPrefix(line, []byte("Searching the memory for potential unreachable")) || bytes.HasPrefix(line, []byte("group-by: ")) && bytes.Contains(line, []byte(" max-display: "))
}

// sniffText gives the beginning of a file as text, unless it has bytes that text has not.
func sniffText(head []byte) ([]byte, bool) {
	text, _ := io.ReadAll(newDecoded(bytes.NewReader(head))) // reading from memory does not fail
	text = bytes.TrimRight(text, "\x00")
	if bytes.IndexByte(text[:min(len(text), 512)], 0) >= 0 {
		return nil, false
	}
	start := bytes.ToLower(bytes.TrimLeft(text[:min(len(text), 256)], " \t\r\n"))
	for _, markup := range []string{"<!doctype", "<?xml", "<html", "<head", "<body", "{\\rtf"} {
		if bytes.HasPrefix(start, []byte(markup)) {
			return nil, false
		}
	}
	return text, true
}

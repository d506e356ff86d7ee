package windbg

import (
	"strings"

	"heapdrift/ingest/capture"
)

// parseFrame reads a line of a stack. Addresses and offsets are hexadecimal, line numbers decimal:
//
//	7710a2a0 ntdll!RtlAllocateHeap+0x000001fe
//	00007ff67bdf1481 app!Calculator::History+0x71 [c:\src\calculator.cpp @ 68]
//	6a4aca4e leak+0x0001ca4e                 no symbol
//	ntdll!RtlpAllocateHeap+0x92780           newer versions
//	77dd662d                                 no module: the text is empty
//
// It is read from its right end, because names contain blanks, "+" and brackets.
func parseFrame(line string) (text capture.FrameText, address uint64, ok bool) {
	first, rest, _ := strings.Cut(line, " ")
	if v, isNumber := hex([]byte(first)); isNumber && len(first) >= 8 {
		address, line = v, strings.TrimSpace(rest)
		if line == "" {
			return text, address, true
		}
	}
	line, text.File, text.Line = cutSource(line)
	name, offset, found := cutLast(line, "+")
	if v, isNumber := hex([]byte(offset)); found && isNumber {
		text.Offset, line = v, name
	} else if found = false; address == 0 {
		return capture.FrameText{}, 0, false // without any number it may as well be prose
	}
	module, function, hasName := strings.Cut(line, "!")
	if module == "" || strings.ContainsAny(module, " \t") || !hasName && !found || hasName && function == "" {
		return capture.FrameText{}, 0, false
	}
	text.Module, text.Function = module, function
	return text, address, true
}

// cutSource takes " [path @ line]" off the end of a frame. It begins behind the offset: names and paths have brackets,
// too.
func cutSource(s string) (rest, file string, line uint32) {
	inner, closed := strings.CutSuffix(s, "]")
	for from := 0; closed; {
		at := strings.Index(inner[from:], " [")
		if at < 0 {
			break
		}
		at += from
		from = at + 1
		before := strings.TrimSpace(inner[:at])
		if _, offset, found := cutLast(before, "+"); !found || !isHex(offset) {
			continue
		}
		path, number, found := cutLast(inner[at+len(" ["):], " @ ")
		n, ok := decimal([]byte(number))
		if !found || !ok || n >= 1<<32 {
			break
		}
		return before, path, uint32(n)
	}
	return s, "", 0
}

func isHex(s string) bool {
	_, ok := hex([]byte(s))
	return ok
}

func cutLast(s, sep string) (before, after string, found bool) {
	if at := strings.LastIndex(s, sep); at >= 0 {
		return s[:at], s[at+len(sep):], true
	}
	return s, "", false
}

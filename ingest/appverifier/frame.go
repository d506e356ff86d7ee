package appverifier

import (
	"strconv"
	"strings"

	"heapdrift/ingest/capture"
)

// maxImage is more than an image of a program has, in bytes: a number beyond it is an address and no offset.
const maxImage = 1 << 28

// parseFrame reads a line of a stack; offsets are hexadecimal, line numbers decimal:
//
//	app!Cache::Fill+1f (c:\src\cache.cpp @ 12)
//	ntdll!RtlAllocateHeap+3d ( @ 0)             no source
//	vfbasics!+73bd1c4e ( @ 0)                   no symbol: the number is the address
//
// Names contain blanks and parentheses, paths contain both too: the source begins behind the offset.
func parseFrame(line string) (text capture.FrameText, address uint64, ok bool) {
	line = oneLine(line)
	if open := sourceOpen(line); open >= 0 {
		text.File, text.Line = source(line[open:])
		line = line[:open]
	}
	at := strings.LastIndexByte(line, '+')
	if at < 0 {
		return text, 0, false
	}
	number, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(line[at+1:]), "0x"), 16, 64)
	module, function, found := strings.Cut(line[:at], "!")
	if err != nil || !found && at > 0 || strings.ContainsAny(module, " \t") {
		return text, 0, false
	}
	text.Module, text.Function = module, function
	if function == "" && (number >= maxImage || module == "") {
		return text, number, number != 0
	}
	text.Offset = number
	return text, 0, true
}

// sourceOpen finds the " (" behind the offset; −1 where there is none.
func sourceOpen(line string) int {
	for from := 0; ; {
		at := strings.Index(line[from:], " (")
		if at < 0 {
			return -1
		}
		at += from
		plus := strings.LastIndexByte(line[:at], '+')
		if _, ok := hexadecimal(line[plus+1 : at]); ok && plus >= 0 {
			return at
		}
		from = at + 1
	}
}

// source reads " (path @ line)"; " ( @ 0)" is none.
func source(s string) (file string, line uint32) {
	s = strings.TrimSuffix(strings.TrimPrefix(s, " ("), ")")
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		return "", 0
	}
	file = strings.TrimSpace(s[:at])
	n, err := strconv.ParseUint(strings.TrimSpace(s[at+1:]), 10, 32)
	if err != nil || file == "" {
		return file, 0
	}
	return file, uint32(n)
}

package exitlog

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"heapdrift/ingest/capture"
)

// A sanitizerParser reads the leaks that LeakSanitizer finds, alone or as a part of AddressSanitizer. The layout is
// that of the pages "LeakSanitizer" and "AddressSanitizerLeakSanitizer" of LLVM, and of reports in public issue
// trackers:
//
//	==7829==ERROR: LeakSanitizer: detected memory leaks
//
//	Direct leak of 7 byte(s) in 1 object(s) allocated from:
//	    #0 0x42c0c5 in __interceptor_malloc /build/asan/asan_malloc_linux.cc:74
//	    #1 0x43ef81 in Cache::Add(int) C:\src\cache.cpp:88:5
//	    #2 0x7fef04 in __libc_start_main (/lib/libc.so.6+0x2144c) (BuildId: 1e…)
//	    #3 0x402124  (/build/app+0x402124)
//
//	Indirect leak of 8 byte(s) in 1 object(s) allocated from:
//	…
//	SUMMARY: AddressSanitizer: 15 byte(s) leaked in 2 allocation(s).
//
// A direct leak is one to which nothing points, an indirect one is reached from other leaks only.
type sanitizerParser struct {
	in      *lane
	out     *collector
	process capture.Process
	list    *list
	leak    sanitizerLeak
	since   int64
	read    int64 // blocks of the list
}

type sanitizerLeak struct {
	open         bool
	reach        capture.Reach
	count, bytes int64
	stack        []frame
}

func (p *sanitizerParser) line(text []byte, number int64) (mine, open bool) {
	if len(text) == 0 {
		p.take()
		return p.list != nil, p.list != nil
	}
	switch text[0] {
	case '=':
		if pid, ok := sanitizerBegins(text); ok {
			p.take()
			p.process, p.since, p.read = capture.Process{PID: pid}, number, 0
			p.list = p.out.list(KindSanitizer, p.in, p.process, number)
			return true, true
		}
	case 'D', 'I':
		if p.begin(text, number) {
			return true, true
		}
	case 'S':
		if p.list != nil && hasPrefix(text, "SUMMARY: ") {
			p.take()
			p.sum(text, number)
			p.list = nil
			return true, false
		}
	case '#':
		if !p.leak.open {
			return false, false
		}
		f, ok := p.out.frame(text, sanitizerFrame)
		if !ok {
			return false, true
		}
		if f.Module == "" && f.File != "" && p.list != nil && !isSanitizerSource(f.File) {
			f.Module = moduleName([]byte(p.list.Process.Name)) // where ctest says which program runs
		}
		if len(p.leak.stack) < mostFrames {
			p.leak.stack = append(p.leak.stack, f)
		}
		p.since = number
		return true, true
	}
	return false, false
}

// sanitizerBegins reads "==7829==ERROR: LeakSanitizer: detected memory leaks".
func sanitizerBegins(text []byte) (pid uint32, ok bool) {
	rest, ok := bytes.CutPrefix(text, []byte("=="))
	if !ok || !bytes.Contains(rest, []byte("LeakSanitizer: detected memory leaks")) {
		return 0, false
	}
	n, rest, ok := cutDecimal(rest)
	return uint32(n), ok && n < 1<<32 && hasPrefix(rest, "==ERROR: ")
}

// begin reads "Direct leak of 7 byte(s) in 1 object(s) allocated from:".
func (p *sanitizerParser) begin(text []byte, number int64) bool {
	l := sanitizerLeak{open: true, reach: capture.ReachNone}
	rest, ok := bytes.CutPrefix(text, []byte("Direct leak of "))
	if !ok {
		if rest, ok = bytes.CutPrefix(text, []byte("Indirect leak of ")); !ok {
			return false
		}
		l.reach = capture.ReachLost
	}
	if l.bytes, rest, ok = cutDecimal(rest); !ok {
		return false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(" byte(s) in ")); !ok {
		return false
	}
	if l.count, rest, ok = cutDecimal(rest); !ok || !hasPrefix(rest, " object(s) allocated from:") {
		return false
	}
	p.take()
	if p.list == nil {
		p.list, p.read = p.out.list(KindSanitizer, p.in, p.process, number), 0
	}
	l.stack = p.leak.stack[:0]
	p.leak, p.since = l, number
	return true
}

// take counts the leak that is under way in.
func (p *sanitizerParser) take() {
	if p.leak.open && p.list != nil {
		p.read += p.leak.count
		p.out.add(p.list, p.leak.stack, p.leak.reach, p.leak.count, p.leak.bytes)
	}
	p.leak.open = false
}

func (p *sanitizerParser) end() {
	p.take()
	if p.list != nil {
		p.list.broken = cmp.Or(p.list.broken, p.since)
	}
	p.list = nil
}

// sum compares "SUMMARY: AddressSanitizer: 15 byte(s) leaked in 2 allocation(s)." with what was read.
func (p *sanitizerParser) sum(text []byte, number int64) {
	_, rest, ok := bytes.Cut(text, []byte(" byte(s) leaked in "))
	if !ok {
		return
	}
	if said, _, ok := cutDecimal(rest); ok && said > p.read {
		p.list.warn(capture.Malformed, number, said-p.read,
			"The summary of the sanitizer counts more blocks than its list shows: give the whole log.")
	}
}

// sanitizerFrame reads a call: #1 0x43ef81 in function place, where place is file:line:column, file:line, or
// (module+0xoffset); Microsoft's has "function file:line" and "function+0x12 (module+0x34)".
func sanitizerFrame(text []byte) (f frame, ok bool) {
	_, rest, ok := cutDecimal(text[1:])
	if !ok {
		return f, false
	}
	word, rest := cutWord(rest)
	if f.address, ok = hexNumber(word); !ok || !hasPrefix(word, "0x") {
		return f, false
	}
	rest = bytes.TrimSpace(rest)
	if at := bytes.LastIndex(rest, []byte(" (BuildId: ")); at >= 0 {
		rest = bytes.TrimSpace(rest[:at])
	}
	if len(rest) > 0 && rest[len(rest)-1] == ')' {
		if at := bytes.LastIndexByte(rest, '('); at >= 0 {
			if plus := bytes.LastIndex(rest, []byte("+0x")); plus > at {
				if offset, ok := hexNumber(rest[plus+1 : len(rest)-1]); ok {
					f.Module, f.Offset = moduleName(rest[at+1:plus]), offset
					rest = bytes.TrimSpace(rest[:at])
				}
			}
		}
	}
	function, named := bytes.CutPrefix(rest, []byte("in "))
	if !named {
		if f.Module != "" {
			f.address = 0 // the offset in the module tells the place, whatever address it was loaded at
		}
		return f, f.Module != "" || f.address != 0
	}
	if f.Module == "" {
		f.File, f.Line, function = sanitizerPlace(function)
	}
	if at := bytes.LastIndex(function, []byte("+0x")); at > 0 {
		if offset, ok := hexNumber(function[at+1:]); ok {
			f.Offset, function = offset, function[:at]
		}
	} else {
		f.Offset = 0 // that of the module is none of the function's
	}
	f.Function = validText(function, longestFunction)
	if f.Function == "<null>" {
		f.Function = ""
	}
	f.address = 0 // of the process, and the name is known
	return f, f.Function != "" || f.Module != ""
}

// isSanitizerSource reports whether a file is one of the sanitizers' own.
func isSanitizerSource(file string) bool {
	return strings.Contains(file, "compiler-rt") || strings.Contains(file, "asan_") || strings.Contains(file, "lsan_") ||
		strings.Contains(file, "sanitizer")
}

// sanitizerPlace cuts file, line and column off the end of a function. A path may hold blanks, and so may a function:
// the file begins at the last blank before a drive or a root, or else is the last word.
func sanitizerPlace(text []byte) (file string, line uint32, function []byte) {
	place := text
	var numbers []string
	for len(numbers) < 2 {
		colon := bytes.LastIndexByte(place, ':')
		if colon < 0 || colon+1 == len(place) || countDigits(place[colon+1:]) != len(place)-colon-1 {
			break
		}
		numbers = append(numbers, string(place[colon+1:]))
		place = place[:colon]
	}
	if len(numbers) == 0 {
		return "", 0, text
	}
	at := -1
	for i := 0; i+1 < len(place); i++ {
		if place[i] != ' ' {
			continue
		}
		path := place[i+1:]
		if path[0] == '/' || len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') || path[0] == '\\' {
			at = i
			break
		}
	}
	if at < 0 {
		at = bytes.LastIndexByte(place, ' ')
	}
	if at < 0 {
		return "", 0, text
	}
	n, err := strconv.ParseUint(numbers[len(numbers)-1], 10, 32)
	if err != nil {
		return "", 0, text
	}
	return strings.TrimSpace(validText(place[at+1:], longestFile)), uint32(n), bytes.TrimSpace(place[:at])
}

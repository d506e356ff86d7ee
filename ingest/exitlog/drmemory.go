package exitlog

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"heapdrift/ingest/capture"
)

// A drMemoryParser reads the leaks of Dr. Memory, from its results.txt, and from the console where each line begins
// with ~~Dr.M~~ or the id of the process. The layout is that of the pages "Memory Leaks", "Error Types" and "Dr.
// Memory Options" of drmemory.org, and of reports in its issue tracker:
//
//	Dr. Memory results for pid 4242: "app.exe"
//	Error #1: LEAK 160 direct bytes 0x00c1f3a8-0x00c1f448 + 24 indirect bytes
//	# 0 replace_malloc               [d:\drmemory_package\common\alloc_replace.c:2577]
//	# 1 Cache::Add                   [c:\src\cache.cpp:88]
//	# 2 KERNEL32.dll!BaseThreadInitThunk
//	Error #2: POSSIBLE LEAK 8 direct bytes 0x00c1f4a8-0x00c1f4b0 + 0 indirect bytes
//	Error #3: REACHABLE LEAK 8 direct bytes …                                   with -show_reachable
//	DUPLICATE ERROR COUNTS:
//		Error #   1:      3
//
// A frame without a module is of the program: Dr. Memory hides its name. Duplicates count as often as the final
// summary says, each with the bytes of the first. Other errors and suppressed leaks are no memory that was left.
// Handle leaks are counted. With some options a leak has no direct and indirect bytes: "REACHABLE LEAK 12345 bytes".
type drMemoryParser struct {
	in      *lane
	out     *collector
	process capture.Process
	list    *list
	leak    drLeak
	stacks  map[int64]drLeak // by number of the error, for duplicates
	dups    bool             // lines of DUPLICATE ERROR COUNTS may come
	since   int64
}

// A drLeak is the error under way, or one that was read.
type drLeak struct {
	open             bool
	number           int64
	reach            capture.Reach
	direct, indirect int64
	stack            []frame
}

// mostDuplicates bounds the errors whose stacks are kept for their duplicates.
const mostDuplicates = 1 << 16

func (p *drMemoryParser) line(text []byte, number int64) (mine, open bool) {
	if len(text) == 0 {
		p.take()
		return p.list != nil, p.list != nil
	}
	switch {
	case hasPrefix(text, "Error #"):
		if p.dups && p.duplicate(text[len("Error #"):]) {
			break
		}
		return p.begin(text[len("Error #"):], number)
	case hasPrefix(text, "Dr. Memory results for pid "):
		p.take()
		p.results(text[len("Dr. Memory results for pid "):])
		return true, false
	case hasPrefix(text, "DUPLICATE ERROR COUNTS:"):
		p.take()
		p.dups = true
		p.since = number
		return p.list != nil, p.list != nil
	case hasPrefix(text, "NO ERRORS FOUND:"), hasPrefix(text, "ERRORS FOUND:"):
		p.take()
		p.open(number)
		if p.list != nil {
			p.list.broken = 0 // whatever was printed between its leaks and this summary
		}
		p.list, p.dups, p.stacks = nil, false, nil
		return true, false
	case p.list == nil || !p.leak.open:
		return false, false
	default:
		f, ok := drFrame(text, p.process.Name)
		if !ok {
			return false, true
		}
		if len(p.leak.stack) < mostFrames {
			p.leak.stack = append(p.leak.stack, f)
		}
	}
	p.since = number
	return true, true
}

func (p *drMemoryParser) open(number int64) {
	if p.list == nil {
		p.list = p.out.list(KindDrMemory, p.in, p.process, number)
	}
}

// begin reads "1: LEAK 160 direct bytes 0x00c1f3a8-0x00c1f448 + 24 indirect bytes". Another error ends a leak.
func (p *drMemoryParser) begin(text []byte, number int64) (mine, open bool) {
	n, rest, ok := cutDecimal(text)
	if !ok || !hasPrefix(rest, ": ") {
		return false, false
	}
	p.take()
	rest = rest[len(": "):]
	l := drLeak{open: true, number: n, reach: capture.ReachNone}
	for word, reach := range map[string]capture.Reach{"POSSIBLE ": capture.ReachPossible,
		"REACHABLE ": capture.ReachHeld} {
		if behind, ok := bytes.CutPrefix(rest, []byte(word)); ok {
			l.reach, rest = reach, behind
		}
	}
	if rest, ok = bytes.CutPrefix(rest, []byte("LEAK ")); !ok {
		p.handles(text, number)
		return p.list != nil, p.list != nil
	}
	if l.direct, rest, ok = cutDecimal(rest); !ok || !hasPrefix(rest, " direct bytes ") && !hasPrefix(rest, " bytes") {
		return false, p.list != nil
	}
	if _, behind, ok := bytes.Cut(rest, []byte(" + ")); ok {
		l.indirect, _, _ = cutDecimal(behind)
	}
	p.open(number)
	p.leak, p.dups, p.since = l, false, number
	return true, true
}

// handles counts "5: HANDLE LEAK: KERNEL handle 0x94 and 2 similar handle(s) were opened but not closed:".
func (p *drMemoryParser) handles(text []byte, number int64) {
	_, rest, ok := bytes.Cut(text, []byte(": HANDLE LEAK: "))
	if !ok {
		return
	}
	count := int64(1)
	if _, similar, ok := bytes.Cut(rest, []byte(" and ")); ok {
		if n, behind, ok := cutDecimal(similar); ok && hasPrefix(behind, " similar handle") {
			count += n
		}
	}
	p.out.notes.add(ofHandles, number, count)
}

// results reads "4242: "app.exe"".
func (p *drMemoryParser) results(text []byte) {
	pid, rest, ok := cutDecimal(text)
	if !ok || pid >= 1<<32 {
		return
	}
	name, _, _ := bytes.Cut(bytes.TrimPrefix(bytes.TrimSpace(bytes.TrimPrefix(rest, []byte(":"))), []byte(`"`)), []byte(`"`))
	p.process = capture.Process{PID: uint32(pid), Name: validText(name[bytes.LastIndexAny(name, `\/`)+1:], longestModule)}
	p.list, p.stacks = nil, nil
}

// take counts the leak that is under way in.
func (p *drMemoryParser) take() {
	l := p.leak
	if p.leak = (drLeak{}); !l.open || p.list == nil {
		return
	}
	l.open = false
	p.add(&l, 1)
	if p.stacks == nil {
		p.stacks = map[int64]drLeak{}
	}
	if len(p.stacks) < mostDuplicates {
		p.stacks[l.number] = l
	}
}

func (p *drMemoryParser) add(l *drLeak, count int64) {
	p.out.add(p.list, l.stack, l.reach, count, times(count, l.direct))
	if l.indirect > 0 {
		p.out.add(p.list, l.stack, capture.ReachLost, 0, times(count, l.indirect))
	}
}

// times is the bytes of so many blocks, at most mostHeld.
func times(count, each int64) int64 {
	if count > 0 && each > mostHeld/count {
		return mostHeld
	}
	return count * each
}

// duplicate reads "  1:      3" below DUPLICATE ERROR COUNTS.
func (p *drMemoryParser) duplicate(text []byte) bool {
	n, rest, ok := cutDecimal(text)
	if !ok || !hasPrefix(rest, ":") {
		return false
	}
	count, rest, ok := cutDecimal(rest[1:])
	if !ok || len(bytes.TrimSpace(rest)) > 0 {
		return false
	}
	if l, known := p.stacks[n]; known && count > 1 && p.list != nil {
		p.add(&l, count-1)
		delete(p.stacks, n)
	}
	return true
}

func (p *drMemoryParser) end() {
	p.take()
	if p.list != nil {
		p.list.broken = cmp.Or(p.list.broken, p.since)
	}
	p.list, p.dups, p.stacks = nil, false, nil
}

// drFrame reads "# 1 Cache::Add   [c:\src\cache.cpp:88]", "#10 KERNEL32.dll!BaseThreadInitThunk +0x1d  (0x75c1a)" and
// "# 2 <not in a module>".
func drFrame(text []byte, program string) (f frame, ok bool) {
	rest, ok := bytes.CutPrefix(text, []byte("#"))
	if !ok {
		return f, false
	}
	if _, rest, ok = cutDecimal(rest); !ok || len(rest) == 0 || rest[0] != ' ' {
		return f, false
	}
	rest = bytes.TrimSpace(rest)
	if at := bytes.LastIndex(rest, []byte(" [")); at >= 0 && rest[len(rest)-1] == ']' {
		place := rest[at+2 : len(rest)-1]
		if colon := bytes.LastIndexByte(place, ':'); colon > 0 {
			if line, err := strconv.ParseUint(string(place[colon+1:]), 10, 32); err == nil {
				f.File, f.Line = validText(place[:colon], longestFile), uint32(line)
			}
		}
		rest = bytes.TrimSpace(rest[:at])
	}
	if at := bytes.LastIndex(rest, []byte(" (0x")); at >= 0 && rest[len(rest)-1] == ')' { // its address
		if address, ok := hexNumber(rest[at+len(" (") : len(rest)-1]); ok {
			f.address, rest = address, bytes.TrimSpace(rest[:at])
		}
	}
	if at := bytes.LastIndex(rest, []byte("+0x")); at > 0 {
		if offset, ok := hexNumber(bytes.TrimSpace(rest[at+1:])); ok {
			f.Offset, rest = offset, bytes.TrimSpace(rest[:at])
		}
	}
	if hasPrefix(rest, "<") && bytes.HasSuffix(rest, []byte(">")) { // <not in a module>, <app.exe+0x1234>
		return f, f.address != 0
	}
	if at := bytes.IndexByte(rest, '!'); at > 0 && !bytes.ContainsAny(rest[:at], "<(: ") {
		f.Module, rest = moduleName(rest[:at]), rest[at+1:]
	} else {
		f.Module = moduleName([]byte(program))
	}
	if len(rest) == 0 {
		return f, false
	}
	if rest[len(rest)-1] == '?' && len(rest) == 1 { // no symbols
		return f, f.address != 0
	}
	f.Function = validText(rest, longestFunction)
	if strings.HasPrefix(f.Function, "replace_") { // its own functions in the place of malloc
		f.Module = "drmemorylib"
	}
	return f, true
}

package exitlog

import (
	"bytes"
	"cmp"
	"strconv"

	"heapdrift/ingest/capture"
)

// An inspectorParser reads the text that Intel Inspector reports (inspxe-cl -report observations, -report problems).
// The kinds of problems are those of its user guide: a memory leak is not reachable, and memory that is not
// deallocated is. The layout of observations is that of logs in public repositories:
//
//	c:\src\cache.cpp(88): Error X1: P1: Memory leak: Allocation site: Function Cache::Add: Module C:\build\app.exe
//	app.exe!0x14e5: Warning X2: P2: Memory not deallocated: Allocation site: Function main: Module C:\build\app.exe
//
// The user guide does not show the text of problems. It is read as far as it has these lines, with any size in bytes:
//
//	P1: Error: Memory leak: New
//	 P1.17: Memory leak: 1140 Bytes: New
//	  c:\src\cache.cpp(88): Error X18: Allocation site: Function Cache::Add: Module C:\build\app.exe
//	   Stack (1 of 1 instance(s))
//	   >app.exe!Cache::Add - c:\src\cache.cpp:88
//	    app.exe!main - c:\src\main.cpp:12
//
// A site without a size counts as a block of 0 bytes.
type inspectorParser struct {
	in      *lane
	out     *collector
	list    *list
	problem string // kind of the problem that sites belong to
	bytes   int64  // its size; 0 unknown
	site    inspectorSite
}

// An inspectorSite is the leak under way.
type inspectorSite struct {
	open    bool
	reach   capture.Reach
	bytes   int64
	at      frame
	inStack bool
	stack   []frame
}

// inspectorKinds are the problems that concern memory at exit.
var inspectorKinds = map[string]capture.Reach{
	"Memory leak": capture.ReachNone, "Memory not deallocated": capture.ReachHeld,
}

func (p *inspectorParser) line(text []byte, number int64) (mine, open bool) {
	const site = ": Allocation site: Function "
	switch at := bytes.Index(text, []byte(site)); {
	case len(text) == 0:
		return p.list != nil, p.list != nil
	case at > 0:
		mine = p.allocation(text[:at], text[at+len(site):], number)
		return mine, p.list != nil
	case p.ofProblem(text, number):
		return true, true
	case p.counts(text, number):
		return true, p.list != nil
	case !p.site.open:
		return false, p.list != nil
	case hasPrefix(text, "Stack (") || hasPrefix(text, "Code snippet:"):
		p.site.inStack = text[0] == 'S'
		return true, true
	case p.site.inStack:
		if f, ok := inspectorFrame(text); ok {
			if len(p.site.stack) < mostFrames {
				p.site.stack = append(p.site.stack, f)
			}
			return true, true
		}
	}
	return false, true
}

// ofProblem reads "P1: Error: Memory leak: New" and "P1.17: Memory leak: 1140 Bytes: New".
func (p *inspectorParser) ofProblem(text []byte, number int64) bool {
	if text[0] != 'P' {
		return false
	}
	n, rest, ok := cutDecimal(text[1:])
	if !ok || n == 0 {
		return false
	}
	part := hasPrefix(rest, ".")
	if part {
		if _, rest, ok = cutDecimal(rest[1:]); !ok {
			return false
		}
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(": ")); !ok {
		return false
	}
	p.take()
	if !part {
		if _, rest, ok = bytes.Cut(rest, []byte(": ")); !ok {
			return false
		}
		if n == 1 { // another report
			p.end()
		}
		p.bytes = 0
	}
	kind, size, _ := bytes.Cut(rest, []byte(": "))
	p.problem = validText(kind, longestModule)
	if words := bytes.Fields(size); len(words) > 1 && bytes.EqualFold(bytes.Trim(words[1], ":,"), []byte("bytes")) {
		p.bytes, _, _ = cutDecimal(words[0])
	}
	if !part && isHandleLeak(p.problem) {
		p.out.inspected.handles.named++
		p.out.inspected.handles.at(number)
	}
	return true
}

// counts reads "2 Memory leak problem(s) detected", which names no leak.
func (p *inspectorParser) counts(text []byte, number int64) bool {
	n, kind, ok := cutDecimal(text)
	if !ok || !bytes.HasSuffix(text, []byte(" problem(s) detected")) {
		return false
	}
	of := &p.out.inspected.leaks
	switch name := string(bytes.TrimSpace(bytes.TrimSuffix(kind, []byte(" problem(s) detected")))); {
	case isHandleLeak(name):
		of = &p.out.inspected.handles
	case name != "Memory leak":
		return false
	}
	of.counted = min(of.counted+n, mostHeld)
	of.at(number)
	return true
}

func isHandleLeak(problem string) bool {
	return problem == "Kernel resource leak" || problem == "GDI resource leak"
}

// inspected is what Intel Inspector counts and what the log names: a report often has both.
type inspected struct{ leaks, handles told }

// told is how many of a kind are counted and named, and the first line.
type told struct{ counted, named, line int64 }

func (t *told) at(number int64) { t.line = cmp.Or(t.line, number) }

// note notes leaks that are counted and not named, and all handles.
func (i *inspected) note(n *notes) {
	if i.leaks.counted > i.leaks.named {
		n.add(ofCounts, i.leaks.line, i.leaks.counted-i.leaks.named)
	}
	if handles := max(i.handles.counted, i.handles.named); handles > 0 {
		n.add(ofHandles, i.handles.line, handles)
	}
}

// allocation reads "cache.cpp(88): Error X1: P1: Memory leak" before a site, and "Cache::Add: Module C:\app.exe"
// behind it.
func (p *inspectorParser) allocation(before, behind []byte, number int64) bool {
	p.take()
	kind, held := p.problem, p.bytes
	place := before
	for _, grade := range []string{": Error X", ": Warning X", ": Information X", ": Remark X"} {
		if at := bytes.Index(before, []byte(grade)); at > 0 {
			place = before[:at]
			if last := bytes.LastIndex(before, []byte(": ")); last > at { // an observation names its problem
				kind, held = validText(before[last+len(": "):], longestModule), 0
			}
		}
	}
	reach, ok := inspectorKinds[kind]
	if !ok {
		return false
	}
	var f frame
	function := behind
	if at := bytes.LastIndex(behind, []byte(": Module ")); at >= 0 {
		function, f.Module = behind[:at], moduleName(behind[at+len(": Module "):])
	}
	if f.Function = validText(function, longestFunction); f.Function == "[Unknown]" {
		f.Function = ""
	}
	if open := bytes.LastIndexByte(place, '('); open > 0 && place[len(place)-1] == ')' {
		if n, err := strconv.ParseUint(string(place[open+1:len(place)-1]), 10, 32); err == nil {
			f.File, f.Line = validText(place[:open], longestFile), uint32(n)
		}
	} else if at := bytes.LastIndex(place, []byte("!0x")); at > 0 && f.Function == "" {
		f.Offset, _ = hexNumber(place[at+1:])
	}
	if p.list == nil {
		p.list = p.out.list(KindInspector, p.in, capture.Process{}, number)
	}
	if reach == capture.ReachNone {
		p.out.inspected.leaks.named++
	}
	if held == 0 {
		p.list.warn(capture.Unsupported, number, 1, "Sites have no size and count as blocks of 0 B. Add the output of inspxe-cl -report problems.")
	}
	p.site = inspectorSite{open: true, reach: reach, bytes: held, at: f, stack: p.site.stack[:0]}
	return true
}

// take counts the leak that is under way in.
func (p *inspectorParser) take() {
	if s := &p.site; s.open && p.list != nil {
		if len(s.stack) == 0 {
			s.stack = append(s.stack, s.at)
		}
		p.out.add(p.list, s.stack, s.reach, 1, s.bytes)
	}
	p.site.open, p.site.inStack = false, false
}

func (p *inspectorParser) end() {
	p.take()
	p.list, p.problem, p.bytes = nil, "", 0
}

// inspectorFrame reads ">app.exe!Cache::Add - c:\src\cache.cpp:88".
func inspectorFrame(text []byte) (f frame, ok bool) {
	text = bytes.TrimLeft(text, "> ")
	at := bytes.IndexByte(text, '!')
	if at < 1 || bytes.ContainsAny(text[:at], "<(: ") {
		return f, false
	}
	f.Module = moduleName(text[:at])
	function := text[at+1:]
	if at := bytes.LastIndex(function, []byte(" - ")); at > 0 {
		place := function[at+len(" - "):]
		function = function[:at]
		if colon := bytes.LastIndexByte(place, ':'); colon > 0 {
			if n, err := strconv.ParseUint(string(place[colon+1:]), 10, 32); err == nil {
				f.File, f.Line = validText(place[:colon], longestFile), uint32(n)
			}
		}
	}
	if offset, isOffset := hexNumber(function); isOffset && hasPrefix(function, "0x") {
		f.Offset = offset
		return f, true
	}
	f.Function = validText(function, longestFunction)
	return f, f.Function != ""
}

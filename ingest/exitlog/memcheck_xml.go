package exitlog

import (
	"bytes"
	"cmp"
	"strconv"

	"heapdrift/ingest/capture"
)

// A memcheckXMLParser reads leaks in the XML of Valgrind, which heob writes, too. The layout is that of Valgrind's
// document "xml-output-protocol4" and of heob's source (github.com/ssbssa/heob, Boost Software License 1.0):
//
//	<valgrindoutput>
//	<protocoltool>memcheck</protocoltool>
//	<pid>4242</pid>
//	<tool>heob</tool>                                   or memcheck
//	<args>
//	  <vargv> <exe>heob64</exe> <arg>-l2</arg> </vargv>
//	  <argv> <exe>tests.exe</exe> </argv>
//	</args>
//	<error>
//	  <kind>Leak_DefinitelyLost</kind>
//	  <xwhat>
//	    <text>24 bytes in 2 blocks are lost in loss record 1 of 2 (#12)</text>
//	    <leakedbytes>12</leakedbytes>                   of all blocks by Valgrind, of each by heob
//	    <leakedblocks>2</leakedblocks>
//	  </xwhat>
//	  <stack>
//	    <frame> <ip>0x401234</ip> <obj>C:\build\tests.exe</obj> <fn>Cache::Add</fn>
//	      <dir>C:/src</dir> <file>cache.cpp</file> <line>88</line> </frame>
//	  </stack>
//	</error>
//	</valgrindoutput>
//
// heob says "definitely lost" of all leaks unless it searches for pointers, with -l2 and up. A file without a leak is
// a list without a leak; one that breaks off is not.
type memcheckXMLParser struct {
	losses
	in       *lane
	inside   bool // of <valgrindoutput>
	memcheck bool
	heob     bool
	searched bool // heob looked for pointers
	inArgs   bool // of the program
	process  capture.Process
	record   xmlRecord
	since    int64
}

// An xmlRecord is the error under way.
type xmlRecord struct {
	open         bool
	kind         string
	text         loss
	hasText      bool
	each, blocks int64 // leakedbytes and leakedblocks
	stacks       int   // how many were begun: the first is that of the leak
	inStack      bool
	frame        frame
	dir          string
	stack        []frame
}

func (p *memcheckXMLParser) line(text []byte, number int64) (mine, open bool) {
	if len(text) == 0 {
		return p.inside, p.inside
	}
	if text[0] != '<' || !p.inside && !bytes.Contains(text, []byte("<valgrindoutput>")) {
		return false, p.inside
	}
	for t := range xmlTags(text) {
		switch name := string(t.name); {
		case name == "valgrindoutput" && !t.end:
			p.end()
			p.reset()
		case name == "valgrindoutput":
			p.close(number)
		case !p.inside:
		case p.record.open:
			p.ofError(name, &t, number)
		case name == "error" && !t.end:
			p.record = xmlRecord{open: true, stack: p.record.stack[:0]}
		default:
			p.ofHeader(name, &t)
		}
	}
	p.since = number
	return true, p.inside
}

func (p *memcheckXMLParser) reset() {
	out, in, stack := p.out, p.in, p.record.stack
	*p = memcheckXMLParser{in: in, inside: true}
	p.out, p.record.stack = out, stack
}

func (p *memcheckXMLParser) begin(number int64) {
	if p.list != nil {
		return
	}
	kind := KindMemcheck
	if p.heob {
		kind = KindHeob
	}
	p.list = p.out.list(kind, p.in, p.process, number)
}

// close ends the list at the end of the file.
func (p *memcheckXMLParser) close(number int64) {
	if p.inside && (p.memcheck || p.heob) {
		p.begin(number)
		p.finish()
	}
	p.inside, p.list = false, nil
}

func (p *memcheckXMLParser) end() {
	if !p.inside {
		return
	}
	p.inside = false
	p.finish()
	if p.list != nil {
		p.list.broken = cmp.Or(p.list.broken, p.since)
	}
	p.list = nil
}

// ofHeader reads what is said of the process.
func (p *memcheckXMLParser) ofHeader(name string, t *xmlTag) {
	switch name {
	case "protocoltool":
		p.memcheck = p.memcheck || string(t.text) == "memcheck"
	case "tool":
		p.heob = p.heob || string(t.text) == "heob"
	case "pid":
		if pid, _, ok := cutDecimal(t.text); ok && pid < 1<<32 && !t.end {
			p.process.PID = uint32(pid)
		}
	case "argv":
		p.inArgs = !t.end
	case "exe":
		if p.inArgs && !t.end && p.process.Name == "" {
			p.process.Name = programName(t.plain(longestFile))
		}
	case "arg":
		if detail, ok := bytes.CutPrefix(t.text, []byte("-l")); ok && !p.inArgs && !t.end {
			n, _, ok := cutDecimal(detail)
			p.searched = p.searched || ok && n > 1
		}
	}
}

// programName is the name of a program in a path, which may stand in quotes.
func programName(path string) string {
	b := bytes.Trim([]byte(path), `"`)
	return string(b[bytes.LastIndexAny(b, `\/`)+1:])
}

func (p *memcheckXMLParser) ofError(name string, t *xmlTag, number int64) {
	r := &p.record
	switch {
	case t.end:
		p.endOf(name, number)
	case name == "kind":
		r.kind = t.plain(longestModule)
	case name == "text":
		if l, _, ok := cutLoss(t.text); ok {
			r.text, r.hasText = l, true
		}
	case name == "leakedbytes":
		r.each, _, _ = cutDecimal(t.text)
	case name == "leakedblocks":
		r.blocks, _, _ = cutDecimal(t.text)
	case name == "stack":
		r.stacks, r.inStack = r.stacks+1, true
	case name == "frame":
		r.frame, r.dir = frame{}, ""
	case r.inStack:
		r.ofFrame(name, t)
	}
}

func (p *memcheckXMLParser) endOf(name string, number int64) {
	r := &p.record
	switch name {
	case "error":
		p.take(number)
		r.open = false
	case "stack":
		r.inStack = false
	case "frame":
		if r.inStack && r.stacks == 1 && len(r.stack) < mostFrames {
			r.stack = append(r.stack, r.whole())
		}
	}
}

func (r *xmlRecord) ofFrame(name string, t *xmlTag) {
	switch name {
	case "ip":
		r.frame.address, _ = hexNumber(t.text)
	case "obj":
		r.frame.Module = moduleName([]byte(t.plain(longestFile)))
	case "fn":
		r.frame.Function = t.plain(longestFunction)
	case "dir":
		r.dir = t.plain(longestFile)
	case "file":
		r.frame.File = t.plain(longestFile)
	case "line":
		n, err := strconv.ParseUint(string(t.text), 10, 32)
		if err == nil {
			r.frame.Line = uint32(n)
		}
	}
}

// whole is the frame that was read.
func (r *xmlRecord) whole() frame {
	f := r.frame
	if f.File != "" && r.dir != "" {
		f.File = validText([]byte(r.dir+"/"+f.File), longestFile)
	}
	f.Function = heobFunction(f.Function)
	switch {
	case f.Function != "":
		f.address = 0 // of the process, and the name is known
	case f.Module != "":
		f.Offset = f.address
	}
	return f
}

// xmlKinds are the kinds of errors that are leaks.
var xmlKinds = map[string]capture.Reach{
	"Leak_DefinitelyLost": capture.ReachNone, "Leak_IndirectlyLost": capture.ReachLost,
	"Leak_PossiblyLost": capture.ReachPossible, "Leak_StillReachable": capture.ReachHeld,
}

// take counts a leak in.
func (p *memcheckXMLParser) take(number int64) {
	r := &p.record
	reach, isLeak := xmlKinds[r.kind]
	switch {
	case r.kind == "FdNotClosed":
		p.out.notes.add(ofHandles, number, 1)
		return
	case !isLeak:
		return
	case p.heob && reach == capture.ReachNone && !p.searched:
		reach = capture.ReachUnsearched
	}
	l := r.text
	if !r.hasText {
		l = loss{blocks: max(1, r.blocks), bytes: r.each}
		if p.heob {
			l.bytes = times(l.blocks, r.each)
		}
	}
	p.begin(number)
	p.add(r.stack, reach, l)
}

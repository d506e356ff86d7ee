package exitlog

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"heapdrift/ingest/capture"
)

// A heobParser reads the text that heob prints when a program ends. The layout is that of its source and of the
// results of its tests (github.com/ssbssa/heob, Boost Software License 1.0), from the first version on:
//
//	leaks:                                              or with -l2 and up: leaks (lost):, leaks (reachable):, …
//	  80 B * 2 = 160 B (#12) '3 [4242]: worker'         two blocks; the first of all versions has "160 B / 2"
//	                           [malloc]
//	    0x0000000140000000   app.exe                    the module of the lines below it
//	      0x0000000140001234   cache.cpp:88:5 [Cache::Add]
//	                           cache.h:7 [inlined]
//	      0x0000000140005678   [main]
//	  sum: 160 B / 2
//	exit code: 0 (0x00000000)
//
//	no leaks found
//
// With -g2 blocks whose outer calls are the same stand in groups. A bar before a line says how deep it is, and the
// calls that a group has in common come behind its blocks:
//
//	| | 80 B (#12)
//	| |     0x0000000140001234   cache.cpp:88 [Cache::Add]
//	|     0x0000000140005678   main.cpp:9 [main]
type heobParser struct {
	in      *lane
	out     *collector
	list    *list
	reach   capture.Reach
	inGroup bool // lines of blocks may come
	clean   bool // "no leaks found" was printed, and the exit code may come
	read    capture.Usage
	since   int64

	module  string // of the calls that come
	pending []heobBlock
	section *heobSection // the calls under way; nil for none
	depth   int          // of section
}

// A heobBlock is blocks whose stack is not whole yet.
type heobBlock struct {
	usage capture.Usage
	need  int // depth of the calls that come next
	least int // depth of the outermost calls
	stack []*heobSection
}

// A heobSection is calls that all blocks of a group have in common.
type heobSection struct{ frames []frame }

// heobGroups are the headings of lists. Reachable blocks are listed with -l2 and up, as a sum or in detail. Blocks
// that are jointly lost point to each other.
var heobGroups = map[string]capture.Reach{
	"leaks:": capture.ReachUnsearched, "leaks (lost):": capture.ReachNone, "leaks (jointly lost):": capture.ReachNone,
	"leaks (indirectly lost):": capture.ReachLost, "leaks (reachable):": capture.ReachHeld,
	"leaks (indirectly reachable):": capture.ReachHeld,
}

// mostPending bounds the blocks whose stacks are not whole.
const mostPending = 1 << 14

func (p *heobParser) line(text []byte, number int64) (mine, open bool) {
	if len(text) == 0 {
		return p.inGroup || p.clean, p.inGroup || p.clean
	}
	switch text[0] {
	case 'l':
		if reach, ok := heobGroups[string(text)]; ok {
			p.take(0)
			p.inGroup, p.clean, p.reach, p.read = true, false, reach, capture.Usage{}
			return true, true
		}
	case 'n':
		if string(text) == "no leaks found" {
			p.end()
			p.clean = true
			return true, true
		}
	case 'e', 't':
		if hasPrefix(text, "exit code: ") || hasPrefix(text, "exit on:") || hasPrefix(text, "termination code: ") {
			return p.exit(number), false
		}
	}
	if !p.inGroup {
		return false, p.clean
	}
	depth, rest := cutBars(text)
	switch {
	case len(rest) == 0 || p.block(rest, depth, number) || p.sum(rest, depth, number):
	case len(p.pending) > 0 && (p.call(rest, depth) || isHeobContent(rest)):
	default:
		return false, true
	}
	p.since = number
	return true, true
}

// exit ends a list at the line that tells how the program ended, and reports whether there was one.
func (p *heobParser) exit(number int64) bool {
	had := p.list != nil || p.clean
	if p.clean {
		p.begin(number)
		p.inGroup = false
	}
	p.end()
	return had
}

func (p *heobParser) begin(number int64) {
	if p.list == nil {
		p.list = p.out.list(KindHeob, p.in, capture.Process{}, number)
	}
}

// block reads "80 B * 2 = 160 B (#12) 'thread'".
func (p *heobParser) block(text []byte, depth int, number int64) bool {
	size, rest, ok := cutDecimal(text)
	if !ok || !hasPrefix(rest, " B") {
		return false
	}
	u := capture.Usage{Count: 1, Bytes: size}
	rest = rest[len(" B"):]
	if count, ok := bytes.CutPrefix(rest, []byte(" * ")); ok {
		if u.Count, rest, ok = cutDecimal(count); !ok || !hasPrefix(rest, " = ") {
			return false
		}
		if u.Bytes, rest, ok = cutDecimal(rest[len(" = "):]); !ok || !hasPrefix(rest, " B") {
			return false
		}
		rest = rest[len(" B"):]
	} else if count, ok := bytes.CutPrefix(rest, []byte(" / ")); ok {
		if u.Count, rest, ok = cutDecimal(count); !ok {
			return false
		}
	}
	if len(rest) > 0 && string(rest) != " (" && !hasPrefix(rest, " (#") && !hasPrefix(rest, " '") {
		return false
	}
	p.close()
	p.begin(number)
	p.read.Count, p.read.Bytes = p.read.Count+u.Count, p.read.Bytes+u.Bytes
	if len(p.pending) == mostPending {
		p.list.warn(capture.Unsupported, number, mostPending, "A group of heob is too large: its blocks lack their outer calls.")
		p.take(0)
	}
	p.pending = append(p.pending, heobBlock{usage: u, need: depth, least: min(depth, 1)})
	p.module = ""
	return true
}

// sum reads "sum: 160 B / 2", which ends a list where it is no sum of a group in it. Blocks that only the sum has are
// counted without a stack.
func (p *heobParser) sum(text []byte, depth int, number int64) bool {
	rest, ok := bytes.CutPrefix(text, []byte("sum: "))
	if !ok {
		return false
	}
	held, rest, ok := cutDecimal(rest)
	if !ok || !hasPrefix(rest, " B / ") {
		return false
	}
	count, _, ok := cutDecimal(rest[len(" B / "):])
	if !ok {
		return false
	}
	p.close()
	if depth > 0 {
		return true
	}
	p.begin(number)
	p.take(0)
	if count > p.read.Count {
		p.out.add(p.list, nil, p.reach, count-p.read.Count, max(0, held-p.read.Bytes))
		p.list.warn(capture.Unsupported, number, count-p.read.Count, "heob gives blocks only as a sum. Run it with -l1 or -l3 to list them.")
	}
	p.inGroup = false
	return true
}

// call reads a module, or a call in it, in a group that is so deep.
func (p *heobParser) call(text []byte, depth int) bool {
	f, isModule, ok := heobFrame(text)
	if !ok {
		return false
	}
	if p.section == nil || p.depth != depth {
		p.close()
		p.section, p.depth = &heobSection{}, depth
		for i := range p.pending {
			if b := &p.pending[i]; b.need >= depth {
				b.need = depth
				b.stack = append(b.stack, p.section)
			}
		}
	}
	if isModule {
		p.module = f.Module
		return true
	}
	if f.address != 0 || f.File != "" {
		f.Module = p.module
	}
	if f.Function != "" || f.File != "" {
		f.address = 0 // of the process, and the name is known
	} else if f.Module != "" {
		f.Offset = f.address
	}
	if len(p.section.frames) < mostFrames {
		p.section.frames = append(p.section.frames, f)
	}
	return true
}

// close ends the calls under way, and counts the blocks in whose stacks are whole.
func (p *heobParser) close() {
	if p.section == nil {
		return
	}
	for i := range p.pending {
		if b := &p.pending[i]; b.need == p.depth {
			b.need--
		}
	}
	p.section, p.module = nil, ""
	p.take(1)
}

// take counts blocks in: with whole set to 1 those that lack no call, else all.
func (p *heobParser) take(whole int) {
	rest := p.pending[:0]
	for _, b := range p.pending {
		if whole == 1 && b.need >= b.least {
			rest = append(rest, b)
			continue
		}
		var stack []frame
		for _, s := range b.stack {
			stack = append(stack, s.frames[:min(len(s.frames), mostFrames-len(stack))]...)
		}
		p.out.add(p.list, stack, p.reach, b.usage.Count, b.usage.Bytes)
	}
	clear(p.pending[len(rest):])
	p.pending = rest
	if whole == 0 {
		p.section, p.module = nil, ""
	}
}

func (p *heobParser) end() {
	p.take(0)
	if p.list != nil && p.inGroup {
		p.list.broken = cmp.Or(p.list.broken, p.since)
	}
	p.list, p.inGroup, p.clean = nil, false, false
}

// cutBars cuts the bars off a line, and reports how many groups deep it is. Consoles draw bars with other characters.
func cutBars(text []byte) (depth int, rest []byte) {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch r {
		case '|', '│', '├', '┌', '╟':
			depth++
		case ' ', '─', '┘':
		default:
			return depth, text
		}
		text = text[n:]
	}
	return depth, text
}

// isHeobContent reports whether a line is of the content of a block: "0010  48 65 6C …". With -C1 and up heob prints
// lines of the source, too, which begin with a mark or with anything.
func isHeobContent(text []byte) bool {
	const offset = 4
	if len(text) < offset+len("  00") || text[offset] != ' ' || text[offset+1] != ' ' {
		return false
	}
	_, ok := hexNumber(text[:offset])
	return ok && isHexDigit(text[offset+2]) && isHexDigit(text[offset+3])
}

// heobFrame reads "0x0000000140001234   cache.cpp:88:5 [Cache::Add]", of which address, place or name may be missing,
// and "0x0000000140000000   app.exe", a module.
func heobFrame(text []byte) (f frame, isModule, ok bool) {
	rest := text
	if hasPrefix(text, "0x") {
		var word []byte
		word, rest = cutWord(text)
		if f.address, ok = hexNumber(word); !ok {
			return f, false, false
		}
		if rest = bytes.TrimSpace(rest); len(rest) == 0 {
			return f, false, true
		}
	}
	if rest[len(rest)-1] == ']' {
		at := bytes.IndexByte(rest, '[')
		if before := bytes.Index(rest, []byte(" [")); before > 0 {
			at = before + 1
		} else if at != 0 {
			return f, false, false
		}
		f.Function = heobFunction(validText(rest[at+1:len(rest)-1], longestFunction))
		if rest = bytes.TrimSpace(rest[:at]); len(rest) == 0 {
			return f, false, f.Function != ""
		}
	}
	place := rest
	var numbers []string
	for len(numbers) < 2 {
		colon := bytes.LastIndexByte(place, ':')
		if colon < 1 || colon+1 == len(place) || countDigits(place[colon+1:]) != len(place)-colon-1 {
			break
		}
		numbers = append(numbers, string(place[colon+1:]))
		place = place[:colon]
	}
	if len(numbers) > 0 {
		n, err := strconv.ParseUint(numbers[len(numbers)-1], 10, 32)
		f.File, f.Line = validText(place, longestFile), uint32(n)
		return f, false, err == nil
	}
	if f.Function != "" || f.address == 0 {
		return f, false, false
	}
	if name := string(rest); name != "?" {
		f.Module = moduleName(rest)
	}
	return f, true, true
}

// heobFunction is the function that a name of heob stands for: it calls operators "new" and "new[]".
func heobFunction(name string) string {
	if name == "new" || name == "new[]" || strings.HasPrefix(name, "new ") {
		return "operator " + name
	}
	return name
}

package exitlog

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"heapdrift/ingest/capture"
)

// A fastMMParser reads what FastMM, the memory manager of Delphi and C++Builder, writes into the file
// app_MemoryManager_EventLog.txt or shows at the end of a program. The layouts are those of its manuals and of
// reports in public forums and repositories; the source of FastMM 5 is under the GPL and was not used. FastMM 4:
//
//	--------------------------------2026/1/2 3:04:05--------------------------------
//	A memory block has been leaked. The size is: 36
//
//	This block was allocated by thread 0x1C5C, and the stack trace (return addresses) at the time was:
//	40305E [System.pas][AttributeSystem][@GetMem][3477]
//	42D2FC [Unit1.pas][Unit1][TForm1.Button1Click][29]     or [Unit1.TForm1.Button1Click]
//	7E418731 [Unknown function at GetDC]
//
//	The block is currently used for an object of class: TStringList
//
//	The allocation number is: 412
//
//	This application has leaked memory. The small block leaks are (excluding expected leaks registered by pointer):
//	5 - 12 bytes: TObject x 1, Unknown x 2
//
//	The sizes of leaked medium and large blocks are (excluding expected leaks registered by pointer): 4096, 65540
//
// FastMM 5 differs in its last list, may print no blank before a bracket, and may say when the block was allocated:
//
//	This block was allocated on 2026-01-02 03:04:05 by thread 0x1A2C, and the stack trace (return addresses) …
//	0040BC53[Unit1.pas][Unit1][TForm1.Button1Click][42]
//	77AABBCC[kernel32.dll]
//
//	This application has leaked memory. The leaks ordered by size are:
//	12: 1 x TObject, 2 x Unknown
//
// The last list, without stacks, counts where no block has been listed by itself: FastMM prints it for all of them.
type fastMMParser struct {
	in      *lane
	out     *collector
	list    *list
	block   fastMMBlock
	summary bool // lines of the list without stacks may come
	whole   bool // blocks were listed by themselves
	since   int64
}

type fastMMBlock struct {
	open    bool
	size    int64
	class   string
	inStack bool
	stack   []frame
}

func (p *fastMMParser) line(text []byte, number int64) (mine, open bool) {
	switch {
	case len(text) == 0:
		p.block.inStack = false
		return p.list != nil, p.list != nil
	case hasPrefix(text, "A memory block has been leaked."):
		_, rest, _ := bytes.Cut(text, []byte(":"))
		size, _, ok := cutDecimal(rest)
		if !ok {
			return false, p.list != nil
		}
		p.begin(number)
		p.whole = true
		p.block = fastMMBlock{open: true, size: size, stack: p.block.stack[:0]}
	case bytes.Contains(text, []byte("leaked memory. The small block leaks are")),
		bytes.Contains(text, []byte("leaked memory. The leaks ordered by size are")):
		p.begin(number)
		p.summary = true
	case bytes.Contains(text, []byte(" leaked medium and large blocks are")):
		if !p.summary {
			p.begin(number)
			p.summary = true
		}
		p.largeBlocks(text)
	case p.list == nil:
		return false, false
	case p.summary:
		return p.smallBlocks(text) || p.leaksBySize(text), true
	case !p.block.open || !p.ofBlock(text, number):
		return false, true
	}
	p.since = number
	return true, true
}

// begin opens the list, and another one behind the summary of the last.
func (p *fastMMParser) begin(number int64) {
	p.take()
	if p.summary {
		p.end()
	}
	if p.list == nil {
		p.list = p.out.list(KindFastMM, p.in, capture.Process{}, number)
	}
}

func (p *fastMMParser) ofBlock(text []byte, number int64) bool {
	b := &p.block
	switch {
	case hasPrefix(text, "This block was allocated "), hasPrefix(text, "Stack trace of when this block was"):
		b.inStack = true
	case hasPrefix(text, "The block is currently used for an object of class:"):
		_, class, _ := bytes.Cut(text, []byte(":"))
		b.class = validText(class, longestModule)
	case hasPrefix(text, "The allocation number is:"):
	case hasPrefix(text, "Current memory dump of "):
		p.take()
	case b.inStack:
		f, ok := p.out.frame(text, fastMMFrame)
		if !ok {
			if word, _ := cutWord(text); len(word) > 0 {
				if _, isAddress := hexNumber(word); isAddress {
					p.list.warn(capture.Unsupported, number, 1, "Lines of call stacks have an unknown layout and are not read.")
				}
			}
			return false
		}
		if len(b.stack) < mostFrames {
			b.stack = append(b.stack, f)
		}
	default:
		return false
	}
	return true
}

// take counts the block that is under way in.
func (p *fastMMParser) take() {
	if b := &p.block; b.open && p.list != nil {
		if len(b.stack) == 0 {
			b.stack = append(b.stack, ofClass(b.class, b.size))
		}
		p.out.add(p.list, b.stack, capture.ReachUnsearched, 1, b.size)
	}
	p.block.open = false
}

// ofClass names blocks without a stack.
func ofClass(class string, size int64) frame {
	name := fmt.Sprintf("%s:%d-byte-block", cmp.Or(class, "unknown"), size)
	return frame{FrameText: capture.FrameText{Function: oneWord(name)}}
}

// addOfClass counts blocks of the last list in, unless each was listed by itself.
func (p *fastMMParser) addOfClass(class []byte, count, size int64) {
	if !p.whole {
		stack := []frame{ofClass(validText(class, longestModule), size)}
		p.out.add(p.list, stack, capture.ReachUnsearched, count, times(count, size))
	}
}

// smallBlocks reads "5 - 12 bytes: TObject x 1, Unknown x 2" of FastMM 4: blocks of at most so many bytes.
func (p *fastMMParser) smallBlocks(text []byte) bool {
	_, rest, ok := cutDecimal(text)
	if !ok {
		return false
	}
	rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " "), []byte("- "))
	if !ok {
		return false
	}
	size, rest, _ := cutDecimal(rest)
	if rest, ok = bytes.CutPrefix(rest, []byte(" bytes: ")); !ok {
		return false
	}
	for part := range bytes.SplitSeq(rest, []byte(", ")) {
		at := bytes.LastIndex(part, []byte(" x "))
		if at < 0 {
			continue
		}
		if count, _, ok := cutDecimal(part[at+len(" x "):]); ok {
			p.addOfClass(part[:at], count, size)
		}
	}
	return true
}

// largeBlocks reads "…blocks are (excluding expected leaks registered by pointer): 4096, 65540" of FastMM 4.
func (p *fastMMParser) largeBlocks(text []byte) {
	at := bytes.LastIndexByte(text, ':')
	if at < 0 {
		return
	}
	for part := range bytes.SplitSeq(text[at+1:], []byte(",")) {
		if size, _, ok := cutDecimal(part); ok {
			p.addOfClass(nil, 1, size)
		}
	}
}

// leaksBySize reads "12: 1 x TObject, 2 x Unknown" of FastMM 5: blocks of so many bytes.
func (p *fastMMParser) leaksBySize(text []byte) bool {
	size, rest, ok := cutDecimal(text)
	if !ok {
		return false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(": ")); !ok {
		return false
	}
	read := false
	for part := range bytes.SplitSeq(rest, []byte(", ")) {
		count, class, ok := cutDecimal(part)
		if class, isClass := bytes.CutPrefix(class, []byte(" x ")); ok && isClass {
			p.addOfClass(class, count, size)
			read = true
		}
	}
	return read
}

func (p *fastMMParser) end() {
	p.take()
	p.list, p.summary, p.whole = nil, false, false
}

// fastMMFrame reads "42D2FC [Unit1.pas][Unit1][TForm1.Button1Click][29]": address, file, unit, function and line, of
// which all but the address may be missing.
func fastMMFrame(text []byte) (f frame, ok bool) {
	end := bytes.IndexAny(text, " \t[")
	if end < 0 {
		end = len(text)
	}
	if f.address, ok = hexNumber(text[:end]); !ok {
		return f, false
	}
	rest := bytes.TrimSpace(text[end:])
	if len(rest) == 0 {
		return f, true
	}
	var parts []string
	const mostParts = 6
	for len(rest) > 0 && rest[0] == '[' && len(parts) < mostParts {
		end := bytes.IndexByte(rest, ']')
		if end < 0 {
			return f, false
		}
		parts = append(parts, validText(rest[1:end], longestFunction))
		rest = rest[end+1:]
	}
	switch {
	case len(parts) == 0:
		return f, false
	case len(parts) == 1 && strings.HasPrefix(parts[0], "Unknown function at "):
		return f, true // the nearest export says nothing of the function
	case len(parts) == 1 && isModule(parts[0]):
		f.Module, f.Offset = moduleName([]byte(parts[0])), f.address
		return f, true
	}
	if n, err := strconv.ParseUint(parts[len(parts)-1], 10, 32); err == nil && len(parts) > 1 {
		f.Line, parts = uint32(n), parts[:len(parts)-1]
	}
	switch len(parts) {
	case 1:
		f.Function = parts[0]
	case 2:
		f.Function = inUnit(parts[0], parts[1])
	default:
		f.File, f.Function = parts[0], inUnit(parts[1], parts[2])
	}
	if f.File == "" {
		f.Line = 0
	}
	f.address = 0
	return f, true
}

// isModule reports whether a name is that of a program or library.
func isModule(name string) bool {
	for _, extension := range []string{".dll", ".exe", ".bpl", ".ocx"} {
		if n := len(name) - len(extension); n > 0 && strings.EqualFold(name[n:], extension) {
			return true
		}
	}
	return false
}

// inUnit is the name of a function with its unit in front, which some versions print there already.
func inUnit(unit, function string) string {
	if strings.HasPrefix(function, unit+".") {
		return function
	}
	return unit + "." + function
}

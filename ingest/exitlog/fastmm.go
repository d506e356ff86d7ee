package exitlog

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"

	"heapdrift/ingest/capture"
)

// A fastMMParser reads what FastMM 4, the memory manager of Delphi and C++Builder, writes into the file
// app_MemoryManager_EventLog.txt at the end of a program. The layout is that of its manual and of reports in public
// forums:
//
//	--------------------------------2026/1/2 3:04:05--------------------------------
//	A memory block has been leaked. The size is: 36
//
//	This block was allocated by thread 0x1C5C, and the stack trace (return addresses) at the time was:
//	40305E [System.pas][AttributeSystem][@GetMem][3477]
//	42D2FC [Unit1.pas][Unit1][TForm1.Button1Click][29]
//	7E418731 [Unknown function at GetDC]
//
//	The block is currently used for an object of class: TStringList
//
//	The allocation number is: 412
//
//	This application has leaked memory. The small block leaks are (excluding expected leaks registered by pointer):
//	5 - 12 bytes: TObject x 1, Unknown x 2
//
// The last list, without stacks, counts where no block has been listed by itself: FastMM prints it for all of them.
type fastMMParser struct {
	in    *lane
	out   *collector
	list  *list
	block fastMMBlock
	small bool // lines of the list without stacks may come
	whole bool // blocks were listed by themselves
	since int64
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
			return false, false
		}
		p.take()
		p.begin(number)
		p.whole = true
		p.block = fastMMBlock{open: true, size: size, stack: p.block.stack[:0]}
	case bytes.Contains(text, []byte("leaked memory. The small block leaks are")):
		p.take()
		p.begin(number)
		p.small = true
	case p.list == nil:
		return false, false
	case p.small:
		return p.smallBlocks(text), true
	case !p.block.open || !p.ofBlock(text):
		return false, true
	}
	p.since = number
	return true, true
}

func (p *fastMMParser) begin(number int64) {
	if p.list == nil {
		p.list = p.out.list(KindFastMM, p.in, capture.Process{}, number)
	}
}

func (p *fastMMParser) ofBlock(text []byte) bool {
	b := &p.block
	switch {
	case hasPrefix(text, "This block was allocated by thread"), hasPrefix(text, "Stack trace of when this block was"):
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

// smallBlocks reads "5 - 12 bytes: TObject x 1, Unknown x 2": blocks of at most so many bytes.
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
		if count, _, ok := cutDecimal(part[at+len(" x "):]); ok && !p.whole {
			class := validText(part[:at], longestModule)
			p.out.add(p.list, []frame{ofClass(class, size)}, capture.ReachUnsearched, count, times(count, size))
		}
	}
	return true
}

func (p *fastMMParser) end() {
	p.take()
	p.list, p.small, p.whole = nil, false, false
}

// fastMMFrame reads "42D2FC [Unit1.pas][Unit1][TForm1.Button1Click][29]": address, file, unit, function and line, of
// which all but the address may be missing.
func fastMMFrame(text []byte) (f frame, ok bool) {
	word, rest := cutWord(text)
	if f.address, ok = hexNumber(word); !ok {
		return f, false
	}
	rest = bytes.TrimSpace(rest)
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
	case len(parts) == 1 && bytes.HasPrefix([]byte(parts[0]), []byte("Unknown function at ")):
		return f, true // the nearest export says nothing of the function
	}
	if n, err := strconv.ParseUint(parts[len(parts)-1], 10, 32); err == nil && len(parts) > 1 {
		f.Line, parts = uint32(n), parts[:len(parts)-1]
	}
	switch len(parts) {
	case 1:
		f.Function = parts[0]
	case 2:
		f.Module, f.Function = "", parts[0]+"."+parts[1]
	default:
		f.File, f.Function = parts[0], parts[1]+"."+parts[2]
	}
	if f.File == "" {
		f.Line = 0
	}
	f.address = 0
	return f, true
}

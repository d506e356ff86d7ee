package exitlog

import (
	"bytes"
	"cmp"

	"heapdrift/ingest/capture"
)

// A vldParser reads what Visual Leak Detector prints when a program ends. The layout is that of its documentation and
// of reports in its issue trackers (github.com/KindDragon/vld, github.com/Azure/vld), from 1.9 to 2.9:
//
//	WARNING: Visual Leak Detector detected memory leaks!
//	---------- Block 1 at 0x00AB2700: 4 bytes ----------
//	  Leak Hash: 0x19C58DBA, Count: 3, Total 12 bytes
//	  Call Stack (TID 15860):
//	    ucrtbased.dll!malloc()
//	    c:\src\cache.cpp (88): app.exe!Cache::Add() + 0xF bytes
//	    app.exe!0x01231ABD()                                                  no symbols
//	    0x7C817067 (File and line number not available): RegisterWaitForInputIdle
//	    c:\src\main.cpp (9): main                                             1.9: no module
//	  Data:
//	    78 56 34 12                                                  xV4..... ........
//
//	Visual Leak Detector detected 1 memory leak (56 bytes).
//	Visual Leak Detector is now exiting.
//
// Where VLD aggregates duplicates, Count and Total are those of all blocks of one stack.
type vldParser struct {
	in    *lane
	out   *collector
	list  *list
	block vldBlock
	since int64 // line of the last line of the list
	read  int64 // blocks of the list
}

// A vldBlock is the block under way.
type vldBlock struct {
	open         bool
	address      uint64
	size         int64 // of the first of them
	count, bytes int64
	inStack      bool
	inData       bool
	stack        []frame
}

func (p *vldParser) line(text []byte, number int64) (mine, open bool) {
	if len(text) == 0 {
		p.take()
		return p.list != nil, p.list != nil
	}
	switch {
	case hasPrefix(text, "---------- Block "):
		address, size, ok := vldHeading(text)
		if !ok {
			return false, false
		}
		p.take()
		if p.list == nil {
			p.begin(number)
		}
		p.block = vldBlock{open: true, address: address, size: size, count: 1, bytes: size, stack: p.block.stack[:0]}
	case bytes.Contains(text, []byte("Visual Leak Detector detected memory leaks!")):
		p.take()
		p.begin(number)
	case hasPrefix(text, "Visual Leak Detector detected "):
		p.take()
		p.sum(text[len("Visual Leak Detector detected "):], number)
		p.list = nil
		return true, false
	case hasPrefix(text, "No memory leaks detected."):
		p.take()
		p.begin(number)
		p.list = nil
		return true, false
	case p.list == nil:
		return false, false
	case hasPrefix(text, "Visual Leak Detector is now exiting."):
		p.take()
		p.list = nil
		return true, false
	case !p.block.open:
		return false, false
	case !p.ofBlock(text):
		return false, true
	}
	p.since = number
	return true, true
}

func (p *vldParser) begin(number int64) {
	p.list, p.since, p.read = p.out.list(KindVLD, p.in, capture.Process{}, number), number, 0
}

// ofBlock reads a line within a block, and reports whether it is one.
func (p *vldParser) ofBlock(text []byte) bool {
	b := &p.block
	switch {
	case hasPrefix(text, "Leak Hash:"):
		if _, rest, ok := bytes.Cut(text, []byte("Count: ")); ok {
			count, rest, counted := cutDecimal(rest)
			if rest, ok = bytes.CutPrefix(rest, []byte(", Total ")); ok && counted && count > 0 {
				if total, _, ok := cutDecimal(rest); ok {
					b.count, b.bytes = count, total
				}
			}
		}
	case hasPrefix(text, "Call Stack"):
		b.inStack, b.inData = true, false
	case hasPrefix(text, "Data:"):
		b.inStack, b.inData = false, true
	case b.inStack:
		f, ok := p.out.frame(text, vldFrame)
		if !ok {
			return false
		}
		if len(b.stack) < mostFrames {
			b.stack = append(b.stack, f)
		}
	case b.inData:
		return len(text) > 2 && isHexDigit(text[0]) && isHexDigit(text[1])
	default:
		return false
	}
	return true
}

func isHexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// take counts the block that is under way in.
func (p *vldParser) take() {
	if p.block.open && p.list != nil {
		p.read += p.block.count
		site := p.out.add(p.list, p.block.stack, capture.ReachUnsearched, p.block.count, p.block.bytes)
		if site >= 0 && len(p.block.stack) > 0 && len(p.out.vldShown) < mostShown {
			p.out.vldShown = append(p.out.vldShown, shownBlock{process: p.in.process, of: int32(site), address: p.block.address,
				size: p.block.size, list: p.list.number})
		}
	}
	p.block.open = false
}

func (p *vldParser) end() {
	p.take()
	if p.list != nil {
		p.list.broken = cmp.Or(p.list.broken, p.since)
	}
	p.list = nil
}

// sum compares "2 memory leaks (112 bytes)." with what was read.
func (p *vldParser) sum(text []byte, number int64) {
	said, rest, ok := cutDecimal(text)
	if !ok || !hasPrefix(rest, " memory leak") || p.list == nil || said <= p.read {
		return
	}
	p.list.warn(capture.Malformed, number, said-p.read,
		"Visual Leak Detector counts more blocks than its list shows: give the whole log.")
}

// vldHeading reads "---------- Block 1 at 0x00AB2700: 4 bytes ----------".
func vldHeading(text []byte) (address uint64, size int64, ok bool) {
	_, rest, ok := cutDecimal(text[len("---------- Block "):])
	if !ok {
		return 0, 0, false
	}
	rest, ok = bytes.CutPrefix(rest, []byte(" at "))
	if !ok {
		return 0, 0, false
	}
	number, rest, _ := bytes.Cut(rest, []byte(":"))
	if address, ok = hexNumber(number); !ok {
		return 0, 0, false
	}
	size, rest, ok = cutDecimal(rest)
	return address, size, ok && hasPrefix(rest, " bytes ---")
}

// vldFrame reads a call: [file (line): ][module!]function[()][ + 0x1 bytes].
func vldFrame(text []byte) (f frame, ok bool) {
	if at := bytes.Index(text, []byte(" (File and line number not available): ")); at >= 0 {
		if f.address, ok = hexNumber(text[:at]); !ok {
			return f, false
		}
		text = text[at+len(" (File and line number not available): "):]
	} else if file, line, rest, ok := vldPlace(text); ok {
		f.File, f.Line, text = validText(file, longestFile), line, rest
	}
	if at := bytes.LastIndex(text, []byte(" + 0x")); at >= 0 && bytes.HasSuffix(text, []byte("bytes")) {
		offset, _, _ := bytes.Cut(text[at+len(" + "):], []byte(" "))
		if n, ok := hexNumber(offset); ok {
			f.Offset, text = n, text[:at]
		}
	}
	text = bytes.TrimSuffix(bytes.TrimSpace(text), []byte("()"))
	if at := bytes.IndexByte(text, '!'); at > 0 && !bytes.ContainsAny(text[:at], "<(: ") {
		f.Module, text = moduleName(text[:at]), text[at+1:]
	}
	switch {
	case len(text) == 0:
		return f, false
	case hasPrefix(text, "0x"):
		address, ok := hexNumber(text)
		f.address, f.Offset = address, address
		return f, ok && f.Module != ""
	case string(text) == "(Function name unavailable)":
		return f, f.address != 0
	}
	f.Function = validText(text, longestFunction)
	return f, f.File != "" || f.Module != "" || f.address != 0
}

// vldPlace cuts "file (line): " off a call.
func vldPlace(text []byte) (file []byte, line uint32, rest []byte, ok bool) {
	for from := 0; ; {
		at := bytes.Index(text[from:], []byte(" ("))
		if at < 0 {
			return nil, 0, nil, false
		}
		at += from
		n := countDigits(text[at+2:])
		if end := at + 2 + n; n > 0 && hasPrefix(text[end:], "): ") {
			number, _, ok := cutDecimal(text[at+2:])
			return text[:at], uint32(min(number, 1<<31)), text[end+len("): "):], ok
		}
		from = at + 1
	}
}

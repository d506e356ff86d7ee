// Package leakdiag reads the XML that Microsoft's LeakDiag writes of a running process: what each call stack holds at
// that instant. Each log is a snapshot, as a log of UMDH is: memory in it is no leak by that, and several logs of a
// process show what grows. LeakDiag's document on its log format, which is quoted on public pages, names LEAKS,
// STACK, STACKSTATS, SIZESTAT, HEAPSTAT and FRAME, and the attributes of all but FRAME. Those of FRAME have several
// spellings here:
//
//	<LEAKS ver="1.25.28.2002">
//	  <STACK numallocs="19000" size="1024" totalsize="19456000">
//	    <STACKSTATS>
//	      <SIZESTAT size="1024" numallocs="19000"/>
//	      <HEAPSTAT handle="7d0000" numallocs="19000"/>
//	    </STACKSTATS>
//	    <FRAME num="0" dll="app.exe" function="Cache::Add" offset="0x2c" filename="c:\src\cache.cpp" line="88" addr="0x40102c"/>
//	    <FRAME num="1" dll="kernel32.dll" function="BaseThreadInitThunk" offset="0x19" filename="" line="" addr="0x75c1a019"/>
//	  </STACK>
//	</LEAKS>
//
// Counts and sizes are decimal, size is that of an average block, and handles are hexadecimal.
package leakdiag

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/markup"
	"heapdrift/ingest/sorting"
)

// Kind marks captures of logs of LeakDiag.
const Kind capture.Kind = "leakdiag"

// Limits on what a log gives, which bound memory.
const (
	mostLogs   = 1000 // LEAKS elements of a file
	mostStacks = 1 << 20
	mostFrames = 256
	mostHeaps  = 1 << 12
	// mostHeld bounds the blocks and bytes of a stack, which a damaged file may claim: sums do not overflow.
	mostHeld = 1 << 40
	// longestName bounds a name, in bytes.
	longestName = 4 << 10
)

// Sniff reports whether a file begins like a log of LeakDiag: XML with its elements, in UTF-8 or UTF-16.
func Sniff(head []byte) bool {
	plain, _ := io.ReadAll(markup.NewUTF8Reader(bytes.NewReader(head))) // reading from memory does not fail
	plain = bytes.ToLower(bytes.TrimLeft(plain, " \t\r\n\uFEFF"))
	return bytes.HasPrefix(plain, []byte("<")) && bytes.Contains(plain, []byte("<leaks")) &&
		bytes.Contains(plain, []byte("<stack ")) && bytes.Contains(plain, []byte("numallocs="))
}

// Read reads a file: one capture for each log in it. It holds one element of the file and what the captures hold.
//
// Damage gives warnings, not an error. The error is an *evidence.Error when r holds no stack or when r fails, and the
// context's when that ends; what was read until then is returned beside it.
func Read(ctx context.Context, r io.Reader) ([]*capture.Capture, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f := &file{in: markup.NewElements(ctx, r)}
	err := f.read()
	switch {
	case ctx.Err() != nil:
		return f.done, context.Cause(ctx)
	case err != nil:
		return f.done, &evidence.Error{Code: evidence.CodeReadFailed, Message: "reading the log failed",
			Line: f.in.Line(), Err: err}
	case len(f.done) == 0:
		return nil, &evidence.Error{Code: CodeNoData, Message: "the log holds no stack with memory",
			Do: "log again while LeakDiag watches the process", Line: f.in.Line()}
	}
	return f.done, nil
}

// A file is read into logs.
type file struct {
	in     *markup.Elements
	now    *log // nil outside of LEAKS
	done   []*capture.Capture
	stacks int // of all logs
	left   int64
}

// A log is the LEAKS element under way.
type log struct {
	c        capture.Capture
	heaps    map[uint64]int32
	stack    *stack
	bad      warning // stacks that are not understood
	lost     int64   // stacks that there was no room for
	noFrames int64
}

// A warning counts what was met, and where first.
type warning struct{ count, line int64 }

func (w *warning) add(line int64) {
	if w.count++; w.line == 0 {
		w.line = line
	}
}

// A stack is the STACK element under way.
type stack struct {
	usage  capture.Usage
	heaps  []uint64
	frames []numbered
}

// A numbered is a frame with its number in the stack; -1 where it has none.
type numbered struct {
	number  int64
	text    capture.FrameText
	address uint64
}

// read reads to the end. Its error is that of the source; damage of the markup is said in warnings.
func (f *file) read() error {
	for {
		token, err := f.in.Next()
		if err != nil {
			return f.finish(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			f.start(strings.ToLower(t.Name.Local), attributes(t.Attr))
		case xml.EndElement:
			switch strings.ToLower(t.Name.Local) {
			case "stack":
				f.takeStack()
			case "leaks":
				f.close()
			}
		}
	}
}

func (f *file) start(name string, of map[string]string) {
	switch {
	case name == "leaks":
		f.close()
		f.now = newLog()
	case name == "stack":
		if f.now == nil {
			f.now = newLog()
		}
		f.takeStack()
		if u, ok := usageOf(of); ok {
			f.now.stack = &stack{usage: u}
		} else {
			f.now.bad.add(f.in.Line())
		}
	case f.now == nil || f.now.stack == nil:
	case name == "heapstat":
		if handle, ok := hexadecimal(of["handle"]); ok && len(f.now.stack.heaps) < mostHeaps {
			f.now.stack.heaps = append(f.now.stack.heaps, handle)
		}
	case name == "frame":
		if s := f.now.stack; len(s.frames) < mostFrames {
			if fr, ok := frameOf(of); ok {
				s.frames = append(s.frames, fr)
			}
		}
	}
}

func newLog() *log {
	l := &log{heaps: map[uint64]int32{}}
	l.c = capture.Capture{Kind: Kind, Shape: capture.ShapeSnapshot, Snapshots: make([]capture.Snapshot, 1)}
	return l
}

// takeStack counts the stack under way in.
func (f *file) takeStack() {
	l := f.now
	if l == nil || l.stack == nil {
		return
	}
	s := l.stack
	l.stack = nil
	if f.stacks == mostStacks {
		l.lost++
		return
	}
	f.stacks++
	if len(s.frames) == 0 {
		l.noFrames++
	}
	sorting.Stable(s.frames, func(a, b numbered) int { return int(a.number - b.number) })
	ids := make([]capture.FrameID, 0, len(s.frames))
	for _, fr := range s.frames {
		if fr.text == (capture.FrameText{}) {
			ids = append(ids, l.c.Stacks.AddAddress(fr.address))
		} else {
			ids = append(ids, l.c.Stacks.AddText(fr.text, fr.address))
		}
	}
	l.c.Sites = append(l.c.Sites, capture.Site{Stack: l.c.Stacks.AddStack(ids), Heap: l.heap(s.heaps),
		Usage: []capture.Usage{s.usage}})
}

// heap is the index of the heap of a stack; capture.NoHeap where it allocated from several, or from none that is
// named.
func (l *log) heap(handles []uint64) int32 {
	if len(handles) != 1 {
		return capture.NoHeap
	}
	n, ok := l.heaps[handles[0]]
	if !ok {
		if len(l.c.Heaps) == mostHeaps {
			return capture.NoHeap
		}
		n = int32(len(l.c.Heaps))
		l.heaps[handles[0]] = n
		l.c.Heaps = append(l.c.Heaps, capture.Heap{Handle: handles[0]})
	}
	return n
}

// close ends a log, if one is open.
func (f *file) close() {
	l := f.now
	if l == nil {
		return
	}
	f.takeStack()
	f.now = nil
	switch {
	case len(l.c.Sites) == 0:
		return
	case len(f.done) == mostLogs:
		f.left++
		return
	}
	l.c.Stacks.Trim()
	l.warn(capture.Malformed, l.bad.count, l.bad.line, "Stacks without a number of allocations are not read.")
	l.warn(capture.StackMissing, l.noFrames, 0, "Stacks have no frames: log with a larger depth in LeakDiag.")
	l.warn(capture.Truncated, l.lost, 0, fmt.Sprintf("The file holds more than %d stacks. The further ones are not read.", mostStacks))
	f.done = append(f.done, &l.c)
}

func (l *log) warn(code capture.Code, count, line int64, message string) {
	if count == 0 {
		return
	}
	w := capture.Warning{Code: code, Count: count, Message: message}
	if line > 0 {
		w.Place = fmt.Sprintf("line %d", line)
	}
	l.c.Warnings = append(l.c.Warnings, w)
}

// finish ends the file for the reason that err gives.
func (f *file) finish(err error) error {
	damaged := f.in.Depth() > 0 || !errors.Is(err, io.EOF)
	if f.now != nil && damaged {
		f.now.stack = nil // its frames may be missing
		f.now.c.Snapshots[0].LowerBound = true
		f.now.warn(capture.Truncated, 1, f.in.Line(), "The log breaks off: give the whole file.")
	}
	f.close()
	if n := len(f.done); n > 0 && f.left > 0 {
		c := f.done[n-1]
		c.Warnings = append(c.Warnings, capture.Warning{Code: capture.Truncated, Count: f.left,
			Message: fmt.Sprintf("The file holds more than %d logs. The further ones are not read.", mostLogs)})
	}
	if errors.Is(err, io.EOF) || markup.IsMarkup(err) {
		return nil
	}
	return err
}

// attributes are those of an element by their names in lower case.
func attributes(list []xml.Attr) map[string]string {
	of := make(map[string]string, len(list))
	for _, a := range list {
		of[strings.ToLower(a.Name.Local)] = strings.TrimSpace(a.Value)
	}
	return of
}

// usageOf reads numallocs, totalsize and size, the size of an average block.
func usageOf(of map[string]string) (u capture.Usage, ok bool) {
	if u.Count, ok = decimal(of["numallocs"]); !ok {
		return u, false
	}
	if u.Bytes, ok = decimal(of["totalsize"]); !ok {
		each, isSize := decimal(of["size"])
		if !isSize {
			return u, false
		}
		u.Bytes = min(each, mostHeld/max(1, u.Count)) * u.Count
	}
	return u, true
}

// frameOf reads a frame, whose attributes have one of several names.
func frameOf(of map[string]string) (f numbered, ok bool) {
	one := func(names ...string) string {
		for _, name := range names {
			if v := of[name]; v != "" {
				return v[:min(len(v), longestName)]
			}
		}
		return ""
	}
	f.number = -1
	if n, isNumber := decimal(one("num", "number", "index")); isNumber && n < mostFrames {
		f.number = n
	}
	f.address, _ = hexadecimal(one("addr", "address", "ip"))
	module := one("dll", "module", "image")
	module = module[strings.LastIndexAny(module, `\/`)+1:]
	if dot := strings.LastIndexByte(module, '.'); dot > 0 {
		module = module[:dot]
	}
	f.text.Module, f.text.Function = module, one("function", "func", "symbol", "name")
	f.text.Offset, _ = hexadecimal(one("offset", "displacement"))
	if file := one("filename", "file", "source"); file != "" {
		f.text.File = file
		if line, isLine := decimal(one("line", "linenumber")); isLine {
			f.text.Line = uint32(min(line, 1<<31))
		}
	}
	if f.text.Function == "" && f.text.Offset == 0 {
		f.text.Offset = f.address // nothing else tells calls of one module apart
	}
	if f.text.Module == "" && f.text.Function == "" {
		f.text = capture.FrameText{}
	}
	return f, f.text != (capture.FrameText{}) || f.address != 0
}

// decimal reads a number of at most mostHeld.
func decimal(text string) (int64, bool) {
	n, err := strconv.ParseUint(text, 10, 64)
	return int64(min(n, mostHeld)), err == nil
}

// hexadecimal reads a number with or without 0x.
func hexadecimal(text string) (uint64, bool) {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "0x"), "0X")
	n, err := strconv.ParseUint(text, 16, 64)
	return n, err == nil
}

package windbg

import (
	"bytes"
	"fmt"
	"strings"

	"heapdrift/ingest/capture"
)

const sourceBlock = "!heap -p -a"

// block reads !heap -p -a: one block, and the stack that allocated it, innermost frame first.
//
//	address 7edcc018 found in
//	_HEAP @ 510000
//	  HEAP_ENTRY Size Prev Flags    UserPtr UserSize - state
//	    7edcc018 2ae00 0000  [00]   7edcc030    156600 - (busy VirtualAlloc)
//	    77db1f3e ntdll!RtlAllocateHeap+0x0000003e
//
// In a page heap the block is told in another way:
//
//	_DPH_HEAP_ROOT @ 6731000
//	in busy allocation (  DPH_HEAP_BLOCK:         UserAddr         UserSize -         VirtAddr         VirtSize)
//	                            cc36323c:         cc53afa8               58 -         cc53a000             2000
//	6f13ab70 verifier!AVrfDebugPageHeapAllocate+0x00000240
//
// A block that is free has the stack of who freed it, which is no allocation: it becomes a note.
type block struct {
	r       *reader
	in      *instant
	asked   string // the address
	began   int64
	found   bool // there is a row
	freed   bool
	elided  bool // the log leaves frames out
	content string
	user    uint64
	size    int64
	frames  []capture.FrameID
}

// maxFrames bounds a stack; Windows records 32 frames, page heap 64.
const maxFrames = 1024

// openPageBlock opens an excerpt that begins behind the line of the address.
func openPageBlock(r *reader, text []byte) section {
	r.end()
	s := &block{r: r, in: r.now, began: r.in.number}
	s.line(text)
	return s
}

func openBlock(r *reader, text []byte) section {
	address, found := bytes.CutSuffix(text[len("address "):], []byte(" found in"))
	if _, ok := hex(address); !found || !ok {
		return nil
	}
	r.end()
	r.question.answered = true
	return &block{r: r, in: r.now, asked: string(address), began: r.in.number}
}

func (s *block) line(text []byte) bool {
	if isEntryHeader(text) || bytes.HasPrefix(text, []byte("_HEAP @ ")) ||
		bytes.HasPrefix(text, []byte("_DPH_HEAP_ROOT @ ")) {
		return !s.found
	}
	if bytes.HasPrefix(text, []byte("in free-ed allocation")) {
		s.freed = true
		return true
	}
	switch {
	case bytes.HasPrefix(text, []byte("in busy allocation")), bytes.HasPrefix(text, []byte("Trace: ")):
		return true
	case !s.found:
		return s.row(text)
	case text[0] == '.':
		s.elided = true
		return true
	}
	return s.frame(text)
}

// row takes the block's own row, of either kind.
func (s *block) row(text []byte) bool {
	if e, like, ok := parseEntry(text); like {
		if !ok {
			s.in.malformed.add(s.r.in.number)
			return true
		}
		s.found, s.user, s.size = true, e.user, e.bytes
		s.freed = s.freed || !e.busy
		return true
	}
	w := split(text)
	name, colon := bytes.CutSuffix(w.words[0], []byte(":"))
	if _, ok := hex(name); !ok || !colon || w.n < 3 {
		return false
	}
	user, ok := hex(w.words[1])
	amount, okSize := size(w.words[2])
	if !ok || !okSize {
		s.in.malformed.add(s.r.in.number)
		return true
	}
	s.found, s.user, s.size = true, user, amount
	return true
}

// frame takes a frame, or what the block looks like, which stands before the first: "unknown!printable".
func (s *block) frame(text []byte) bool {
	line := plain(text)
	frame, address, ok := parseFrame(line)
	switch {
	case !ok:
		if len(s.frames) > 0 || s.content != "" || bytes.IndexByte(text, '!') <= 0 {
			return false
		}
		s.content = line
		return true
	case len(s.frames) == maxFrames || !s.r.keep(1+len(line)/64):
		s.elided = true
	case frame == capture.FrameText{}:
		s.frames = append(s.frames, s.in.c.Stacks.AddAddress(address))
	default:
		s.frames = append(s.frames, s.in.c.Stacks.AddText(frame, address))
	}
	return true
}

func (s *block) close() {
	if !s.found {
		s.in.truncate(s.began, "the answer of !heap -p -a holds no block: the log is cut short or an excerpt")
		return
	}
	if s.freed {
		s.in.note("block", sourceBlock)
		s.in.addNote(s.r, capture.TopicInfo,
			fmt.Sprintf("the block at %s is free: !heap -p -a shows who freed it", capture.Address(s.user)))
		return
	}
	sample := capture.Sample{Title: strings.TrimSpace(sourceBlock + " " + s.asked),
		Stack: s.in.c.Stacks.AddStack(s.frames), Address: s.user, Size: s.size}
	if s.content != "" {
		sample.Note = "its content looks like " + s.content
	}
	if s.elided {
		sample.Note = joined(sample.Note, "frames are left out in the log")
	}
	if key := fmt.Sprintf("block %x", s.user); !s.in.has(key) && s.in.sample(s.r, sample) {
		s.in.note(key, sourceBlock)
	}
}

package windbg

import (
	"bytes"
	"fmt"
	"strings"

	"heapdrift/ingest/capture"
)

// fault reads the error that a heap has met with, which !heap prints before anything else:
//
//	*******************************************
//	*                                         *
//	*           HEAP ERROR DETECTED           *
//	*                                         *
//	*******************************************
//	Details:
//	Heap address:  0000000000470000
//	Error address: 000000001b622e60
//	Error type:    HEAP_FAILURE_FREELISTS_CORRUPTION
//	Details:       The heap detected a corrupt free list. These are
//	               usually the result of a use-after-free error.
//	Follow-up:     Enable pageheap.
//	Stack trace:
//	Stack trace at 0x00000000779c7cd8
//	    0000000077973871: ntdll!RtlpAllocateHeap+0xa11
type fault struct {
	r       *reader
	in      *instant
	values  map[string]string
	last    string // the word of the line before
	frames  []string
	stack   bool // frames may come
	elided  bool
	passing int // lines of the box around the title
}

const sourceFault = "heap error"

// mostFaultFrames bounds the frames that a note names.
const mostFaultFrames = 8

func openFault(r *reader, _ []byte) section {
	r.end()
	r.question.answered = true
	return &fault{r: r, in: r.now, values: map[string]string{}}
}

// faultWords begin the lines of an error.
var faultWords = []string{"Heap address:", "Error address:", "Error type:", "Details:", "Follow-up:", "Follow up:",
	"Stack trace:", "Stack trace at", "Last known valid blocks:", "Parameter 1:", "Parameter 2:",
	"Parameter 3:", "Previous good block:"}

func (s *fault) line(text []byte) bool {
	for _, word := range faultWords {
		rest, ok := bytes.CutPrefix(text, []byte(word))
		if !ok {
			continue
		}
		s.last = strings.ToLower(strings.TrimRight(word, ":"))
		if s.stack = strings.HasPrefix(word, "Stack"); !s.stack && s.values[s.last] == "" {
			s.values[s.last] = plain(rest)
		}
		return true
	}
	if s.stack {
		return s.frame(text)
	}
	if box := bytes.Trim(text, "* "); len(box) == 0 && s.passing < 4 {
		s.passing++
		return true
	}
	if was := s.values[s.last]; s.last == "details" && was != "" && len(was) < maxText && 'a' <= text[0] &&
		text[0] <= 'z' && bytes.IndexByte(text, ' ') > 0 {
		s.values[s.last] = was + " " + plain(text)
		return true
	}
	return false
}

// frame takes a line of the stack, whose address has a colon.
func (s *fault) frame(text []byte) bool {
	line := plain(text)
	if at := strings.Index(line, ": "); at > 0 && isHex(line[:at]) {
		line = line[:at] + line[at+1:]
	}
	frame, _, ok := parseFrame(line)
	if !ok {
		return false
	}
	if len(s.frames) == mostFaultFrames {
		s.elided = true
	} else if frame.Module != "" {
		s.frames = append(s.frames, frame.Module+"!"+frame.Function)
	}
	return true
}

func (s *fault) close() {
	said := "the heap has met with an error"
	if kind := s.values["error type"]; kind != "" {
		said += ", " + kind
	}
	if at := s.values["error address"]; at != "" {
		said += " at " + at
	}
	if heap := s.values["heap address"]; heap != "" {
		said += " in heap " + heap
	}
	if details := s.values["details"]; details != "" {
		said += ": " + details
	}
	if len(s.frames) > 0 {
		said += fmt.Sprintf(" It was noticed in %s", strings.Join(s.frames, " < "))
		if s.elided {
			said += " < …"
		}
	}
	advice := s.values["follow-up"]
	if advice == "" {
		advice = s.values["follow up"]
	}
	s.in.note(sourceFault, sourceFault)
	s.in.advise(s.r, capture.Note{Topic: capture.TopicError, Text: said, Advice: advice})
}

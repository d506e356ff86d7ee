package windbg

import (
	"bytes"
	"fmt"

	"heapdrift/ingest/capture"
)

const sourceStop = "Application Verifier stops"

// verifierStop reads what Application Verifier tells the debugger, up to four parameters in hexadecimal:
//
//	VERIFIER STOP 00000900: pid 0x4E4C: A heap allocation was leaked.
//		0AED3F58 : Address of the leaked allocation. Run !heap -p -a <address> to get additional information about the allocation.
//
// Its stacks are addresses of stacks in the process, which a log does not show.
type verifierStop struct {
	r       *reader
	in      *instant
	code    uint64
	message string
	values  [mostParameters]uint64
	n       int // of them
}

// mostParameters is how many parameters a stop has at most.
const mostParameters = 4

// leakStops are the stops of the layer Leak (Application Verifier's help, "Leak Stop Details"), with what their first
// parameter is.
var leakStops = map[uint64]struct{ address bool }{
	0x900: {true}, // heap allocation
	0x901: {},     // handle
	0x902: {},     // key of the registry
	0x903: {true}, // reservation
	0x904: {true}, // BSTR
}

func openStop(r *reader, text []byte) section {
	code, rest, found := bytes.Cut(text[len("VERIFIER STOP "):], []byte(":"))
	number, ok := hex(bytes.TrimSpace(code))
	pid, message, hasMessage := bytes.Cut(rest, []byte(":"))
	if !found || !ok || !hasMessage {
		return nil
	}
	r.end()
	if id, isPID := bytes.CutPrefix(bytes.TrimSpace(pid), []byte("pid ")); isPID && r.target.process.PID == 0 {
		r.pid(plain(id), 0)
	}
	return &verifierStop{r: r, in: r.now, code: number, message: plain(message)}
}

func (s *verifierStop) line(text []byte) bool {
	if text[0] == '=' {
		return s.n == 0 // the line below the parameters ends it
	}
	value, _, found := bytes.Cut(text, []byte(" : "))
	v, ok := hex(value)
	if !found || !ok || s.n == mostParameters {
		return false
	}
	s.values[s.n] = v
	s.n++
	return true
}

func (s *verifierStop) close() {
	said := fmt.Sprintf("Application Verifier says (stop %x): %s", s.code, s.message)
	leak, isLeak := leakStops[s.code]
	if !isLeak {
		s.in.note(sourceStop, sourceStop)
		s.in.addNote(s.r, capture.TopicError, said)
		return
	}
	sample := capture.Sample{Title: fmt.Sprintf("VERIFIER STOP %x", s.code), Note: said, Leaked: true}
	if leak.address {
		sample.Address = s.values[0]
	} else if s.n > 0 {
		sample.Note += fmt.Sprintf(" Its value is %#x.", s.values[0])
	}
	if stack := s.values[1]; s.n > 1 && stack != 0 {
		sample.Note += fmt.Sprintf(" The debugger prints its stack with dps %#x.", stack)
	}
	if s.in.sample(s.r, sample) {
		s.in.note(sourceStop, sourceStop)
	}
}

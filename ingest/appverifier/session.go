package appverifier

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"time"

	"heapdrift/ingest/capture"
)

// The limits on what is kept.
const (
	maxSamples = 10_000   // of a session
	maxNotes   = 1_000    // of a session
	maxKept    = 64 << 20 // bytes of text of all stops of a log
	fewFrames  = 4        // that a note tells
)

// leakStops are the stops of the layer Leak (Application Verifier's help, "Leak Stop Details"): what leaked, and
// whether the first parameter is its address or another value.
var leakStops = map[uint64]struct {
	what    string
	address bool
}{
	0x900: {"heap allocation", true},
	0x901: {"handle", false},
	0x902: {"registry key", false},
	0x903: {"virtual reservation", true},
	0x904: {"BSTR", true},
}

// A session is one run of the process under Application Verifier.
type session struct {
	c         *capture.Capture
	notes     map[string]int // places in Notes, by what they say
	times     []int64        // how often each was said
	room      *int           // bytes of text that the log may still bring
	unread    int64          // frames that were not understood
	noStack   int64          // leaks without a stack
	noAddress int64          // leaks whose parameter is no address
	dropped   int64          // stops that there was no room for
	cut       int64          // line where the log ends early, 0 where not
}

func newSession(attributes []xml.Attr, room *int) *session {
	s := &session{room: room, notes: map[string]int{}, c: &capture.Capture{Kind: Kind, Shape: capture.ShapeFacts,
		Snapshots: make([]capture.Snapshot, 1), Memory: &capture.Memory{Source: "Application Verifier"}}}
	for _, a := range attributes {
		switch a.Name.Local {
		case "PID":
			if v, err := strconv.ParseUint(strings.TrimSpace(a.Value), 0, 32); err == nil {
				s.c.Process.PID = uint32(v)
			}
		case "TimeStarted":
			s.at(clock(a.Value))
		}
	}
	return s
}

// at moves the instant of the session to a later one: an entry that is logged at that time still held then.
func (s *session) at(t time.Time) {
	if t.After(s.c.Snapshots[0].TakenAt) {
		s.c.Snapshots[0].TakenAt = t
	}
}

// take adds a stop.
func (s *session) take(e *entry) {
	s.at(clock(e.at))
	if *s.room -= e.cost(); *s.room < 0 {
		*s.room = 0
		s.dropped++
		return
	}
	if _, ok := leakStops[e.code]; ok {
		s.leak(e)
		return
	}
	s.note(e)
}

// leak makes a sample of a leak.
func (s *session) leak(e *entry) {
	m := s.c.Memory
	if len(m.Samples) == maxSamples {
		s.dropped++
		return
	}
	kind := leakStops[e.code]
	sample := capture.Sample{Title: fmt.Sprintf("%s (stop %#x)", kind.what, e.code), Stack: s.stack(e), Size: e.size(),
		Note: "Application Verifier says: " + e.singleLine(), Leaked: true}
	value, _, ok := e.param(0)
	switch {
	case kind.address && ok:
		sample.Address = value
	case kind.address:
		s.noAddress++
	case ok:
		sample.Note += fmt.Sprintf(" Its value is %#x.", value)
	}
	if sample.Stack == capture.NoStack {
		s.noStack++
	}
	if e.elided {
		sample.Note += fmt.Sprintf(" Frames beyond %d are left out.", maxFrames)
	}
	m.Samples = append(m.Samples, sample)
}

// stack interns the frames of a stop.
func (s *session) stack(e *entry) capture.StackID {
	var ids []capture.FrameID
	for _, line := range e.frames {
		text, address, ok := parseFrame(line)
		switch {
		case !ok:
			s.unread++
			continue
		case text == capture.FrameText{}:
			ids = append(ids, s.c.Stacks.AddAddress(address))
		default:
			ids = append(ids, s.c.Stacks.AddText(text, address))
		}
		if address >= 1<<32 {
			s.c.Process.Bits = 64
		}
	}
	return s.c.Stacks.AddStack(ids)
}

// topics are those of notes, by the severity of a stop; any other is for information.
var topics = map[string]string{"Error": capture.TopicError, "Warning": capture.TopicWarning}

// note makes a note of a stop that is no leak, each text once.
func (s *session) note(e *entry) {
	text := fmt.Sprintf("Application Verifier says (layer %s, stop %#x): %s", e.layer, e.code, e.singleLine())
	var callers []string
	for _, line := range e.frames[:min(len(e.frames), fewFrames)] {
		callers = append(callers, oneLine(line))
	}
	if len(callers) > 0 {
		text += " Called from " + strings.Join(callers, ", ") + "."
	}
	m := s.c.Memory
	at, known := s.notes[text]
	switch {
	case known:
		s.times[at]++
	case len(m.Notes) == maxNotes:
		s.dropped++
	default:
		topic := topics[e.severity]
		if topic == "" {
			topic = capture.TopicInfo
		}
		s.notes[text] = len(m.Notes)
		s.times = append(s.times, 1)
		m.Notes = append(m.Notes, capture.Note{Topic: topic, Text: text})
	}
}

// finish makes the capture, or nil where there was no stop.
func (s *session) finish() *capture.Capture {
	m := s.c.Memory
	if len(m.Samples)+len(m.Notes) == 0 {
		return nil
	}
	for i, n := range s.times {
		if n > 1 {
			m.Notes[i].Text += fmt.Sprintf(" %d times.", n)
		}
	}
	s.c.Snapshots[0].LowerBound = s.cut > 0
	s.warn()
	return s.c
}

// warn says what limits the log.
func (s *session) warn() {
	for _, w := range []struct {
		code    capture.Code
		n       int64
		message string
	}{
		{capture.Malformed, s.unread, "%d frames were not understood, and are missing in their stacks"},
		{capture.Malformed, s.noAddress, "%d leaks have no address, or one that is no number"},
		{capture.StackMissing, s.noStack,
			"%d leaks have no stack; let Application Verifier log stacks, and put the PDBs on the symbol path for the export"},
		{capture.Truncated, s.dropped, "%d stops beyond the first are left out: the log holds more than can be shown"},
	} {
		if w.n > 0 {
			s.c.Warnings = append(s.c.Warnings, capture.Warning{Code: w.code, Message: fmt.Sprintf(w.message, w.n), Count: w.n})
		}
	}
	if s.cut > 0 {
		s.c.Warnings = append(s.c.Warnings,
			capture.Warning{Code: capture.Truncated, Count: 1, Place: fmt.Sprintf("line %d", s.cut),
				Message: "the log ends in the middle of a session: later stops are missing, export it again"})
	}
}

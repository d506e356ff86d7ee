package appverifier

import (
	"encoding/xml"
	"math"
	"strconv"
	"strings"
	"time"
)

// The limits on what is kept of an entry, in bytes and frames. Application Verifier records 32 frames.
const (
	maxText   = 4 << 10
	maxFrames = 256
)

// An entry is one stop.
type entry struct {
	at       string
	layer    string
	code     uint64
	severity string
	message  string
	detail   string // formatmessage: the message with its figures
	params   [4]string
	frames   []string
	elided   bool // there are more frames
}

func newEntry(attributes []xml.Attr) *entry {
	e := &entry{}
	for _, a := range attributes {
		switch a.Name.Local {
		case "Time":
			e.at = a.Value
		case "LayerName":
			e.layer = clip(a.Value)
		case "StopCode":
			e.code, _ = hexadecimal(a.Value)
		case "Severity":
			e.severity = clip(a.Value)
		}
	}
	return e
}

// text is where the text of an element goes; nil for an element that says nothing of the stop.
func (e *entry) text(name string) *string {
	switch name {
	case "message":
		return &e.message
	case "formatmessage":
		return &e.detail
	case "parameter1", "parameter2", "parameter3", "parameter4":
		return &e.params[name[len(name)-1]-'1']
	case "trace":
		if len(e.frames) == maxFrames {
			e.elided = true
			return nil
		}
		e.frames = append(e.frames, "")
		return &e.frames[len(e.frames)-1]
	}
	return nil
}

// param reads a parameter: its value in hexadecimal, and what it is.
func (e *entry) param(i int) (value uint64, what string, ok bool) {
	number, what, _ := strings.Cut(e.params[i], " - ")
	value, ok = hexadecimal(number)
	return value, strings.TrimSpace(what), ok
}

// size looks for a parameter that is one, in bytes; 0 where none is.
func (e *entry) size() int64 {
	for i := range e.params {
		if v, what, ok := e.param(i); ok && v <= math.MaxInt64 && strings.HasPrefix(strings.ToLower(what), "size") {
			return int64(v)
		}
	}
	return 0
}

// singleLine is the message in one line.
func (e *entry) singleLine() string {
	s := oneLine(e.message)
	if d := oneLine(e.detail); d != "" && d != s {
		s += " " + d
	}
	return s
}

// cost is what keeping the stop takes, in bytes of text and for what is made of it.
func (e *entry) cost() int {
	const each = 512
	n := each + len(e.message) + len(e.detail)
	for _, f := range e.frames {
		n += len(f) + each/8
	}
	return n
}

func hexadecimal(s string) (uint64, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	return v, err == nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func clip(s string) string {
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "")
	}
	return strings.Clone(s)
}

// clock reads "2024-03-05 : 10:21:00", the local time of the machine.
func clock(s string) time.Time {
	at, _ := time.Parse("2006-01-02 : 15:04:05", oneLine(s))
	return at
}

// Package appverifier reads the logs that Application Verifier exports as XML (appverif -export log -for app.exe -with
// to=log.xml): what it found while one or more processes of a program ran. The namespace is literally "Application
// Verifier".
//
//	<avrf:logfile xmlns:avrf="Application Verifier">
//	  <avrf:logSession TimeStarted="2024-03-05 : 10:20:30" PID="7132" Version="2">
//	    <avrf:logEntry Time="2024-03-05 : 10:21:00" LayerName="Leak" StopCode="0x900" Severity="Error">
//	      <avrf:message>A heap allocation was leaked.</avrf:message>
//	      <avrf:parameter1>1412abe0 - Address of the leaked allocation. …</avrf:parameter1>
//	      <avrf:stackTrace>
//	        <avrf:trace>app!Cache::Fill+1f (c:\src\cache.cpp @ 12)</avrf:trace>
//	      </avrf:stackTrace>
//	    </avrf:logEntry>
//	  </avrf:logSession>
//	</avrf:logfile>
//
// Each session with stops becomes a Capture, and a log without stops gives an *evidence.Error. Stops of the layer Leak
// become samples, each with the stack that allocated; all other stops become notes. A leak stop is the tool's own
// conclusion: a module was unloaded before it had freed its memory.
package appverifier

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/markup"
)

// Kind is that of captures of logs of Application Verifier.
const Kind capture.Kind = "appverifier-log"

// Read reads a log: one capture for each session with stops, in their order. It holds one element of the log and what
// the captures hold, which is bounded.
//
// Damage gives warnings, not an error. The error is an *evidence.Error when r holds no stop or when r fails, and the
// context's when that ends; what was read until then is returned beside it.
func Read(ctx context.Context, r io.Reader) ([]*capture.Capture, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	l := newLog(ctx, r)
	err := l.read()
	switch {
	case ctx.Err() != nil:
		return l.done, context.Cause(ctx)
	case err != nil:
		return l.done, &evidence.Error{Code: CodeReadFailed, Message: "reading the log failed", Line: l.in.Line(), Err: err}
	case len(l.done) > 0:
		return l.done, nil
	case l.sessions > 0 && !l.damaged:
		return nil, &evidence.Error{Code: CodeNoStops,
			Message: "the log has no stops: nothing was found while the process ran", Line: l.in.Line(),
			Do: "run it with appverif -enable Leak -for app.exe until the module is unloaded, which is when leaks are found"}
	}
	return nil, &evidence.Error{Code: CodeNoData, Message: "no whole stop of Application Verifier was found",
		Line: l.in.Line(), Do: "export the log with appverif -export log -for app.exe -with to=log.xml"}
}

// Sniff reports whether head, the first bytes of a file, looks like a log of Application Verifier: up to 64 KiB in
// UTF-8 or UTF-16.
func Sniff(head []byte) bool {
	plain, _ := io.ReadAll(markup.NewUTF8Reader(bytes.NewReader(head))) // reading from memory does not fail
	plain = bytes.TrimLeft(plain, " \t\r\n\uFEFF-")
	return bytes.HasPrefix(plain, []byte("<")) && bytes.Contains(plain, []byte("Application Verifier")) &&
		(bytes.Contains(plain, []byte("logfile")) || bytes.Contains(plain, []byte("logSession")))
}

// A log is read into sessions.
type log struct {
	in       *markup.Elements
	now      *session // nil between sessions
	entry    *entry   // nil between entries
	field    *string  // of entry, that the text goes to; nil for none
	done     []*capture.Capture
	room     int // bytes of text that may still be kept
	sessions int64
	left     int64 // sessions that there was no room for
	damaged  bool
}

func newLog(ctx context.Context, r io.Reader) *log {
	return &log{in: markup.NewElements(ctx, r), room: maxKept}
}

// maxSessions bounds the captures of one log.
const maxSessions = 1000

// read reads to the end. Its error is that of the source; damage of the markup is said in warnings.
func (l *log) read() error {
	for {
		token, err := l.in.Next()
		if err != nil {
			return l.finish(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			l.start(t)
		case xml.CharData:
			if l.field != nil {
				kept := t[:min(len(t), maxText-len(*l.field))]
				*l.field += string(bytes.ToValidUTF8(kept, nil)) // where it cuts a character
			}
		case xml.EndElement:
			l.end(t.Name.Local)
		}
	}
}

func (l *log) start(t xml.StartElement) {
	l.field = nil
	switch name := t.Name.Local; {
	case name == "logSession":
		l.close()
		l.sessions++
		l.now = newSession(t.Attr, &l.room)
	case name == "logEntry":
		if l.now == nil {
			l.sessions++
			l.now = newSession(nil, &l.room)
		}
		l.entry = newEntry(t.Attr)
	case l.entry != nil:
		l.field = l.entry.text(name)
	}
}

func (l *log) end(name string) {
	l.field = nil
	switch name {
	case "logEntry":
		if l.entry != nil {
			l.now.take(l.entry)
			l.entry = nil
		}
	case "logSession":
		l.close()
	}
}

// close ends a session, if one is open.
func (l *log) close() {
	if l.now == nil {
		return
	}
	c := l.now.finish()
	l.now, l.entry = nil, nil
	switch {
	case c == nil:
	case len(l.done) == maxSessions:
		l.left++
	default:
		l.done = append(l.done, c)
	}
}

// finish ends the log for the reason that err gives.
func (l *log) finish(err error) error {
	whole := errors.Is(err, io.EOF) && l.in.Depth() == 0
	if l.damaged = !whole; l.damaged && l.now != nil {
		l.now.cut = max(1, l.in.Line())
	}
	before := len(l.done)
	l.close()
	if n := len(l.done); n > 0 {
		c := l.done[n-1]
		if l.damaged && n == before {
			c.Warnings = append(c.Warnings,
				capture.Warning{Code: capture.Truncated, Count: 1, Place: fmt.Sprintf("line %d", l.in.Line()),
					Message: "the log ends early: the session is whole, and later ones may be missing"})
		}
		if markup.IsMarkup(err) && !strings.Contains(err.Error(), "unexpected EOF") {
			c.Warnings = append(c.Warnings,
				capture.Warning{Code: capture.Malformed, Count: 1, Place: fmt.Sprintf("line %d", l.in.Line()),
					Message: "the markup is damaged, and what follows is not read: " + err.Error()})
		}
		if l.left > 0 {
			c.Warnings = append(c.Warnings, capture.Warning{Code: capture.Truncated, Count: l.left,
				Message: fmt.Sprintf("the log holds more than %d sessions with stops; the %d after this one are left out",
					maxSessions, l.left)})
		}
	}
	if errors.Is(err, io.EOF) || markup.IsMarkup(err) {
		return nil
	}
	return err
}

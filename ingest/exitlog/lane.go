package exitlog

import (
	"bytes"

	"heapdrift/ingest/capture"
)

const (
	// patience is how many lines that belong to no list may come before a list counts as broken off. Programs print
	// between the lines of a list, and other processes do.
	patience = 200
	// mostLanes bounds the processes whose lines are read apart at the same time; those of further ones are not read.
	mostLanes = 1 << 10
)

// A parser reads the lists of one tool out of the lines of one process.
type parser interface {
	// line takes a line that is not blank at its front, and reports whether it is of a list. open says that more lines of
	// it follow.
	line(text []byte, number int64) (mine, open bool)
	// end takes what a list had before it broke off.
	end()
}

// A lane is the lines of a log that have one prefix, mostly of one process.
type lane struct {
	name    string
	tests   runningTest
	parsers []parser
	open    parser // whose list is under way; nil for none
	until   int64  // line at which it counts as broken off
	process uint32 // which of the processes that the log tells apart prints these lines now
	begun   int    // tests that the process has begun
	listed  bool   // the debug CRT has listed the blocks of the test that runs
	missed  bool   // it has not of a test before
}

// lanes are all processes of a log.
type lanes struct {
	stripper prefixStripper
	byName   map[string]*lane
	last     *lane // of the line before; nil for none
	out      *collector
	ctest    ctestLog
	// openUntil is the line from which on nothing but lines with a trigger matters: no list is under way any more.
	openUntil int64
}

func newLanes() *lanes { return &lanes{byName: map[string]*lane{}, out: newCollector()} }

func (l *lanes) lane(name []byte) *lane {
	if l.last != nil && l.last.name == string(name) {
		return l.last
	}
	at := l.byName[string(name)]
	if at == nil {
		if len(l.byName) == mostLanes {
			l.out.lostLanes++
			return nil
		}
		at = &lane{name: string(name)}
		at.start(l.out)
		at.parsers = []parser{
			&crtParser{in: at, out: l.out}, &vldParser{in: at, out: l.out}, &drMemoryParser{in: at, out: l.out},
			&sanitizerParser{in: at, out: l.out}, &fastMMParser{in: at, out: l.out}, &heobParser{in: at, out: l.out},
			&memcheckXMLParser{in: at, losses: losses{out: l.out}}, &memcheckParser{in: at, out: l.out},
			&heapCheckParser{in: at, out: l.out},
			&inspectorParser{in: at, out: l.out},
		}
		l.byName[at.name] = at
	}
	l.last = at
	return at
}

// line reads a line.
func (l *lanes) line(raw []byte, number int64) {
	stripped := l.stripper.strip(raw)
	if stripped.numbered != nil && l.summary(stripped, number) {
		return
	}
	at := l.lane(stripped.lane)
	if at == nil {
		return
	}
	if at.open != nil && number >= at.until {
		at.open.end()
		at.open = nil
	}
	if len(stripped.text) == 0 {
		if at.open != nil {
			_, _ = at.open.line(nil, number)
		}
		return
	}
	if at.open != nil {
		mine, open := at.open.line(stripped.text, number)
		if mine {
			l.keep(at, at.open, open, number)
			return
		}
	}
	if at.open == nil && stripped.text[0] == '[' { // no list begins so, and most lines with a trigger are of GoogleTest
		l.test(at, stripped.text)
		return
	}
	for _, p := range at.parsers {
		if p == at.open {
			continue
		}
		if mine, open := p.line(stripped.text, number); mine {
			if at.open != nil {
				at.open.end()
			}
			l.keep(at, p, open, number)
			return
		}
	}
	l.out.notes.line(stripped.text, number)
	if l.ctest.line(stripped.text, l, at) {
		return
	}
	l.test(at, stripped.text)
	if at.tests.pending > 0 { // the name comes in a line after
		l.openUntil = max(l.openUntil, number+int64(at.tests.pending))
	}
}

// summary gives a line to a list that FastMM 5 ends with, whose lines begin with a number as ctest's do: "12: 1 x
// TObject".
func (l *lanes) summary(stripped strippedLine, number int64) (mine bool) {
	at := l.byName[string(stripped.numberedLane)]
	if at == nil || at.open == nil {
		return false
	}
	p, ok := at.open.(*fastMMParser)
	if !ok || !p.summary || number >= at.until {
		return false
	}
	mine, open := p.line(stripped.numbered, number)
	if mine {
		l.keep(at, p, open, number)
	}
	return mine
}

// test takes a line that is of no list, and notes the test that it ends.
func (l *lanes) test(at *lane, text []byte) {
	before := at.tests.inner
	if at.tests.line(text); at.tests.ended != "" {
		l.out.ended(at.tests.ended)
		at.tests.ended = ""
	}
	if at.tests.inner != before && at.tests.inner != "" {
		at.missed = at.missed || at.begun > 0 && !at.listed
		at.begun++
		at.listed = false
	}
}

// start notes that another process prints the lines from here on.
func (at *lane) start(o *collector) {
	at.process = o.newProcess()
	at.begun, at.listed, at.missed = 0, false, false
}

// keep notes whether a list goes on.
func (l *lanes) keep(at *lane, p parser, open bool, number int64) {
	if at.open = nil; open {
		at.open, at.until = p, number+patience
		l.openUntil = max(l.openUntil, at.until)
	}
}

// test is the test that runs in a lane; "" for none.
func (at *lane) test() string { return at.tests.name() }

// finish ends all lists and makes the captures.
func (l *lanes) finish(s *scanner) []*capture.Capture {
	for _, at := range l.byName {
		if at.open != nil {
			at.open.end()
		}
	}
	return l.out.captures(s)
}

// cutWord cuts the first word off a text.
func cutWord(text []byte) (word, rest []byte) {
	text = bytes.TrimLeft(text, " \t")
	n := bytes.IndexAny(text, " \t")
	if n < 0 {
		return text, nil
	}
	return text[:n], text[n:]
}

package umdh

import (
	"bytes"
	"slices"

	"heapdrift/ingest/capture"
)

// A difference gathers the entries of a difference of two logs. Numbers stay digits until the end of the file:
// any line may prove their base.
type difference struct {
	d        *draft
	evidence baseProof
	deltas   []delta
	total    total
	frames   map[string]capture.FrameID // by their line
	wrapped  []byte                     // a frame whose source place goes on in the next line
	orphans  tally                      // second lines without their first
}

// A delta is one entry: a trace and what it held before and after.
type delta struct {
	line   int64
	bytes  counter
	blocks counter // zero where halved
	halved bool    // the second line is missing
	stack  capture.StackID
	more   []capture.StackID
}

func newDifference(d *draft) *difference {
	return &difference{d: d, frames: map[string]capture.FrameID{}}
}

// begun reports whether any of the lines behind the header was there.
func (f *difference) begun() bool { return len(f.deltas) > 0 || f.total.line > 0 || f.orphans.n > 0 }

// counter takes one of the two lines that an entry begins with. It reports false where it has no place.
func (f *difference) counter(c counter, seen *baseProof) bool {
	line := f.d.in.number
	if !c.isBytes {
		last := len(f.deltas) - 1
		if last < 0 || !f.deltas[last].halved || f.deltas[last].bytes.trace != c.trace {
			f.orphans.add(line)
			return true
		}
		f.deltas[last].blocks, f.deltas[last].halved = c, false
		f.evidence.merge(seen)
		return true
	}
	f.endStack()
	f.evidence.merge(seen)
	f.deltas = append(f.deltas, delta{line: line, bytes: c, halved: true})
	return true
}

// end takes the total.
func (f *difference) end(t total, seen *baseProof) {
	f.endStack()
	f.evidence.merge(seen)
	f.total = t
}

func (f *difference) endStack() {
	f.release()
	stacks := f.d.gathering.take()
	if len(stacks) == 0 || len(f.deltas) == 0 {
		return
	}
	last := &f.deltas[len(f.deltas)-1]
	last.stack, last.more = stacks[0], slices.Clone(stacks[1:])
}

func (f *difference) takesFrames() bool {
	return len(f.deltas) > 0 && f.total.line == 0 && f.d.gathering.room()
}

// frame adds a line to the stack of the last entry, and reports whether it is a frame. Few lines differ, so each
// is taken apart once.
func (f *difference) frame(line []byte) bool {
	if !f.takesFrames() {
		return false
	}
	id, known := f.frames[string(line)]
	if !known {
		s, valid := validText(line)
		text, address, ok := ParseFrame(s)
		if !ok {
			return false
		}
		if text.File == "" && unclosed(s) {
			f.wrapped = append(f.wrapped[:0], f.d.whole...)
			return true
		}
		if !valid {
			f.d.foreign.add(f.d.in.number)
		}
		if text == (capture.FrameText{}) {
			id = f.d.c.Stacks.AddAddress(address)
		} else {
			id = f.d.c.Stacks.AddText(text, address)
		}
		f.d.addresses |= address
		f.frames[string(line)] = id
	}
	f.d.gathering.add(id)
	return true
}

// unclosed reports whether a frame begins a source place and does not end it.
func unclosed(line string) bool {
	open := sourceOpen(line)
	if open < 0 {
		return false
	}
	_, _, ok := cutSource(line[open:])
	return !ok
}

// maxWrapped bounds a frame that a console broke into several lines, in bytes.
const maxWrapped = 4 << 10

// unwrap glues a line to the frame before it, where a console host has broken that in the middle of its source
// place.
func (d *draft) unwrap(line []byte) bool {
	if d.diff == nil || len(d.diff.wrapped) == 0 {
		return false
	}
	f := d.diff
	if len(line) > 0 && line[0] != '\t' && bytes.IndexByte(line, '!') < 0 && !bytes.HasPrefix(line, []byte("//")) &&
		!beginsCounter(line) && len(f.wrapped)+len(d.whole) < maxWrapped {
		glued := append(slices.Clone(f.wrapped), d.whole...)
		f.wrapped = f.wrapped[:0]
		if f.frame(bytes.TrimRight(glued, " \t\x00\x1a")) {
			if len(f.wrapped) > 0 {
				f.wrapped = glued
			}
			return true
		}
	}
	f.release()
	return false
}

// release adds a frame whose source place never ended, without it.
func (f *difference) release() {
	if len(f.wrapped) == 0 {
		return
	}
	s, _ := validText(f.wrapped)
	f.wrapped = f.wrapped[:0]
	if text, address, ok := ParseFrame(s); ok && f.takesFrames() {
		f.d.gathering.add(f.d.c.Stacks.AddText(text, address))
		f.d.malformed.add(f.d.in.number)
	}
}

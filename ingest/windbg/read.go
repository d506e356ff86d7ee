package windbg

import (
	"bytes"
	"context"
	"io"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
)

// A section reads the output of one command.
type section interface {
	// line takes a line, without blanks around it, and reports whether it belongs to the output.
	line(text []byte) bool
	// close is called once, when something else begins or the log ends.
	close()
}

// An opener knows how an output begins. It returns nil where the line is something else after all.
type opener struct {
	prefix string
	open   func(r *reader, text []byte) section
}

// A reader decides for each line whose output it is. The sections do the rest.
type reader struct {
	in      *lines
	done    []*capture.Capture
	now     *instant
	section section
	command []byte // typed last, "" where the log does not show it
	sized   uint64 // the heap whose sizes were listed last
	index   int64  // the debugger's number of the process, from the prompt
	target  target
	scratch []byte
	paste   paste
	room    int   // what may still be kept
	dropped tally // rows that there was no room for
	torn    bool  // the line is the last one and may be cut short
	blind   tally // lines in which the debugger complains of symbols

	question question
	silent   []finding         // commands without output
	orphans  []capture.Warning // of outputs that gave nothing
}

func newReader(ctx context.Context, r io.Reader) *reader {
	return &reader{in: newLines(ctx, r), now: newInstant(), room: maxKept}
}

func (r *reader) read() ([]*capture.Capture, error) {
	for {
		line, closed, ok := r.in.next()
		if !ok {
			break
		}
		line, r.scratch = unmark(line, r.scratch)
		line = r.paste.strip(line)
		r.torn = !closed && !endsWhole(line)
		if len(line) > 0 {
			r.line(line)
		}
	}
	r.finish()
	switch {
	case r.in.err != nil && r.in.ctx.Err() != nil:
		return r.done, r.in.err
	case r.in.err != nil:
		return r.done, &evidence.Error{Code: CodeReadFailed, Message: "reading the log failed",
			Line: r.in.number, Err: r.in.err}
	case len(r.done) == 0:
		message := "no whole output of !heap, !address -summary or !eeheap was found, and no stop of Application Verifier"
		if len(r.orphans) > 0 {
			message += ": " + r.orphans[0].Message
		}
		return nil, &evidence.Error{Code: CodeNoData, Message: message + r.whyBlind(),
			Do:   "open a log with .logopen before !heap -s, !heap -stat -h 0 and !address -summary, and upload that",
			Line: r.in.number}
	}
	return r.done, nil
}

// endsWhole reports whether a line without a line end cannot be a longer one cut short.
func endsWhole(line []byte) bool {
	return len(line) == 0 || bytes.IndexByte([]byte(")%-."), line[len(line)-1]) >= 0 ||
		bytes.HasSuffix(line, []byte(" LFH"))
}

// line takes one line.
func (r *reader) line(text []byte) {
	if command, process, ok := cutPrompt(text); ok {
		r.prompt(command, process)
		return
	}
	if r.paste.quoted && isHeapWord(text) {
		r.prompt(text, -1)
		return
	}
	if r.isNoise(text) {
		return
	}
	if r.section != nil {
		if r.torn {
			r.now.malformed.add(r.in.number)
			return
		}
		if r.section.line(text) {
			return
		}
	}
	for i := range openers {
		if o := &openers[i]; text[0] == o.prefix[0] && bytes.HasPrefix(text, []byte(o.prefix)) {
			if s := o.open(r, text); s != nil {
				r.section = s
				return
			}
		}
	}
	for _, open := range bare {
		if s := open(r, text); s != nil {
			r.section = s
			return
		}
	}
	r.target.line(r, text)
}

// openers are tried in their order. openers is filled by init, because sections look into it in turn.
var openers []opener

func init() {
	openers = []opener{
		{"Heap ", openHeapTable},
		{"NT HEAP STATS BELOW", func(r *reader, _ []byte) section { return openHeaps(r) }},
		{"heap @ ", openStat},
		{"size  ", openSizes},
		{"group-by:", openSizes},
		{"_HEAP @ ", openFilter},
		{"_DPH_HEAP_ROOT @ ", openRoot},
		{"HEAP_ENTRY ", openEntries},
		{"_HEAP ", openTotals},
		{"Index ", openList},
		{"Heap Address", openList},
		{"Segment at ", openSegments},
		{"HEAP ERROR DETECTED", openFault},
		{"Virtual block: ", openRows},
		{"Searching the memory for potential unreachable", openLeaks},
		{"Entry ", openLeakTable},
		{"address ", openBlock},
		{"in busy allocation", openPageBlock},
		{"in free-ed allocation", openPageBlock},
		{"-", openUses},
		{"Number of GC Heaps", openManaged},
		{"Total LoaderHeap size", openLoader},
		{"VERIFIER STOP ", openStop},
	}
	bare = []func(r *reader, text []byte) section{openSegmentHeap, openRows, openHeapDetails, openSizes, openEntries,
		openLeakRows, openUseRows}
}

// bare open an output by a row of it, where what stands before is missing. They are tried in their order.
var bare []func(r *reader, text []byte) section

// prompt takes a command.
func (r *reader) prompt(command []byte, process int64) {
	r.end()
	r.sized = 0
	if process >= 0 { // a line that is nothing but a command may be a heading
		r.ask(command)
	}
	if process >= 0 && process != r.index {
		r.next()
		r.index = process
		r.target.forget()
	}
	r.command = append(r.command[:0], command[:min(len(command), maxText)]...)
	if lets(command) {
		r.next()
	}
}

// begin is called by a section that has recognised itself. It ends the section before, and begins the next instant
// where this one has the output of the same command already. source is how reports name the command.
func (r *reader) begin(key, source string) *instant {
	r.end()
	r.question.answered = true
	if r.now.has(key) {
		r.next()
	}
	r.now.note(key, source)
	return r.now
}

// end closes the section.
func (r *reader) end() {
	if s := r.section; s != nil {
		r.section = nil
		s.close()
	}
}

// next begins the next instant, unless this one is still empty.
func (r *reader) next() {
	r.end()
	if len(r.now.keys) == 0 && len(r.now.m.Samples) == 0 && len(r.now.m.Notes) == 0 {
		return
	}
	if r.close(false) {
		r.keep(instantCost)
	}
	r.now = newInstant()
}

// The limits on what is kept of one log, in rows. A log of a long session has some hundred.
const (
	maxKept     = 400_000
	instantCost = 100    // what a capture needs beside its rows
	maxSamples  = 10_000 // of an instant
	maxNotes    = 1_000  // of an instant
	maxHeaps    = 5_000  // in one answer; real processes have fewer than a thousand
)

// keep reports whether n more rows may be kept, and counts them.
func (r *reader) keep(n int) bool {
	if r.room < n {
		r.dropped.add(r.in.number)
		return false
	}
	r.room -= n
	return true
}

// close turns the instant into a capture, if it holds anything.
func (r *reader) close(last bool) bool {
	c := r.now.finish(r, last)
	if c != nil {
		r.done = append(r.done, c)
	}
	return c != nil
}

func (r *reader) finish() {
	r.end()
	r.unanswered()
	r.close(true)
	if len(r.done) == 0 {
		return
	}
	r.target.share(r.done)
	r.warnWhole(r.done[len(r.done)-1])
}

package umdh

import (
	"bytes"
	"context"
	"io"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
)

// A reader decides for each line what it is and whose. The draft does the rest.
type reader struct {
	ctx   context.Context //nolint:containedctx // lives as long as one call of Read
	opt   Options
	in    *lines
	draft *draft
	done  []*capture.Capture
}

func newReader(ctx context.Context, r io.Reader, opt Options) *reader {
	in := newLines(ctx, r, pieceSize)
	return &reader{ctx: ctx, opt: opt, in: in, draft: newDraft(in)}
}

func (r *reader) read() ([]*capture.Capture, error) {
	defer r.in.close()
	cut := false
	for {
		if raw := r.draft.raw; raw != nil && !r.draft.path {
			r.runs(raw)
		}
		line, ended, ok := r.in.next()
		if !ok {
			break
		}
		if !ended && !r.whole(line) {
			cut = true
			if pieces := unflatten(line); len(pieces) > 0 {
				for _, piece := range pieces[:len(pieces)-1] {
					r.line(piece)
				}
			}
			break
		}
		r.line(line)
	}
	r.in.close()
	r.draft.lastLineCut = cut || r.in.src.torn
	r.draft.unread = r.in.err != nil
	r.close()
	r.done = join(r.done)
	for _, c := range r.done {
		c.Stacks.Trim()
	}
	switch {
	case r.in.err != nil && r.ctx.Err() != nil:
		return r.done, r.in.err
	case r.in.err != nil:
		return r.done, &evidence.Error{Code: CodeReadFailed, Message: "reading the log failed", Line: r.in.number,
			Offset: r.in.src.offset, Err: r.in.err}
	case len(r.done) == 0:
		return nil, &evidence.Error{Code: CodeNoData, Message: "nothing that UMDH writes was found",
			Do: "upload the text file that umdh -f wrote", Line: r.in.number, Offset: r.in.src.offset}
	}
	return r.done, nil
}

// runs takes the runs of lines that scan has read, as far as the snapshot takes them from where the log is read.
func (r *reader) runs(s *snapshot) {
	for run := r.in.run(); run != nil && s.fits(int64(run.to-run.from)<<32); run = r.in.run() { // below 4 GiB a line, and far fewer lines than bytes
		to, lines, all := s.take(r.in.piece, run, r.in.at, r.in.number)
		if to > r.in.at {
			r.draft.inModules = false
		}
		if r.in.pass(to-r.in.at, lines); !all {
			return
		}
	}
}

// restart closes the draft and begins another one.
func (r *reader) restart() *draft {
	r.close()
	r.draft = newDraft(r.in)
	return r.draft
}

func (r *reader) close() {
	if c := r.draft.finish(r.opt); c != nil {
		r.done = append(r.done, c)
	}
}

// line takes one line apart from its end.
func (r *reader) line(whole []byte) {
	line := trimLine(whole)
	d := r.draft
	d.whole = whole
	if isDamaged(whole, line) {
		d.damaged.add(d.in.number)
	}
	if d.path {
		d.path = false
		if isPDBPath(line) {
			d.banners[len(d.banners)-1].path = d.text(bytes.TrimSpace(line))
			return
		}
	}
	if d.unwrap(line) || len(line) == 0 {
		return
	}
	if d.diff != nil && line[0] == '\t' && d.diff.frame(line[1:]) {
		return
	}
	if pieces := unflatten(line); len(pieces) > 1 {
		for _, piece := range pieces {
			r.line(piece)
		}
		return
	}
	if text := bytes.TrimLeft(line, " \t"); !r.structure(text) && !d.listed(text) {
		d.misfit(text)
	}
}

// isDamaged reports whether a line has bytes that text has not. line is the line without the padding around it, which
// files that were put together have before a header.
func isDamaged(whole, line []byte) bool {
	for _, c := range line {
		if c < ' ' && c != '\t' && c != '\v' && c != '\f' && c != '\r' && c != '\x1a' && c != '\x1b' {
			return true
		}
	}
	return len(line) > 0 && whole[0] == 0 && line[0] != '/'
}

// trimLine takes off blanks and padding at the end, and what a byte order mark or padding left at the beginning.
func trimLine(line []byte) []byte {
	line = bytes.TrimRight(line, " \t\x00\x1a")
	line = bytes.TrimLeft(line, "\x00")
	line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	for len(line) > 0 && (line[0] == '>' || line[0] == '|') { // marks of quotation in mails
		line = bytes.TrimPrefix(line[1:], []byte(" "))
	}
	return line
}

// structure takes the lines that have a form of their own, and reports whether the line is one.
func (r *reader) structure(text []byte) bool {
	switch d := r.draft; text[0] {
	case '/':
		if !bytes.HasPrefix(text, []byte("//")) {
			return false
		}
		r.comment(text)
	case '*':
		if mark, _ := parseMarker(text); mark == markNone {
			return false
		}
		if d.diff != nil {
			d = r.restart()
		}
		d.inModules = false
		return d.snapshot().marker(text)
	case '+', '-':
		return r.counter(text)
	case 'T':
		var seen baseProof
		t, ok := parseTotal(text, &seen, r.in.number)
		if !ok {
			return false
		}
		if d.raw != nil || d.diff != nil && d.diff.total.line > 0 {
			d = r.restart()
		}
		d.difference().end(t, &seen)
	default:
		if hexDigit[text[0]] < 0 {
			return false
		}
		if e, ok := parseEntry(text); ok {
			if d.diff != nil {
				d = r.restart()
			}
			d.inModules = false
			return d.snapshot().entry(e, r.in.number)
		}
		return d.banner(text) // one that begins with a range, or with the D of DBGHELP
	}
	return true
}

// counter takes a line that may be one of the first two of an entry of a difference.
func (r *reader) counter(text []byte) bool {
	var seen baseProof
	c, ok := parseCounter(text, &seen, r.in.number)
	if !ok {
		return false
	}
	d := r.draft
	if d.raw != nil || d.diff != nil && d.diff.total.line > 0 {
		d = r.restart()
	}
	return d.difference().counter(c, &seen)
}

// whole reports whether a line that the log ends in without a line end can be believed nevertheless: where it
// cannot be a longer line cut short, or where nothing depends on it.
func (r *reader) whole(line []byte) bool {
	text := bytes.TrimSpace(trimLine(line))
	if len(text) == 0 {
		return true
	}
	if mark, _ := parseMarker(text); mark == markEnd {
		return true
	}
	if t, ok := parseTotal(text, &baseProof{}, 1); ok {
		return t.hasParts && (t.adds(BaseDecimal) || t.adds(BaseHex)) // a sum that lost digits does not add up
	}
	if isBrokenSDK(text) {
		return true
	}
	return !r.draft.inData() && prose(text)
}

// prose reports whether a line looks like none that UMDH writes.
func prose(text []byte) bool {
	return bytes.IndexByte([]byte("/*+-"), text[0]) < 0 && hexDigit[text[0]] < 0 &&
		!bytes.HasPrefix(text, []byte("Total")) && !bytes.HasPrefix([]byte("Total"), text)
}

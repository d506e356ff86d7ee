package umdh

import (
	"fmt"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
)

// finishSnapshot makes the capture of a raw log.
func (d *draft) finishSnapshot() {
	s, c := d.raw, d.c
	if d.lastLineCut && s.last != none && s.traces[s.sites[s.last].trace].stack != capture.NoStack {
		d.gathering.drop() // the end of the log cut a stack that is known already: what is left must not contradict it
	}
	s.endStack()
	d.applyBanners()
	d.identify(c.Modules, s.addresses)
	if s.texts {
		d.markTexts()
	}

	c.Sites = make([]capture.Site, len(s.sites))
	usage := make([]capture.Usage, len(s.sites))
	holdings := make([]holding, len(s.traces))
	for i := range s.sites {
		from := &s.sites[i]
		t, h := &s.traces[from.trace], &holdings[from.trace]
		usage[i] = from.usage
		c.Sites[i] = capture.Site{
			Stack: t.stack, AliasStacks: t.more, Heap: from.heap, Trace: t.id, Usage: usage[i : i+1 : i+1],
		}
		h.id, h.line = t.id, t.line
		if t.stack != capture.NoStack {
			h.stacks = 1 + len(t.more)
		}
		h.entries, h.blocks, h.bytes = h.entries+from.usage.Count, h.blocks+from.usage.Count, h.bytes+from.usage.Bytes
	}
	d.warnMissing()
	d.warnIDs(holdings)
	if n := s.conflict; n.n > 0 {
		d.warn(capture.Inconsistent, n.n, n.line, "another stack is listed later for %s; the first is used",
			quantity.Plural(n.n, "id"))
	}
	if n := s.arithmetic; n.n > 0 {
		d.warn(capture.Inconsistent, n.n, n.line, "%s: count times size is not the number of bytes", quantity.Plural(n.n, "entry"))
	}
}

// warnMissing says what a raw log must have and lacks.
func (d *draft) warnMissing() {
	s, c := d.raw, d.c
	var partial []string
	for _, h := range c.Heaps {
		if h.Partial {
			partial = append(partial, fmt.Sprintf("%X", h.Handle))
		}
	}
	var stray int64
	for i := range s.sites {
		if s.sites[i].heap == capture.NoHeap {
			stray += s.sites[i].usage.Count
		}
	}
	cut := d.lastLineCut || d.unread || s.open()
	c.Snapshots[0].LowerBound = cut || len(partial) > 0 || stray > 0 || len(c.Heaps) == 0
	switch {
	case cut:
		where := "behind its last heap"
		if s.open() {
			where = fmt.Sprintf("inside the data of heap %X", c.Heaps[s.heap].Handle)
		} else if !s.begun() {
			where = "before the first heap"
		}
		if d.lastLineCut {
			where += ", without its last line, which is cut"
		}
		d.warn(capture.Truncated, 1, d.in.number,
			"Take the log again, or upload the whole file: it ends %s, so all totals are lower bounds.", where)
	case stray > 0:
		d.warn(capture.Truncated, stray, s.stray,
			"%s outside the data of any heap. This is an excerpt, so its totals are lower bounds.", quantity.Plural(stray, "block"))
	case len(c.Heaps) == 0 && d.broken.n == 0:
		d.warn(capture.Truncated, 1, d.in.number,
			"Take the log again, or upload the whole file: it ends before the first heap and lists no entry.")
	}
	if len(partial) > 0 {
		d.warn(capture.PartialHeap, int64(len(partial)), 0, "the data of %s is not whole: %s",
			quantity.Plural(len(partial), "heap"), shortList(partial))
	}
}

// finishDifference makes the capture of a difference.
func (d *draft) finishDifference(opt Options) {
	f, c := d.diff, d.c
	f.endStack()
	d.applyBanners()
	d.identify(c.Modules, 0)
	base := f.settle(opt.Base)
	d.malformed.merge(f.orphans)
	holdings := f.fill(base)

	lower := true
	switch {
	case d.lastLineCut || d.unread:
		d.warn(capture.Truncated, 1, d.in.number,
			"Compare the logs again, or upload the whole file: it ends inside a line, which is left out.")
	case f.total.line == 0:
		d.warn(capture.Truncated, 1, d.in.number,
			"The total at the end of the difference is missing: the file is cut short, or an excerpt.")
	default:
		lower = false
	}
	var halved tally
	for i := range f.deltas {
		if f.deltas[i].halved {
			halved.add(f.deltas[i].line)
		}
	}
	if halved.n > 0 {
		d.warn(capture.Truncated, halved.n, halved.line,
			"the second line is missing from %s: how many blocks there were before is not known", quantity.Plural(halved.n, "entry"))
	}
	c.Snapshots[0].LowerBound, c.Snapshots[1].LowerBound = lower, lower

	d.warnIDs(holdings)
	d.warnSymbols()
}

package umdh

import (
	"math"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
)

// in gives a counter's numbers in a base.
func (c *counter) in(b Base) (change, now, then int64, ok bool) {
	change, ok1 := c.change.in(b)
	now, ok2 := c.now.in(b)
	then, ok3 := c.then.in(b)
	if c.negative {
		change = -change
	}
	return change, now, then, ok1 && ok2 && ok3
}

// holds reports whether the change is new less old in a base.
func (c *counter) holds(b Base) bool {
	change, now, then, ok := c.in(b)
	return ok && change == now-then
}

// weigh adds to the evidence what the sums of entries and total show.
func (f *difference) weigh() {
	var dec, hex int64 // sums of new less old
	decimal, hexadecimal := true, true
	for i := range f.deltas {
		d := &f.deltas[i]
		f.evidence.sum(d.bytes.holds(BaseDecimal), d.bytes.holds(BaseHex), d.line)
		if !d.halved {
			f.evidence.sum(d.blocks.holds(BaseDecimal), d.blocks.holds(BaseHex), d.line)
		}
		decimal = add(&dec, &d.bytes, BaseDecimal) && decimal
		hexadecimal = add(&hex, &d.bytes, BaseHex) && hexadecimal
	}
	if t := &f.total; t.line > 0 && len(f.deltas) > 0 {
		f.evidence.sum(decimal && t.requests(dec, BaseDecimal), hexadecimal && t.requests(hex, BaseHex), t.line)
	}
}

// add adds new less old to a sum, unless they are no numbers in the base or the sum overflows.
func add(sum *int64, c *counter, b Base) bool {
	_, now, then, ok := c.in(b)
	if !ok || max(*sum, -*sum) > math.MaxInt64-maxSize {
		return false
	}
	*sum += now - then
	return true
}

// requests reports whether the requested bytes of the total are the sum of the entries' changes in a base.
func (t *total) requests(sum int64, b Base) bool {
	requested, ok := t.part(0, b)
	return ok && (sum == requested || !t.negative[0] && sum == -requested)
}

// settle decides the base, and says so where the file leaves a doubt.
func (f *difference) settle(forced Base) Base {
	f.weigh()
	proven, why, line := f.evidence.proof()
	switch {
	case forced == BaseAuto && proven != BaseAuto:
		return proven
	case forced == BaseAuto:
		if n := f.evidence.numbers; n.n > 0 { // below ten both are the same
			f.d.warn(capture.BaseAssumed, n.n, n.line,
				"If umdh ran with -d, read the log with base dec: its numbers may be hexadecimal or decimal. "+
					"They are read as hexadecimal, the default of umdh.")
		}
		return BaseHex
	case proven != BaseAuto && proven != forced:
		f.d.warn(capture.BaseMismatch, 1, line,
			"Read the log with base auto: it was read in base %s, but it is in base %s: its %s.", forced,
			proven, why)
	}
	return forced
}

// fill makes the sites with what each holds. Entries whose numbers are not valid in the base are left out.
func (f *difference) fill(base Base) (holdings []holding) {
	c := f.d.c
	usage := make([]capture.Usage, 2*len(f.deltas))
	c.Sites = make([]capture.Site, 0, len(f.deltas))
	var wrong tally // entries that contradict themselves
	var sum, was, is int64
	summed := true
	for i := range f.deltas {
		d := &f.deltas[i]
		_, now, then, ok := d.bytes.in(base)
		allocs, ok2 := d.bytes.allocs.in(base)
		_, count, before, ok3 := d.blocks.in(base)
		if !ok || !ok2 || !ok3 || max(was, is) > math.MaxInt64-maxSize || !add(&sum, &d.bytes, base) {
			f.d.malformed.add(d.line)
			summed = false
			continue
		}
		was, is = was+then, is+now
		switch {
		case !d.bytes.holds(base), !d.halved && (!d.blocks.holds(base) || count != allocs):
			wrong.add(d.line)
		}
		if d.halved {
			if count = allocs; then > 0 {
				before = allocs // unknown; at least no change is claimed
			}
		}
		two := usage[2*i : 2*i+2 : 2*i+2]
		two[0], two[1] = capture.Usage{Count: before, Bytes: then}, capture.Usage{Count: count, Bytes: now}
		site := capture.Site{Heap: capture.NoHeap, Trace: d.bytes.trace, Usage: two}
		h := holding{id: site.Trace, line: d.line, entries: 1, blocks: max(before, count), bytes: max(then, now)}
		if d.stack != capture.NoStack && site.Trace != 0 {
			site.Stack, site.AliasStacks = d.stack, d.more
			h.stacks = 1 + len(d.more)
		}
		c.Sites, holdings = append(c.Sites, site), append(holdings, h)
	}
	if wrong.n > 0 {
		f.d.warn(capture.Inconsistent, wrong.n, wrong.line,
			"%s with inconsistent numbers (change, new and old, or the two lines). New and old are used.",
			quantity.Plural(wrong.n, "entry"))
	}
	f.check(base, sum, summed)
	return holdings
}

// check compares the total with the entries.
func (f *difference) check(base Base, sum int64, summed bool) {
	t := &f.total
	if t.line == 0 {
		return
	}
	requested, ok := t.part(0, base)
	overhead, ok2 := t.part(1, base)
	if !ok || !ok2 {
		f.d.malformed.add(t.line)
		return
	}
	if len(f.deltas) == 0 && overhead != 0 {
		f.d.warn(capture.UnattributedOverhead, max(overhead, -overhead), t.line,
			"The total counts %s bytes of overhead and %s requested, and no entry has them.",
			quantity.Count(overhead), quantity.Count(requested))
	}
	if !summed || !t.requests(sum, base) {
		f.d.warn(capture.Inconsistent, 1, t.line,
			"The total has %s requested bytes, the entries have %s: entries are missing or wrong.",
			quantity.Count(requested), quantity.Count(max(sum, -sum)))
	}
	if t.hasParts && !t.adds(base) {
		f.d.warn(capture.Inconsistent, 1, t.line, "The total is inconsistent: requested bytes and overhead do not make the sum.")
	}
}

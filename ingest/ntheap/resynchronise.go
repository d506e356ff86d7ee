package ntheap

const (
	// chainLength is how many entries must follow each other before they are believed. Each must agree with the one before
	// in 16 bits, so that nothing else looks like it.
	chainLength = 4
	// mostMissing is how many pages in a row may be missing before a run is given up.
	mostMissing = 1 << 14
)

// resynchronise looks for the next entry that can be believed, at or behind at, and tells the gap before it. It returns
// to where there is none.
func (n *ntWalk) resynchronise(at, to uint64, missing bool) (uint64, error) {
	why := "an entry fails its checks"
	if missing {
		why = "the memory is not in the evidence"
	} else {
		n.bad.add(at)
	}
	granularity, pages := n.layout.entry.granularity, 0
	next := to
	for c := at; c < to; {
		if err := n.step(); err != nil {
			return 0, err
		}
		if n.seq.bytes(c+n.layout.entry.compact, 8) == nil {
			if pages++; pages > mostMissing {
				break
			}
			c = min((c|(pageSize-1))+1, to)
			continue
		}
		pages = 0
		if n.chain(c, to) {
			next = c
			break
		}
		c += granularity
	}
	if next > at {
		n.gap("segment", at, next-at, "%s", why)
	}
	return next, nil
}

// chain says whether entries follow each other at at, up to the end of the run if that comes before chainLength.
func (n *ntWalk) chain(at, to uint64) bool {
	t := n.layout
	e, ok := t.read(n.seq.bytes(at+t.entry.compact, 8), n.enc, 0)
	for i := 1; ; i++ {
		size := uint64(e.size) * t.entry.granularity
		if !ok || size > to-at {
			return false
		}
		if at += size; at == to || i == chainLength {
			return i > 1 // one alone may be anything
		}
		b := n.near.bytes(at+t.entry.compact, 8)
		if b == nil {
			return false
		}
		previous := e.size
		if e, ok = t.read(b, n.enc, previous); ok {
			ok = e.previous == previous
		}
	}
}

package umdh

import "bytes"

// A counter is one of the two lines that an entry of a difference begins with:
//
//	// + BYTES_DELTA (NEW_BYTES - OLD_BYTES) NEW_COUNT allocs BackTrace TRACEID
//	// + COUNT_DELTA (NEW_COUNT - OLD_COUNT) BackTrace TRACEID allocations
//	+ 2a98c90 ( 2a98c90 -     0)  15cf4 allocs	BackTrace74050
//	+   15cf4 (   15cf4 -     0)	BackTrace74050	allocations
//
// Sign and magnitude of the change, then new and old. The words may be missing, tabs may have become blanks, and
// the sign may touch a number that fills its field.
type counter struct {
	negative  bool
	change    digits
	now, then digits
	allocs    digits // of the first form
	isBytes   bool   // the first form
	trace     uint64
}

// parseCounter reads a counter and notes what it shows about the base, which only counts if ok.
func parseCounter(line []byte, e *baseProof, number int64) (c counter, ok bool) {
	if len(line) == 0 || line[0] != '+' && line[0] != '-' {
		return c, false
	}
	c.negative = line[0] == '-'
	if c.change, line, ok = e.number(skipBlanks(line[1:]), number); !ok {
		return c, false
	}
	if line = skipBlanks(line); len(line) == 0 || line[0] != '(' {
		return c, false
	}
	if c.now, line, ok = e.padded(skipOne(line[1:]), number); !ok {
		return c, false
	}
	if line = skipBlanks(line); len(line) == 0 || line[0] != '-' {
		return c, false
	}
	if c.then, line, ok = e.padded(skipOne(line[1:]), number); !ok {
		return c, false
	}
	if line = skipBlanks(line); len(line) == 0 || line[0] != ')' {
		return c, false
	}
	f := fields{rest: skipBlanks(line[1:])}
	if !bytes.HasPrefix(f.rest, []byte("BackTrace")) {
		if c.allocs, f.rest, ok = e.number(f.rest, number); !ok {
			return c, false
		}
		c.isBytes = true
		f.try("allocs")
	}
	c.trace = f.trace()
	if !c.isBytes {
		f.try("allocations")
	}
	return c, f.done()
}

func skipBlanks(b []byte) []byte { return bytes.TrimLeft(b, " \t") }

// skipOne skips the blank between a parenthesis or a sign and the field behind it.
func skipOne(b []byte) []byte {
	if len(b) > 0 && b[0] == ' ' {
		return b[1:]
	}
	return b
}

// A total is the last line of a difference:
//
//	Total increase ==    620 requested +  40340 overhead =  40960
//	Total increase == 5320                                                (oldest)
//
// All three are magnitudes: the word says which way the sum goes. How umdh prints parts that go opposite ways is
// not known; a sign is taken where there is one.
type total struct {
	line     int64     // 0 where there is no total
	parts    [3]digits // requested, overhead, sum
	negative [3]bool
	hasParts bool // all three, not the first alone
	signs    bool // some part has one
}

// parseTotal reads the last line and notes what its sum shows about the base, which only counts if ok.
func parseTotal(line []byte, e *baseProof, number int64) (t total, ok bool) {
	f := fields{rest: line}
	f.word("Total")
	if !f.try("decrease") {
		f.word("increase")
	}
	f.word("==")
	if f.bad {
		return t, false
	}
	part := func(i int) bool {
		rest := skipBlanks(f.rest)
		if len(rest) > 0 && (rest[0] == '-' || rest[0] == '+') {
			t.negative[i], t.signs = rest[0] == '-', true
			rest = skipBlanks(rest[1:])
		}
		var ok bool
		t.parts[i], f.rest, ok = e.number(rest, number)
		return ok
	}
	if !part(0) {
		return t, false
	}
	t.line = number
	if f.try("requested") {
		t.hasParts = true
		f.word("+")
		f.bad = !part(1) || f.bad
		f.word("overhead")
		f.word("=")
		f.bad = !part(2) || f.bad
		e.sum(t.adds(BaseDecimal), t.adds(BaseHex), number)
	}
	return t, f.done()
}

// adds reports whether requested and overhead give the sum in a base.
func (t *total) adds(b Base) bool {
	requested, ok1 := t.part(0, b)
	overhead, ok2 := t.part(1, b)
	sum, ok3 := t.part(2, b)
	if !ok1 || !ok2 || !ok3 {
		return false
	}
	sum = max(sum, -sum)
	both, apart := requested+overhead, requested-overhead
	return max(both, -both) == sum || !t.signs && max(apart, -apart) == sum
}

func (t *total) part(i int, b Base) (int64, bool) {
	v, ok := t.parts[i].in(b)
	if t.negative[i] {
		v = -v
	}
	return v, ok
}

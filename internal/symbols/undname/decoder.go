package undname

import (
	"strconv"
	"sync"
)

// A decoder reads one name from its beginning to its end, by recursive descent.
type decoder struct {
	name  string
	pos   int
	flags Flags

	nodes []node // node 0 stands for the empty text
	stack []text

	names, params, types references // identifiers, parameter types, template arguments

	bad   bool // what was read last is not in the grammar; template arguments survive it
	cut   bool // the name has ended too early somewhere
	stop  bool // nested too deeply: nothing survives this
	depth int
}

// references are the first ten names, or parameter types, that digits may refer to. Every template argument list
// has references of its own.
type references struct {
	n   int
	ref [10]text
}

func (r *references) add(t text) {
	if r.n < len(r.ref) {
		r.ref[r.n] = t
		r.n++
	}
}

// maxDepth bounds the nesting of types, templates and scopes. Compilers give up, or hash the name, far below.
const maxDepth = 1000

// enter counts a level of nesting that the caller leaves with leave.
func (d *decoder) enter() bool {
	d.depth++
	if d.depth > maxDepth {
		d.stop = true
	}
	return !d.stop
}

func (d *decoder) leave() { d.depth-- }

var decoders = sync.Pool{New: func() any { return new(decoder) }}

func newDecoder(name string, flags Flags) *decoder {
	d := decoders.Get().(*decoder)
	clear(d.nodes)
	*d = decoder{name: name, flags: flags, nodes: append(d.nodes[:0], node{}), stack: d.stack[:0]}
	return d
}

// free gives the decoder back. Nodes refer to the name, so a pooled decoder keeps one name alive at most.
func (d *decoder) free() { decoders.Put(d) }

func (d *decoder) has(f Flags) bool { return d.flags&f != 0 }

func (d *decoder) atEnd() bool { return d.pos >= len(d.name) }

// peek is the next byte, or 0 at the end.
func (d *decoder) peek() byte { return d.peekAt(0) }

func (d *decoder) peekAt(n int) byte {
	if d.pos+n < len(d.name) {
		return d.name[d.pos+n]
	}
	return 0
}

// next takes a byte; at the end it is 0 and nothing is taken.
func (d *decoder) next() byte {
	if d.atEnd() {
		return 0
	}
	d.pos++
	return d.name[d.pos-1]
}

// take takes s if it is what comes next.
func (d *decoder) take(s string) bool {
	if len(d.name)-d.pos < len(s) || d.name[d.pos:d.pos+len(s)] != s {
		return false
	}
	d.pos += len(s)
	return true
}

// fail says that what comes is not in the grammar.
func (d *decoder) fail() text {
	d.bad = true
	return 0
}

// missing stands for what should have come after the name's end.
func (d *decoder) missing() text {
	d.cut = true
	return d.lit(" ?? ")
}

// keyword spells a Microsoft keyword as the flags want it.
func (d *decoder) keyword(s string) string {
	switch {
	case d.has(NoMSKeywords), d.has(NoPtr64) && s == "__ptr64":
		return ""
	case d.has(NoLeadingUnderscores):
		return s[2:]
	}
	return s
}

// number reads a dimension: a digit for 1 to 10, or hexadecimal digits A to P up to "@". It is false, with what was
// read of it taken, when there is no such number.
func (d *decoder) number() (uint64, bool) {
	if c := d.peek(); c >= '0' && c <= '9' {
		d.pos++
		return uint64(c-'0') + 1, true
	}
	for v := uint64(0); ; {
		c := d.peek()
		switch {
		case c == '@':
			d.pos++
			return v, true
		case c < 'A' || c > 'P':
			return 0, false
		}
		d.pos++
		v = v<<4 | uint64(c-'A')
	}
}

// dimension is a number in decimal.
func (d *decoder) dimension() text {
	v, ok := d.number()
	switch {
	case ok:
		return d.lit(strconv.FormatUint(v, 10))
	case d.atEnd():
		return d.missing()
	}
	return d.fail()
}

// signedDimension is a dimension that "?" makes negative.
func (d *decoder) signedDimension() text {
	if d.take("?") {
		return d.before("-", d.dimension())
	}
	return d.dimension()
}

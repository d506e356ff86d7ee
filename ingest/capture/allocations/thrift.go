package allocations

import "encoding/binary"

// Footers and page headers are read here and not by parquet-go, because it allocates what a file claims. So does
// v0.32.0, the latest version in November 2026: OpenFile allocates the length of the footer, its Thrift decoder the
// length of each list, and ReadPage the size of a page, before a byte of them is read. A damaged file of a few bytes
// would take gigabytes. TestLibraryBelievesClaims fails once a version bounds these claims; docs/adr/0010 decides.

// The types of Thrift's compact protocol, in which Parquet writes its footer and page headers.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftDouble = 7
	thriftBytes  = 8
	thriftList   = 9
	thriftSet    = 10
	thriftStruct = 12
)

// thriftDepth bounds how deep structs may nest; Parquet's own go to 6.
const thriftDepth = 16

// A thriftCursor reads the compact protocol. What does not fit sets bad, after which everything reads as zero.
type thriftCursor struct {
	b     []byte
	at    int
	depth int
	bad   bool
}

func (c *thriftCursor) byte() byte {
	if c.bad || c.at >= len(c.b) {
		c.bad = true
		return 0
	}
	c.at++
	return c.b[c.at-1]
}

func (c *thriftCursor) uvarint() uint64 {
	if c.bad {
		return 0
	}
	v, n := binary.Uvarint(c.b[c.at:])
	if n <= 0 {
		c.bad = true
		return 0
	}
	c.at += n
	return v
}

// integer reads an i16, i32 or i64: all are written the same way.
func (c *thriftCursor) integer() int64 {
	v := c.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// bytes reads a string; it lies in the input.
func (c *thriftCursor) bytes() []byte {
	n := c.uvarint()
	if c.bad || n > uint64(len(c.b)-c.at) {
		c.bad = true
		return nil
	}
	c.at += int(n)
	return c.b[c.at-int(n) : c.at]
}

// fields reads a struct: each takes or skips the value of every field.
func (c *thriftCursor) fields(each func(id int64, kind byte)) {
	if c.depth++; c.depth > thriftDepth {
		c.bad = true
	}
	var id int64
	for {
		head := c.byte()
		if c.bad || head == 0 {
			break
		}
		if step := head >> 4; step != 0 {
			id += int64(step)
		} else {
			id = c.integer()
		}
		each(id, head&15)
	}
	c.depth--
}

// list reads a list or set: each takes or skips every element, of which none is empty.
func (c *thriftCursor) list(each func(kind byte)) {
	head := c.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = c.uvarint()
	}
	if n > uint64(len(c.b)-c.at) {
		c.bad = true
	}
	for ; n > 0 && !c.bad; n-- {
		each(head & 15)
	}
}

// skip passes over the value of a field; element passes over one in a list, where booleans take a byte.
func (c *thriftCursor) skip(kind byte) {
	if kind != thriftTrue && kind != thriftFalse {
		c.element(kind)
	}
}

func (c *thriftCursor) element(kind byte) {
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		c.byte()
	case 4, 5, 6: // i16, i32, i64
		c.uvarint()
	case thriftDouble:
		if len(c.b)-c.at < 8 {
			c.bad = true
			return
		}
		c.at += 8
	case thriftBytes:
		c.bytes()
	case thriftList, thriftSet:
		if c.depth++; c.depth > thriftDepth {
			c.bad = true
		}
		c.list(c.element)
		c.depth--
	case thriftStruct:
		c.fields(func(_ int64, kind byte) { c.skip(kind) })
	default: // a map, which Parquet has none of, or no type
		c.bad = true
	}
}

// want says whether a field has the type that a reader takes it for; if not, its bytes cannot be made sense of.
func (c *thriftCursor) want(kind, want byte) bool {
	if kind != want {
		c.bad = true
	}
	return kind == want
}

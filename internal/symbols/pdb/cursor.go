package pdb

import "bytes"

// A cursor reads fields one after the other. What it reads behind the end is 0 and sets short, which is asked for once
// per record.
type cursor struct {
	b     []byte
	at    int
	short bool
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b)-c.at {
		c.short, c.at = true, len(c.b)
		return nil
	}
	p := c.b[c.at : c.at+n]
	c.at += n
	return p
}

func (c *cursor) u16() uint16 {
	if p := c.take(2); p != nil {
		return le.Uint16(p)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if p := c.take(4); p != nil {
		return le.Uint32(p)
	}
	return 0
}

// text reads up to a zero byte.
func (c *cursor) text() []byte {
	rest := c.b[c.at:]
	n := bytes.IndexByte(rest, 0)
	if n < 0 {
		c.short, c.at = true, len(c.b)
		return nil
	}
	c.at += n + 1
	return rest[:n]
}

// align moves on to a multiple of 4, if there is one before the end.
func (c *cursor) align() { c.at = min(len(c.b), (c.at+3)&^3) }

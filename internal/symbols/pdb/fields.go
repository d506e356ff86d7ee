package pdb

import "context"

// A fieldReader reads field lists: entries {u16 kind, …}, padded with bytes 0xF1 to 0xF3 that say how many there are.
type fieldReader struct {
	types   *records
	defined *definitions
	to      *Layout
	seen    map[uint32]bool // lists, which may go on in others
	texts   map[uint32]fieldType
}

// A fieldType is what Field says of a type; fields of the same type share it.
type fieldType struct {
	text, of string
	size     uint64
}

func (r *fieldReader) read(ctx context.Context, list uint32) error {
	for list != 0 {
		if r.seen[list] {
			return fail(CodeCorrupt, streamTPI, 0, "the fields of %s, record %#x, go on in themselves", r.to.Name, list)
		}
		r.seen[list] = true
		if err := ctx.Err(); err != nil {
			return err
		}
		kind, b, ok := r.types.get(list)
		if !ok || kind != leafFieldList {
			return fail(CodeCorrupt, streamTPI, 0, "the fields of %s should be record %#x, which is no list of fields",
				r.to.Name, list)
		}
		list = 0
		for c := (cursor{b: b}); c.at < len(b); {
			if b[c.at] > 0xF0 {
				c.at += int(b[c.at] & 0x0F)
				continue
			}
			next, known := r.entry(&c)
			if !known || c.short {
				return fail(CodeCorrupt, streamTPI, 0, "the fields of %s cannot be read behind byte %d", r.to.Name, c.at)
			}
			if next != 0 {
				list = next
			}
		}
	}
	return nil
}

// entry reads one entry. It returns the list that follows, and false for a kind that is not known, whose length is not
// known either.
func (r *fieldReader) entry(c *cursor) (next uint32, known bool) {
	kind := c.u16()
	attributes := c.u16()
	switch kind {
	case leafMember: // attributes, type, offset, name
		number := c.u32()
		offset := c.number()
		r.add(string(c.text()), number, offset, false)
	case leafStMember, leafNestType, leafNestTypeEx, leafMethod, leafFriend: // attributes or count, type, name
		c.u32()
		c.text()
	case leafOneMethod: // attributes, type, place among the virtual functions if it introduces one, name
		c.u32()
		if introduces := attributes >> 2 & 7; introduces == 4 || introduces == 6 {
			c.u32()
		}
		c.text()
	case leafBClass, leafBInterface: // attributes, type, offset
		number := c.u32()
		r.add(r.types.nameOf(number), number, c.number(), true)
	case leafVBClass, leafIVBClass: // attributes, type, type of the pointer, its offset, place in its table
		number := c.u32()
		c.u32()
		c.number()
		c.number()
		r.add(r.types.nameOf(number), number, 0, true)
	case leafVFuncTab: // padding, type
		r.add("__vfptr", c.u32(), 0, false)
	case leafVFuncOff: // padding, type, offset
		c.take(8)
	case leafFriendClass: // padding, type
		c.u32()
	case leafIndex: // padding, list
		return c.u32(), true
	default:
		return 0, false
	}
	return 0, true
}

func (r *fieldReader) add(name string, number uint32, offset uint64, base bool) {
	f := Field{Name: name, Offset: offset, Base: base}
	if kind, b, ok := r.types.get(number); ok && kind == leafBitField && len(b) >= 6 { // type 0, bits 4, lowest bit 5
		f.Bits, f.Bit = b[4], b[5]
		number = le.Uint32(b)
	}
	typ, ok := r.texts[number]
	if !ok {
		t := typeText{types: r.types, defined: r.defined}
		typ.text, typ.size = t.of(number)
		typ.of = t.named
		if r.texts == nil {
			r.texts = map[uint32]fieldType{}
		}
		r.texts[number] = typ
	}
	f.Type, f.Of, f.Size = typ.text, typ.of, typ.size
	r.to.Fields = append(r.to.Fields, f)
}

package pdb

// Kinds of types (cvinfo.h, LEAF_ENUM_e).
const (
	leafVTShape     = 0x000A
	leafModifier    = 0x1001
	leafPointer     = 0x1002
	leafProcedure   = 0x1008
	leafMFunction   = 0x1009
	leafFieldList   = 0x1203
	leafBitField    = 0x1205
	leafBClass      = 0x1400
	leafVBClass     = 0x1401
	leafIVBClass    = 0x1402
	leafIndex       = 0x1404
	leafVFuncTab    = 0x1409
	leafFriendClass = 0x140A
	leafVFuncOff    = 0x140C
	leafArray       = 0x1503
	leafClass       = 0x1504
	leafStructure   = 0x1505
	leafUnion       = 0x1506
	leafEnum        = 0x1507
	leafFriend      = 0x150C
	leafMember      = 0x150D
	leafStMember    = 0x150E
	leafMethod      = 0x150F
	leafNestType    = 0x1510
	leafOneMethod   = 0x1511
	leafNestTypeEx  = 0x1512
	leafInterface   = 0x1519
	leafBInterface  = 0x151A
	leafClass2      = 0x1608 // properties of 32 bits
	leafStructure2  = 0x1609
)

// number reads a number of any width (cvinfo.h: below LF_NUMERIC it is its own 16 bits). Floats are not among them.
func (c *cursor) number() uint64 {
	v := c.u16()
	switch {
	case v < 0x8000:
		return uint64(v)
	case v == 0x8000: // LF_CHAR
		if b := c.take(1); b != nil {
			return uint64(int8(b[0]))
		}
	case v == 0x8001: // LF_SHORT
		return uint64(int16(c.u16()))
	case v == 0x8002: // LF_USHORT
		return uint64(c.u16())
	case v == 0x8003: // LF_LONG
		return uint64(int32(c.u32()))
	case v == 0x8004: // LF_ULONG
		return uint64(c.u32())
	case v == 0x8009 || v == 0x800A: // LF_QUADWORD, LF_UQUADWORD
		lo := c.u32()
		return uint64(lo) | uint64(c.u32())<<32
	default:
		c.short = true
	}
	return 0
}

// An aggregate is a record of a class, structure, union or enumeration.
type aggregate struct {
	kind       uint16
	count      uint32
	properties uint32
	fields     uint32 // LF_FIELDLIST
	underlying uint32 // of an enumeration
	size       uint64 // in bytes; not of an enumeration
	name       []byte
}

const propertyForward = 0x80 // the definition is elsewhere

// parseAggregate reads
//
//	LF_CLASS, LF_STRUCTURE, LF_INTERFACE  count 0 2, properties 2 2, fields 4 4, derived 8 4, shape 12 4, size, name
//	LF_CLASS2, LF_STRUCTURE2              properties 0 4, fields 4 4, derived 8 4, shape 12 4, count 16 2, size, name
//	LF_UNION                              count 0 2, properties 2 2, fields 4 4, size, name
//	LF_ENUM                               count 0 2, properties 2 2, underlying 4 4, fields 8 4, name
func parseAggregate(kind uint16, b []byte) (aggregate, bool) {
	a, c := aggregate{kind: kind}, cursor{b: b}
	switch kind {
	case leafClass, leafStructure, leafInterface:
		a.count, a.properties, a.fields = uint32(c.u16()), uint32(c.u16()), c.u32()
		c.take(8)
		a.size = c.number()
	case leafClass2, leafStructure2:
		a.properties, a.fields = c.u32(), c.u32()
		c.take(8)
		a.count = uint32(c.u16())
		a.size = c.number()
	case leafUnion:
		a.count, a.properties, a.fields = uint32(c.u16()), uint32(c.u16()), c.u32()
		a.size = c.number()
	case leafEnum:
		a.count, a.properties, a.underlying, a.fields = uint32(c.u16()), uint32(c.u16()), c.u32(), c.u32()
	default:
		return a, false
	}
	a.name = c.text()
	return a, !c.short
}

// nameOf names a class, structure, union or enumeration; "" for other types.
func (r *records) nameOf(number uint32) string {
	kind, b, ok := r.get(number)
	if !ok {
		return ""
	}
	a, _ := parseAggregate(kind, b)
	return string(a.name)
}

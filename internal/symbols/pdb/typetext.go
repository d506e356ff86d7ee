package pdb

import "strconv"

// maxTypeDepth bounds how far types are followed through pointers, arrays and modifiers.
const maxTypeDepth = 32

// A typeText spells types as C++ does, with dimensions at the end.
type typeText struct {
	types   *records
	defined *definitions // nil where sizes do not matter
	named   string       // the last class, structure, union or enumeration on the way
	depth   int
}

// of returns a type's text and its size in bytes, 0 for unknown.
func (t *typeText) of(number uint32) (string, uint64) {
	if number < firstType {
		return simpleType(number)
	}
	if t.depth++; t.depth > maxTypeDepth {
		return "…", 0
	}
	kind, b, ok := t.types.get(number)
	if !ok {
		return "<type 0x" + strconv.FormatUint(uint64(number), 16) + ">", 0
	}
	c := cursor{b: b}
	switch kind {
	case leafModifier: // type 0, flags 4
		text, size := t.of(c.u32())
		flags := c.u16()
		if flags&2 != 0 {
			text = "volatile " + text
		}
		if flags&1 != 0 {
			text = "const " + text
		}
		return text, size
	case leafPointer:
		return t.pointer(&c)
	case leafArray: // element 0, index 4, bytes 8, name
		return t.array(&c)
	case leafBitField:
		return t.of(c.u32())
	case leafProcedure: // result 0
		text, _ := t.of(c.u32())
		return text + " ()", 0
	case leafMFunction: // result 0, class 4
		text, _ := t.of(c.u32())
		return text + " ()", 0
	case leafVTShape:
		return "void (*)()", 0
	}
	a, ok := parseAggregate(kind, b)
	if !ok {
		return "<type 0x" + strconv.FormatUint(uint64(number), 16) + ">", 0
	}
	t.named = string(a.name)
	return t.named, t.sizeOf(a)
}

// sizeOf follows forward references to the definition.
func (t *typeText) sizeOf(a aggregate) uint64 {
	if a.properties&propertyForward != 0 && t.defined != nil {
		if number, ok := t.defined.find(t.types, string(a.name)); ok {
			kind, b, _ := t.types.get(number)
			a, _ = parseAggregate(kind, b)
		}
	}
	if a.kind == leafEnum {
		named := t.named
		_, size := t.of(a.underlying)
		t.named = named
		return size
	}
	return a.size
}

// pointer reads LF_POINTER: type 0, attributes 4: kind bits 0 to 4, mode 5 to 7, volatile 9, const 10, bytes 13 to 18.
func (t *typeText) pointer(c *cursor) (string, uint64) {
	number, attributes := c.u32(), c.u32()
	size := uint64(attributes >> 13 & 0x3F)
	if size == 0 {
		size = map[uint32]uint64{0x0A: 4, 0x0B: 6, 0x0C: 8}[attributes&0x1F]
	}
	sized := *t
	sized.defined = nil // what it points to needs no size
	text, _ := sized.of(number)
	t.named, t.depth = sized.named, sized.depth
	switch {
	case len(text) > 3 && text[len(text)-3:] == " ()":
		text = text[:len(text)-2] + "(*)()"
	case text == "void (*)()": // to a table of virtual functions
		text += " *"
	case attributes>>5&7 == 1:
		text += " &"
	case attributes>>5&7 == 4:
		text += " &&"
	default:
		text += " *"
	}
	if attributes>>10&1 != 0 {
		text += " const"
	}
	return text, size
}

// array spells the outer dimension first.
func (t *typeText) array(c *cursor) (string, uint64) {
	element := c.u32()
	c.u32()
	total := c.number()
	dimensions, bytes := "", total
	for t.depth < maxTypeDepth {
		kind, b, ok := t.types.get(element)
		if !ok || kind != leafArray {
			break
		}
		t.depth++
		inner := cursor{b: b}
		element = inner.u32()
		inner.u32()
		size := inner.number()
		dimensions += dimension(bytes, size)
		bytes = size
	}
	text, size := t.of(element)
	return text + dimensions + dimension(bytes, size), total
}

func dimension(bytes, element uint64) string {
	if element == 0 {
		return "[]"
	}
	return "[" + strconv.FormatUint(bytes/element, 10) + "]"
}

const firstType = 0x1000 // of the numbers of records; those below are simple types

// simpleTypes are the kinds of simple types (cvinfo.h, TYPE_ENUM_e) and their bytes.
var simpleTypes = map[uint32]struct {
	text string
	size uint64
}{
	0x00: {"<no type>", 0}, 0x03: {"void", 0}, 0x08: {"HRESULT", 4},
	0x10: {"signed char", 1}, 0x20: {"unsigned char", 1}, 0x70: {"char", 1}, 0x71: {"wchar_t", 2},
	0x7A: {"char16_t", 2}, 0x7B: {"char32_t", 4}, 0x7C: {"char8_t", 1}, 0x68: {"__int8", 1}, 0x69: {"unsigned __int8", 1},
	0x11: {"short", 2}, 0x21: {"unsigned short", 2}, 0x72: {"short", 2}, 0x73: {"unsigned short", 2},
	0x12: {"long", 4}, 0x22: {"unsigned long", 4}, 0x74: {"int", 4}, 0x75: {"unsigned int", 4},
	0x13: {"__int64", 8}, 0x23: {"unsigned __int64", 8}, 0x76: {"__int64", 8}, 0x77: {"unsigned __int64", 8},
	0x14: {"__int128", 16}, 0x24: {"unsigned __int128", 16}, 0x78: {"__int128", 16}, 0x79: {"unsigned __int128", 16},
	0x40: {"float", 4}, 0x41: {"double", 8}, 0x42: {"long double", 10}, 0x43: {"__float128", 16}, 0x46: {"__float16", 2},
	0x30: {"bool", 1}, 0x31: {"__bool16", 2}, 0x32: {"__bool32", 4}, 0x33: {"__bool64", 8},
}

// simpleType spells a simple type: its kind in bits 0 to 7, how it is pointed to in bits 8 to 10.
func simpleType(number uint32) (string, uint64) {
	s, ok := simpleTypes[number&0xFF]
	if !ok {
		s.text = "<type 0x" + strconv.FormatUint(uint64(number), 16) + ">"
	}
	switch number >> 8 & 7 {
	case 0:
		return s.text, s.size
	case 4:
		return s.text + " *", 4
	case 5:
		return s.text + " *", 6
	case 6:
		return s.text + " *", 8
	case 7:
		return s.text + " *", 16
	}
	return s.text + " *", 2
}

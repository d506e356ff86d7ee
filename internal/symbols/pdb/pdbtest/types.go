package pdbtest

import (
	"fmt"
	"strings"
)

// A typeStream is TPI (stream 2) or IPI (stream 4): a header, records numbered from 0x1000, and beside them a stream of
// their hashes and of the offset of one record in every 8 KiB.
type typeStream struct {
	records []byte
	count   uint32
	hashes  []byte
	offsets []byte
	known   map[string]uint32 // record by content
	mark    int               // where the last entry of offsets is
}

const firstType = 0x1000

func newTypes() *typeStream { return &typeStream{known: map[string]uint32{}, mark: -1} }

// add returns the index of a record, which is written once. name is hashed where the record has one.
func (t *typeStream) add(kind uint16, name string, fields ...any) uint32 {
	r := []byte{0, 0}
	r = le.AppendUint16(r, kind)
	for _, f := range fields {
		switch f := f.(type) {
		case uint8:
			r = append(r, f)
		case uint16:
			r = le.AppendUint16(r, f)
		case uint32:
			r = le.AppendUint32(r, f)
		case []byte:
			r = append(r, f...)
		case string:
			r = append(append(r, f...), 0)
		default:
			panic(fmt.Sprintf("pdbtest: field %T", f)) // a mistake in this package
		}
	}
	for odd := (4 - len(r)%4) % 4; odd > 0; odd-- {
		r = append(r, 0xF0|byte(odd)) // LF_PADn
	}
	le.PutUint16(r, uint16(len(r)-2))
	if index, ok := t.known[string(r)]; ok {
		return index
	}
	index := firstType + t.count
	t.known[string(r)] = index
	const every = 8 << 10
	if t.mark < 0 || len(t.records)/every > t.mark/every {
		t.mark = len(t.records)
		t.offsets = le.AppendUint32(le.AppendUint32(t.offsets, index), uint32(t.mark))
	}
	hash := hashRecord(r)
	if name != "" {
		hash = hashName(name)
	}
	const buckets = 0x3FFFF
	t.hashes = le.AppendUint32(t.hashes, hash%buckets)
	t.records = append(t.records, r...)
	t.count++
	return index
}

// write writes the stream and its hash stream.
func (t *typeStream) write(c *container, number uint16) {
	hash := c.add(append(t.hashes[:len(t.hashes):len(t.hashes)], t.offsets...))
	b := le.AppendUint32(nil, 20040203)
	b = le.AppendUint32(b, 56)
	b = le.AppendUint32(b, firstType)
	b = le.AppendUint32(b, firstType+t.count)
	b = le.AppendUint32(b, uint32(len(t.records)))
	b = le.AppendUint16(b, hash)
	b = le.AppendUint16(b, 0xFFFF)
	b = le.AppendUint32(b, 4)
	b = le.AppendUint32(b, 0x3FFFF)
	b = le.AppendUint32(le.AppendUint32(b, 0), uint32(len(t.hashes)))
	b = le.AppendUint32(le.AppendUint32(b, uint32(len(t.hashes))), uint32(len(t.offsets)))
	b = le.AppendUint32(le.AppendUint32(b, uint32(len(t.hashes)+len(t.offsets))), 0)
	c.put(number, append(b, t.records...))
}

// Kinds of type records (cvinfo.h, LEAF_ENUM_e).
const (
	lfPointer   = 0x1002
	lfProcedure = 0x1008
	lfArglist   = 0x1201
	lfFieldlist = 0x1203
	lfBitfield  = 0x1205
	lfBclass    = 0x1400
	lfIndex     = 0x1404
	lfArray     = 0x1503
	lfStructure = 0x1505
	lfUnion     = 0x1506
	lfMember    = 0x150D
	lfFuncID    = 0x1601
	lfMfuncID   = 0x1602
	lfStringID  = 0x1605
)

// procedure is the type void (void).
func (w *Writer) procedure() uint32 {
	return w.tpi.add(lfProcedure, "", uint32(0x03), uint8(0), uint8(0), uint16(0), w.tpi.add(lfArglist, "", uint32(0)))
}

// inlinee is the id of a function: LF_MFUNC_ID where its scope is a Struct, LF_FUNC_ID otherwise.
func (w *Writer) inlinee(name string) uint32 {
	scope, last := splitScope(name)
	if class, ok := w.structs[scope]; ok {
		return w.ipi.add(lfMfuncID, "", class, w.procedure(), last)
	}
	var scopeID uint32
	if scope != "" {
		scopeID = w.ipi.add(lfStringID, "", uint32(0), scope)
	}
	return w.ipi.add(lfFuncID, "", scopeID, w.procedure(), last)
}

// splitScope cuts at the last :: that is not inside template arguments.
func splitScope(name string) (scope, last string) {
	depth := 0
	for i := len(name) - 1; i > 0; i-- {
		switch {
		case name[i] == '>':
			depth++
		case name[i] == '<':
			depth--
		case depth == 0 && name[i] == ':' && name[i-1] == ':':
			return name[:i-1], name[i+1:]
		}
	}
	return "", name
}

// declare writes the forward references of all structs, so that fields may refer to any of them, then the structs.
func (w *Writer) declare(structs []Struct) {
	for i := range structs {
		w.structs[structs[i].Name] = w.forward(structs[i].Name, structs[i].Union)
	}
	for i := range structs {
		w.define(&structs[i])
	}
}

// forward is the reference to a struct that is defined elsewhere: property 0x80.
func (w *Writer) forward(name string, union bool) uint32 {
	if union {
		return w.tpi.add(lfUnion, "", uint16(0), uint16(0x80), uint32(0), number(0), name)
	}
	return w.tpi.add(lfStructure, "", uint16(0), uint16(0x80), uint32(0), uint32(0), uint32(0), number(0), name)
}

func (w *Writer) define(s *Struct) {
	// A record has at most 64 KiB: a list goes on in another, which is written first.
	const full = 60 << 10
	var lists [][]byte
	var list []byte
	for _, f := range s.Fields {
		kind := uint16(lfMember)
		if f.Base {
			kind = lfBclass
		}
		m := le.AppendUint16(nil, kind)
		m = le.AppendUint16(m, 3) // public
		m = le.AppendUint32(m, w.fieldType(f.Type))
		m = append(m, number(f.Offset)...)
		if !f.Base {
			m = append(append(m, f.Name...), 0)
		}
		for odd := (4 - len(m)%4) % 4; odd > 0; odd-- {
			m = append(m, 0xF0|byte(odd))
		}
		if len(list)+len(m) > full {
			lists = append(lists, list)
			list = nil
		}
		list = append(list, m...)
	}
	fields := w.tpi.add(lfFieldlist, "", list)
	for i := len(lists) - 1; i >= 0; i-- {
		fields = w.tpi.add(lfFieldlist, "", lists[i], uint16(lfIndex), uint16(0), fields)
	}
	count := uint16(len(s.Fields))
	if s.Union {
		w.tpi.add(lfUnion, s.Name, count, uint16(0), fields, number(s.Size), s.Name)
	} else {
		w.tpi.add(lfStructure, s.Name, count, uint16(0), fields, uint32(0), uint32(0), number(s.Size), s.Name)
	}
}

func (w *Writer) fieldType(t Type) uint32 {
	switch {
	case t.pointer != nil:
		const near64, size8 = 0x0C, 8 << 13
		return w.tpi.add(lfPointer, "", w.fieldType(*t.pointer), uint32(near64|size8))
	case t.array != nil:
		return w.tpi.add(lfArray, "", w.fieldType(*t.array), uint32(0x23), number(t.bytes), "")
	case t.bits != nil:
		return w.tpi.add(lfBitfield, "", w.fieldType(*t.bits), t.count, t.from)
	case t.name != "":
		return w.named(t.name)
	}
	return t.index
}

// named is the index of a type by its name: a Struct of the program or one that is only declared. A * behind the name
// is a pointer to it; no name is void.
func (w *Writer) named(name string) uint32 {
	if to, ok := strings.CutSuffix(name, "*"); ok {
		return w.tpi.add(lfPointer, "", w.named(strings.TrimSpace(to)), uint32(0x0C|8<<13))
	}
	if name == "" || name == "void" {
		return Void.index
	}
	if _, ok := w.structs[name]; !ok {
		w.structs[name] = w.forward(name, false)
	}
	return w.structs[name]
}

// number is a numeric leaf: below 0x8000 itself, otherwise LF_ULONG or LF_UQUADWORD and the value.
func number(v uint64) []byte {
	switch {
	case v < 0x8000:
		return le.AppendUint16(nil, uint16(v))
	case v < 1<<32:
		return le.AppendUint32([]byte{0x04, 0x80}, uint32(v))
	}
	return le.AppendUint64([]byte{0x0A, 0x80}, v)
}

package heapprofile

// The wire types of protocol buffers.
const (
	wireNumber = 0
	wire64     = 1
	wireBytes  = 2
	wire32     = 5
)

// A message is the fields of a message that are still to be read.
type message struct {
	rest   []byte
	broken bool // it ends inside a field, or holds what is none
}

type field struct {
	number uint64
	wire   byte
	value  uint64
	bytes  []byte
}

// next reads a field; ok is false at the end of the message and where it is broken.
func (m *message) next() (f field, ok bool) {
	if len(m.rest) == 0 {
		return f, false
	}
	tag, rest, ok := cutVarint(m.rest)
	f.number, f.wire = tag>>3, byte(tag&7)
	skip := 0
	switch {
	case !ok:
	case f.wire == wireNumber:
		f.value, rest, ok = cutVarint(rest)
	case f.wire == wireBytes:
		if f.value, rest, ok = cutVarint(rest); ok {
			if ok = f.value <= uint64(len(rest)); ok {
				f.bytes, skip = rest[:f.value], int(f.value)
			}
		}
	case f.wire == wire64:
		skip = 8
	case f.wire == wire32:
		skip = 4
	default:
		ok = false
	}
	if !ok || skip > len(rest) {
		m.rest, m.broken = nil, true
		return f, false
	}
	m.rest = rest[skip:]
	return f, true
}

// numbers appends the values of a repeated number, packed or not, up to so many.
func (f *field) numbers(list []uint64, most int) []uint64 {
	if f.wire == wireNumber {
		if len(list) < most {
			list = append(list, f.value)
		}
		return list
	}
	for rest := f.bytes; len(rest) > 0 && len(list) < most; {
		v, after, ok := cutVarint(rest)
		if !ok {
			break
		}
		list, rest = append(list, v), after
	}
	return list
}

func eachField(b []byte, take func(field)) {
	m := message{b, false}
	for {
		f, ok := m.next()
		if !ok {
			return
		}
		take(f)
	}
}

func cutVarint(b []byte) (v uint64, rest []byte, ok bool) {
	for i := range min(len(b), 10) {
		v |= uint64(b[i]&0x7F) << (7 * i)
		if b[i] < 0x80 {
			return v, b[i+1:], true
		}
	}
	return 0, b, false
}

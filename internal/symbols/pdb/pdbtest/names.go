package pdbtest

import (
	"bytes"
	"maps"
	"slices"
)

// names is the stream /names: signature 0xEFFEEFFE, version 1, size and bytes of the strings, number and offsets of the
// hash table, number of strings.
type names struct {
	text    []byte
	offsets map[string]uint32
	order   []string
}

func newNames() *names {
	return &names{text: []byte{0}, offsets: map[string]uint32{"": 0}}
}

// offset returns a string's place, and adds it where it is new.
func (n *names) offset(s string) uint32 {
	if at, ok := n.offsets[s]; ok {
		return at
	}
	at := uint32(len(n.text))
	n.offsets[s] = at
	n.order = append(n.order, s)
	n.text = append(append(n.text, s...), 0)
	return at
}

func (n *names) stream() []byte {
	b := le.AppendUint32(nil, 0xEFFEEFFE)
	b = le.AppendUint32(b, 1)
	b = le.AppendUint32(b, uint32(len(n.text)))
	b = append(b, n.text...)
	table := make([]uint32, len(n.order)*5/4+1)
	for _, s := range n.order {
		slot := int(hashName(s)) % len(table)
		for table[slot] != 0 {
			slot = (slot + 1) % len(table)
		}
		table[slot] = n.offsets[s]
	}
	b = le.AppendUint32(b, uint32(len(table)))
	for _, at := range table {
		b = le.AppendUint32(b, at)
	}
	return le.AppendUint32(b, uint32(len(n.order)))
}

// info is stream 1: version, signature, age, GUID, map of named streams, features.
func (w *Writer) info(named map[string]uint16) []byte {
	p := &w.program
	b := le.AppendUint32(nil, 20000404)
	b = le.AppendUint32(b, p.Signature)
	b = le.AppendUint32(b, p.InfoAge)
	b = append(b, p.GUID[:]...)
	b = appendNamedStreams(b, named)
	b = le.AppendUint32(b, 20140508) // VC140: there is an IPI stream
	if p.FastLink {
		b = le.AppendUint32(b, 0x494E494D)
	}
	return b
}

// appendNamedStreams adds the map: size and bytes of the names, then a hash table of (offset of name, stream): number
// of entries, capacity, bit vector of the slots that are used, bit vector of those that were deleted, the used ones.
func appendNamedStreams(b []byte, named map[string]uint16) []byte {
	var text bytes.Buffer
	const capacity = 16
	var slots [capacity]struct{ at, stream uint32 }
	var used uint32
	for _, name := range slices.Sorted(maps.Keys(named)) {
		slot := uint32(uint16(hashName(name))) % capacity // the hash is cut to 16 bits here
		for used>>slot&1 != 0 {
			slot = (slot + 1) % capacity
		}
		used |= 1 << slot
		slots[slot].at, slots[slot].stream = uint32(text.Len()), uint32(named[name])
		text.WriteString(name + "\x00")
	}
	b = le.AppendUint32(b, uint32(text.Len()))
	b = append(b, text.Bytes()...)
	b = le.AppendUint32(b, uint32(len(named)))
	b = le.AppendUint32(b, capacity)
	b = le.AppendUint32(b, 1)
	b = le.AppendUint32(b, used)
	b = le.AppendUint32(b, 0)
	for slot := range slots {
		if used>>slot&1 != 0 {
			b = le.AppendUint32(le.AppendUint32(b, slots[slot].at), slots[slot].stream)
		}
	}
	return b
}

package pdbtest

import (
	"cmp"
	"slices"
	"strings"
)

// A publicRecord is a public and where its record is in the symbol record stream.
type publicRecord struct {
	at     Address
	offset uint32
	hash   uint32
	name   string
}

// public adds S_PUB32: flags (2: function), offset, section, name.
func (w *Writer) public(p Public) {
	flags := uint32(2)
	if p.Data {
		flags = 0
	}
	s := symbolList{w.records}
	at := s.add(sPub32, appendName(le.AppendUint16(fields(flags, p.Offset), p.Section), p.Name))
	w.records = s.b
	w.publics = append(w.publics, publicRecord{p.Address, uint32(at), hashName(p.Name), p.Name})
}

// publicStream is the PSI stream: sizes of the hash table and the address map, four fields about thunks, number of
// sections; the hash table; the offsets of the records by address. Of equal addresses the order of the program stays.
func (w *Writer) publicStream() []byte {
	hash := hashTable(w.publics)
	b := fields(uint32(len(hash)), uint32(4*len(w.publics)), 0, 0, 0, 0, uint32(len(w.program.Sections)))
	b = append(b, hash...)
	byAddress := slices.Clone(w.publics)
	slices.SortStableFunc(byAddress, func(x, y publicRecord) int {
		return cmp.Or(cmp.Compare(x.at.Section, y.at.Section), cmp.Compare(x.at.Offset, y.at.Offset))
	})
	for _, p := range byAddress {
		b = le.AppendUint32(b, p.offset)
	}
	return b
}

// hashTable is the name index of globals and publics (GSI): signature -1, version, bytes of records, bytes of buckets;
// records of offset + 1 and a count of references; a bit for each of 4096 buckets that is not empty, in 129 words; for
// those the place of their first record, counted in 12 bytes, which is what a record took on 32-bit systems.
func hashTable(records []publicRecord) []byte {
	const buckets = 4096
	sorted := slices.Clone(records)
	slices.SortStableFunc(sorted, func(x, y publicRecord) int {
		return cmp.Or(cmp.Compare(x.hash%buckets, y.hash%buckets), cmp.Compare(len(x.name), len(y.name)),
			strings.Compare(strings.ToLower(x.name), strings.ToLower(y.name)))
	})
	var bits [buckets/32 + 1]uint32
	var list, first []byte
	last := uint32(buckets)
	for i, p := range sorted {
		if bucket := p.hash % buckets; bucket != last {
			bits[bucket/32] |= 1 << (bucket % 32)
			first = le.AppendUint32(first, uint32(i*12))
			last = bucket
		}
		list = append(list, fields(p.offset+1, 1)...)
	}
	const version = 0xEFFE0000 + 19990810
	b := fields(0xFFFFFFFF, version, uint32(len(list)), uint32(4*len(bits)+len(first)))
	b = append(b, list...)
	b = append(b, fields(bits[:]...)...)
	return append(b, first...)
}

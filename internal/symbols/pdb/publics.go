package pdb

import (
	"bytes"
	"sort"
)

// publics are the public symbols in the order of their addresses:
//
//	field             offset  size  source: microsoft-pdb gsi.h, PSGSIHDR
//	hash              0       4     bytes, from offset 28
//	address map       4       4     bytes, behind the hash: u32 offsets in the stream of symbol records, by address
//	thunks            8       4     of incremental linking
//	thunk bytes       12      4
//	thunk section     16      2
//	thunk table       20      4     offset in the section
//	sections          24      4
//
// S_PUB32, from where the address map points: u16 bytes behind it, u16 kind, flags 4 4, offset 8 4, section 12 2, name
// 14.
type publics struct {
	keys         []uint64 // section in bits 32 to 47, offset in bits 0 to 31; ascending
	places       []uint32 // of their records in the stream of symbol records
	records      stream
	thunkSection uint16
	thunkTable   uint32
}

const publicHeader = 14 // bytes of a record before the name

func (f *File) readPublics() (*publics, error) {
	p := &publics{}
	if f.dbi.publics == noStream || f.dbi.records == noStream {
		return p, nil
	}
	s, err := f.c.open(f.dbi.publics)
	if err != nil {
		return p, err
	}
	h, err := s.view(0, 28)
	if err != nil {
		return p, err
	}
	p.thunkSection, p.thunkTable = le.Uint16(h[16:]), le.Uint32(h[20:])
	if p.records, err = f.c.open(f.dbi.records); err != nil {
		return p, err
	}
	at, n := 28+int64(le.Uint32(h)), int64(le.Uint32(h[4:])&^3)
	if most := p.records.size() / publicHeader * 4; n > most {
		return p, fail(CodeCorrupt, s.number(), 4,
			"the address map of %d bytes names more symbols than %d bytes of records can hold", n, p.records.size())
	}
	addresses, err := s.view(at, int(n))
	if err != nil {
		return p, err
	}
	return p, p.read(f, addresses)
}

// read fetches the addresses of all publics, so that searches need not. What the map says wrongly is left out, and its
// order is checked: searches in a map that is not sorted would depend on where they begin.
func (p *publics) read(f *File, addresses []byte) error {
	p.keys, p.places = make([]uint64, 0, len(addresses)/4), make([]uint32, 0, len(addresses)/4)
	sorted := true
	for ; len(addresses) >= 4; addresses = addresses[4:] {
		place := le.Uint32(addresses)
		if int64(place)+publicHeader > p.records.size() {
			continue
		}
		b, err := p.records.view(int64(place), publicHeader)
		if err != nil {
			if err := f.tolerate(err); err != nil {
				return err
			}
			continue
		}
		key := publicKey(le.Uint16(b[12:]), le.Uint32(b[8:]))
		sorted = sorted && (len(p.keys) == 0 || p.keys[len(p.keys)-1] <= key)
		p.keys, p.places = append(p.keys, key), append(p.places, place)
	}
	if !sorted {
		sort.Stable(p)
	}
	return nil
}

func publicKey(section uint16, offset uint32) uint64 { return uint64(section)<<32 | uint64(offset) }

// Len, Less and Swap are for the sort of read.
func (p *publics) Len() int           { return len(p.keys) }
func (p *publics) Less(i, j int) bool { return p.keys[i] < p.keys[j] }
func (p *publics) Swap(i, j int) {
	p.keys[i], p.keys[j] = p.keys[j], p.keys[i]
	p.places[i], p.places[j] = p.places[j], p.places[i]
}

// name names the i-th public.
func (p *publics) name(i int) (string, error) {
	at := int64(p.places[i])
	h, err := p.records.view(at, 4)
	if err != nil {
		return "", err
	}
	n := min(int64(le.Uint16(h))+2, p.records.size()-at) - publicHeader
	b, err := p.records.view(at+publicHeader, int(max(n, 0)))
	if err != nil {
		return "", err
	}
	return string(symbolName(le.Uint16(h[2:]), b)), nil
}

// after returns the number of the first public behind an address. It looks at those from the number from on first,
// for callers that ask in ascending order.
func (p *publics) after(section uint16, offset uint32, from int) int {
	key := publicKey(section, offset)
	behind := func(i int) bool { return p.keys[i] > key }
	if from >= len(p.keys) || behind(from) {
		from = 0
	}
	lo, step := from, 1
	for lo+step < len(p.keys) && !behind(lo+step) {
		lo, step = lo+step, step*2
	}
	hi := min(lo+step, len(p.keys))
	return lo + sort.Search(hi-lo, func(i int) bool { return behind(lo + i) })
}

// nearest returns the number of the last public at or before an address in its section, and its offset: of the first of
// those that share its address, as dbghelp does.
func (p *publics) nearest(section uint16, offset uint32, from int) (i int, start uint32, ok bool) {
	n := p.after(section, offset, from)
	if n == 0 || uint16(p.keys[n-1]>>32) != section {
		return max(n-1, 0), 0, false
	}
	key := p.keys[n-1]
	if i = n - 1; i > 0 && p.keys[i-1] == key {
		i = sort.Search(i, func(i int) bool { return p.keys[i] >= key })
	}
	return i, uint32(key), true
}

// symbolName reads the name that ends a record: zero-terminated, or with its length before it where the kind is of a
// compiler before Visual C++ 7.
func symbolName(kind uint16, b []byte) []byte {
	if kind < 0x1100 {
		if len(b) == 0 {
			return nil
		}
		return b[1:min(len(b), 1+int(b[0]))]
	}
	name, _, _ := bytes.Cut(b, []byte{0})
	return name
}

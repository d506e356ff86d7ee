package pdb

import (
	"math"
	"slices"

	"heapdrift/ingest/sorting"
)

// A Mapping says that the addresses from From up to the next Mapping's are at To and on in the other space; a To of 0
// says that they are not there.
type Mapping struct{ From, To uint32 }

// An OMAP leads between the image and the source space, the image as the linker had laid it out. Both tables are
// sorted by From.
type OMAP struct {
	ToSource   []Mapping // from RVAs of the image
	FromSource []Mapping // to RVAs of the image
}

// OMAP returns the tables of an image that was reordered after linking, nil where it was not. They must not be changed.
func (f *File) OMAP() (*OMAP, error) {
	if !f.info.OMAP {
		return nil, nil
	}
	return f.omap()
}

// ToSource converts an RVA of the image to the source space, in which LocationRanges counts; false where no code of the
// linker is at the address.
func (f *File) ToSource(rva uint32) (uint32, bool) {
	if !f.info.OMAP {
		return rva, true
	}
	o, err := f.omap()
	if err != nil {
		return 0, false
	}
	return translate(o.ToSource, rva)
}

// fromSource takes an address of the source space to the image; 0 where it is not there any more.
func (f *File) fromSource(rva uint32) uint32 {
	if !f.info.OMAP {
		return rva
	}
	o, err := f.omap()
	if err != nil {
		return 0
	}
	at, _ := translate(o.FromSource, rva)
	return at
}

// translate looks an address up. Tools write 0 or a negative number for "nowhere".
func translate(table []Mapping, rva uint32) (uint32, bool) {
	i, ok := slices.BinarySearchFunc(table, rva, func(m Mapping, rva uint32) int { return compareUint32(m.From, rva) })
	if !ok {
		i--
	} else {
		for i+1 < len(table) && table[i+1].From == rva {
			i++
		}
	}
	if i < 0 || table[i].To == 0 || table[i].To > math.MaxInt32 {
		return 0, false
	}
	to := uint64(table[i].To) + uint64(rva-table[i].From)
	return uint32(to), to <= math.MaxUint32
}

func (f *File) readOMAP() (*OMAP, error) {
	to, err := f.readMappings(f.dbi.toSource)
	if err != nil {
		return nil, err
	}
	from, err := f.readMappings(f.dbi.fromSource)
	return &OMAP{to, from}, err
}

// readMappings reads pairs of u32.
func (f *File) readMappings(number int) ([]Mapping, error) {
	if number == noStream {
		return nil, nil
	}
	s, err := f.c.open(number)
	if err != nil {
		return nil, err
	}
	b, err := s.view(0, int(s.size()))
	if err != nil {
		return nil, err
	}
	table := make([]Mapping, 0, len(b)/8)
	for p := range slices.Chunk(b[:len(b)/8*8], 8) {
		table = append(table, Mapping{le.Uint32(p), le.Uint32(p[4:])})
	}
	byFrom := func(a, b Mapping) int { return compareUint32(a.From, b.From) }
	if !slices.IsSortedFunc(table, byFrom) {
		sorting.Stable(table, byFrom)
	}
	return table, nil
}

package pdb

import (
	"bytes"
	"math"
	"slices"
)

// A Section is a section header of the image.
type Section struct {
	Name            string
	RVA             uint32
	Size            uint32 // in memory, in bytes
	Characteristics uint32 // IMAGE_SCN_*
}

const maxSections = 0xFFFF

// readSections reads a stream of IMAGE_SECTION_HEADERs: name 0 8, size in memory 8 4, RVA 12 4, size in the file 16 4,
// characteristics 36 4; 40 bytes each.
func (f *File) readSections(number int) ([]Section, error) {
	if number == noStream || number >= f.c.streams() {
		return nil, nil
	}
	s, err := f.c.open(number)
	if err != nil {
		return nil, err
	}
	b, err := s.view(0, int(min(s.size(), maxSections*40)))
	if err != nil {
		return nil, err
	}
	var all []Section
	for h := range slices.Chunk(b[:len(b)/40*40], 40) {
		name, _, _ := bytes.Cut(h[:8], []byte{0})
		size := le.Uint32(h[8:])
		if size == 0 {
			size = le.Uint32(h[16:])
		}
		all = append(all, Section{string(name), le.Uint32(h[12:]), size, le.Uint32(h[36:])})
	}
	return all, nil
}

// sizeOfImage is the end of the last section, rounded up to a page of memory.
func sizeOfImage(sections []Section) uint32 {
	end := uint64(0)
	for _, s := range sections {
		end = max(end, uint64(s.RVA)+uint64(s.Size))
	}
	if end = (end + 0xFFF) &^ 0xFFF; end > math.MaxUint32 {
		return 0
	}
	return uint32(end)
}

// rva turns section and offset into an address of the source space.
func (f *File) rva(section uint16, offset uint32) (uint32, bool) {
	if section == 0 || int(section) > len(f.source) {
		return 0, false
	}
	at := uint64(f.source[section-1].RVA) + uint64(offset)
	return uint32(at), at <= math.MaxUint32
}

// section returns which section an address of the source space is in, counted from 1; 0 for none. What lies between
// two sections belongs to none, and a section ends where the next begins.
func (f *File) section(rva uint32) int {
	last := -1
	for _, i := range f.sectionOrder { // ascending; an image has a handful
		if f.source[i].RVA > rva {
			break
		}
		last = i
	}
	if last < 0 || uint64(rva) >= roundPage(uint64(f.source[last].RVA)+uint64(f.source[last].Size)) {
		return 0
	}
	return last + 1
}

func roundPage(n uint64) uint64 { return (n + 0xFFF) &^ 0xFFF }

// UseSections gives a PDB without section headers those of its image, so that RVAs can be looked up. It must be called
// before anything is looked up.
func (f *File) UseSections(sections []Section) error {
	if !f.info.NoSections {
		return fail(CodeUnsupported, -1, 0, "the PDB has section headers of its own")
	}
	f.setSource(slices.Clone(sections))
	f.info.Sections = slices.Clone(sections)
	f.info.SizeOfImage = sizeOfImage(sections)
	return nil
}

func (f *File) setSource(sections []Section) {
	f.source = sections
	f.sectionOrder = f.sectionOrder[:0]
	for i, s := range sections {
		if s.Size > 0 {
			f.sectionOrder = append(f.sectionOrder, i)
		}
	}
	slices.SortStableFunc(f.sectionOrder, func(a, b int) int { return compareUint32(sections[a].RVA, sections[b].RVA) })
}

package index

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// A Builder collects the content of an index, in memory, in the index's own layout.
type Builder struct {
	debugID                                                         string
	starts, segments, pages, locations, inlines, types, omap, texts []byte

	textAt       map[string]uint32
	inlineAt     map[record]uint32
	locationAt   map[record]uint32
	lastLocation uint32 // of the last segment
	end          uint32 // of the last segment
	typed        []returnType
}

type returnType struct{ ret, text uint32 }

// NewBuilder starts an empty index for the PDB that has this debug id.
func NewBuilder(debugID string) *Builder {
	return &Builder{debugID: debugID, texts: make([]byte, 4), textAt: map[string]uint32{"": 0},
		inlineAt: map[record]uint32{}, locationAt: map[record]uint32{}}
}

// AddRange adds the addresses [start, end), which share one location. at.Displacement is that of start. Ranges must
// come in ascending order and must not overlap.
func (b *Builder) AddRange(start, end uint32, at Location) error {
	if end <= start || start < b.end {
		return fmt.Errorf("index: segment 0x%x–0x%x does not follow 0x%x", start, end, b.end)
	}
	if start > b.end && b.lastLocation != 0 { // after a gap: end the previous segment, else it would reach to start
		b.segment(b.end, 0)
	}
	inline := uint32(0)
	for i := len(at.Inlines) - 1; i >= 0; i-- {
		inline = intern(&b.inlines, b.inlineAt, inlineSize/4,
			record{b.text(at.Inlines[i].Function), b.text(at.Inlines[i].File), at.Inlines[i].Line, inline})
	}
	flags := uint32(0)
	if at.Approx {
		flags = flagApprox
	}
	location := intern(&b.locations, b.locationAt, locationSize/4,
		record{b.text(at.Function), start - at.Displacement, b.text(at.File), at.Line, inline, flags})
	if location != b.lastLocation || start > b.end {
		b.segment(start, location)
	}
	b.end = end
	return nil
}

// A record is a location, or an inlined call in its first four fields.
type record [6]uint32

// intern appends the first fields of a record that is not there yet and returns its number, counted from 1.
func intern(section *[]byte, at map[record]uint32, fields int, r record) uint32 {
	n, ok := at[r]
	if !ok {
		n = uint32(len(at)) + 1
		at[r] = n
		for _, v := range r[:fields] {
			*section = binary.LittleEndian.AppendUint32(*section, v)
		}
	}
	return n
}

func (b *Builder) segment(start, location uint32) {
	for uint32(len(b.pages)/4) <= start>>pageShift {
		b.pages = binary.LittleEndian.AppendUint32(b.pages, uint32(len(b.starts)/4))
	}
	b.starts = binary.LittleEndian.AppendUint32(b.starts, start)
	b.segments = binary.LittleEndian.AppendUint32(b.segments, location)
	b.lastLocation = location
}

func (b *Builder) text(s string) uint32 {
	at, ok := b.textAt[s]
	if !ok {
		at = uint32(len(b.texts))
		b.textAt[s] = at
		b.texts = binary.LittleEndian.AppendUint32(b.texts, uint32(len(s)))
		b.texts = append(b.texts, s...)
	}
	return at
}

// AddType records the type that is allocated by the call which returns to ret, an RVA. Of several for one address the
// first is kept. Addresses may come in any order.
func (b *Builder) AddType(ret uint32, name string) {
	b.typed = append(b.typed, returnType{ret, b.text(name)})
}

// AddOMAP adds an OMAP entry: from RVA from on, the code was at RVA to before the image was reordered; to is 0 where it
// has no origin. Entries must come in ascending order.
func (b *Builder) AddOMAP(from, to uint32) {
	b.omap = binary.LittleEndian.AppendUint32(b.omap, from)
	b.omap = binary.LittleEndian.AppendUint32(b.omap, to)
}

// Write writes the index.
func (b *Builder) Write(w io.Writer) error {
	if len(b.debugID) > 47 {
		return fmt.Errorf("index: a debug id of %d characters is too long", len(b.debugID))
	}
	if int64(len(b.texts)) > 1<<31 {
		return errors.New("index: more than 2 GiB of texts")
	}
	if b.lastLocation != 0 {
		b.segment(b.end, 0)
	}
	slices.SortStableFunc(b.typed, func(a, b returnType) int { return cmp.Compare(a.ret, b.ret) })
	for i, t := range b.typed {
		if i == 0 || b.typed[i-1].ret != t.ret {
			b.types = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b.types, t.ret), t.text)
		}
	}
	b.typed = nil
	head := make([]byte, headerSize)
	copy(head, magic)
	head[7] = Version
	for i, n := range []int{len(b.starts) / 4, len(b.pages) / 4, len(b.locations) / locationSize,
		len(b.inlines) / inlineSize, len(b.types) / typeSize, len(b.omap) / omapSize, len(b.texts)} {
		binary.LittleEndian.PutUint32(head[12+4*i:], uint32(n))
	}
	head[40] = byte(len(b.debugID))
	copy(head[41:], b.debugID)
	sections := [][]byte{head[12:], b.starts, b.segments, b.pages, b.locations, b.inlines, b.types, b.omap, b.texts}
	sum := uint32(0)
	for _, s := range sections {
		sum = crc32.Update(sum, castagnoli, s)
	}
	binary.LittleEndian.PutUint32(head[8:], sum)
	sections[0] = head
	for _, s := range sections {
		if _, err := w.Write(s); err != nil {
			return fmt.Errorf("index: write: %w", err)
		}
	}
	return nil
}

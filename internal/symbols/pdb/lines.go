package pdb

import (
	"cmp"
	"slices"
	"sort"
)

// Kinds of C13 subsections (cvinfo.h, DEBUG_S_SUBSECTION_TYPE). The highest bit says that one is to be ignored.
const (
	subLines     = 0xF2
	subChecksums = 0xF4
	subInlinees  = 0xF6
	subImports   = 0xF7 // ids of other modules
	subExports   = 0xF8 // ids for other modules
)

// Compilers mark code with lines that are none, so that a debugger always or never steps into it.
const (
	lineAlwaysStepInto = 0xF00F00
	lineNeverStepInto  = 0xFEEFEE
)

// IsHiddenLine says that a line number is a mark of the compiler's and no line of the file.
func IsHiddenLine(line uint32) bool { return line == lineAlwaysStepInto || line == lineNeverStepInto }

// lines are the C13 subsections of a module.
type lines struct {
	c13       []byte
	blocks    []lineBlock // by start
	checksums []byte
	inlinees  []inlinee // by id
	imports   [][]byte
	exports   [][]byte
}

// A lineBlock is an F2 subsection: offset 0 4, section 4 2, flags 6 2 (1: with columns), bytes of code 8 4, then per
// file {u32 offset in the checksums, u32 lines, u32 bytes of all this, lines {u32 offset, u32 line and marks},
// columns}.
type lineBlock struct {
	start, end uint32 // in the source space
	reach      uint32 // highest end of this and all before
	place      uint32 // number in the stream
	owner      uint32 // of a block where several procedures start: the record of its procedure, 0 where that is not known
	data       []byte
	decoded    []lineEntry
}

// A lineEntry begins a range of code.
type lineEntry struct {
	start uint32 // in the source space
	line  uint32
	file  uint32 // offset in the checksums
}

// An inlinee is where an inlined function begins, from an F6 subsection.
type inlinee struct {
	id   uint32
	file uint32 // offset in the checksums
	line uint32
}

func (l *lines) readLines(f *File) {
	for kind, b := range subsections(l.c13) {
		switch kind {
		case subLines:
			if len(b) < 12 {
				continue
			}
			size := le.Uint32(b[8:])
			start, ok := f.rva(le.Uint16(b[4:]), le.Uint32(b))
			if ok && uint64(start)+uint64(size) < 1<<32 {
				l.blocks = append(l.blocks, lineBlock{start: start, end: start + size, place: uint32(len(l.blocks)), data: b})
			}
		case subChecksums:
			l.checksums = b
		case subInlinees:
			l.readInlinees(b)
		case subImports:
			l.imports = append(l.imports, b)
		case subExports:
			l.exports = append(l.exports, b)
		}
	}
	slices.SortStableFunc(l.blocks, func(a, b lineBlock) int { return compareUint32(a.start, b.start) })
	reach := uint32(0)
	for i := range l.blocks {
		reach = max(reach, l.blocks[i].end)
		l.blocks[i].reach = reach
	}
	slices.SortStableFunc(l.inlinees, func(a, b inlinee) int { return compareUint32(a.id, b.id) })
}

// subsections yields kind and contents of what is whole.
func subsections(b []byte) func(func(uint32, []byte) bool) {
	return func(yield func(uint32, []byte) bool) {
		for c := (cursor{b: b}); ; c.align() {
			kind, n := c.u32(), c.u32()
			body := c.take(int(n))
			if c.short || kind&0x80000000 == 0 && !yield(kind, body) {
				return
			}
		}
	}
}

// readInlinees reads u32 1 if files follow, then {u32 id, u32 file, u32 line [, u32 files, files × u32]}.
func (l *lines) readInlinees(b []byte) {
	c := cursor{b: b}
	more := c.u32() == 1
	for !c.short {
		e := inlinee{c.u32(), c.u32(), c.u32()}
		if more {
			c.take(int(min(c.u32(), 1<<28)) * 4)
		}
		if !c.short {
			l.inlinees = append(l.inlinees, e)
		}
	}
}

func (l *lines) inlinee(id uint32) (inlinee, bool) {
	i, ok := slices.BinarySearchFunc(l.inlinees, id, func(e inlinee, id uint32) int { return compareUint32(e.id, id) })
	if !ok {
		return inlinee{}, false
	}
	return l.inlinees[i], true
}

// lineAt returns the entry that an address belongs to, whose procedure p is, or nil: of the last block to start that
// covers it, and of the last of the stream among equals. Where functions were folded together, it is of the block of
// that procedure only.
func (m *module) lineAt(rva uint32, p *proc) (lineEntry, bool) {
	i := sort.Search(len(m.blocks), func(i int) bool { return m.blocks[i].start > rva }) - 1
	for ; i >= 0 && m.blocks[i].reach > rva; i-- {
		b := &m.blocks[i]
		if b.end <= rva {
			continue
		}
		if p != nil && p.folded && p.start == b.start {
			if m.pair(); b.owner != p.record {
				continue
			}
		}
		entries := b.entries()
		if n := sort.Search(len(entries), func(i int) bool { return entries[i].start > rva }); n > 0 {
			return entries[n-1], true
		}
	}
	return lineEntry{}, false
}

// entries decodes the lines of all files, by address; of several at one address the last stays.
func (b *lineBlock) entries() []lineEntry {
	if b.decoded != nil {
		return b.decoded
	}
	all := make([]lineEntry, 0, len(b.data)/8)
	for c := (cursor{b: b.data, at: 12}); ; {
		file, n, size := c.u32(), int64(c.u32()), int64(c.u32())
		body := c.take(int(size - 12))
		if c.short {
			break
		}
		n = min(n, int64(len(body))/8)
		for e := range slices.Chunk(body[:n*8], 8) {
			all = append(all, lineEntry{b.start + le.Uint32(e), le.Uint32(e[4:]) & 0xFFFFFF, file})
		}
	}
	byStart := func(a, b lineEntry) int { return cmp.Compare(a.start, b.start) }
	if !slices.IsSortedFunc(all, byStart) {
		slices.SortStableFunc(all, byStart)
	}
	kept := all[:0]
	for i, e := range all {
		if e.start >= b.start && (i+1 == len(all) || all[i+1].start != e.start) {
			kept = append(kept, e)
		}
	}
	b.decoded = kept
	return kept
}

// path returns the path of a file by its place in the checksums: u32 offset in /names, then bytes and kind of the sum.
func (l *lines) path(f *File, checksum uint32) []byte {
	if int64(checksum) > int64(len(l.checksums))-4 {
		return nil
	}
	return f.text(le.Uint32(l.checksums[checksum:]))
}

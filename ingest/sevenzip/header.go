package sevenzip

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"unicode/utf16"

	"heapdrift/ingest/evidence"
)

// The ids in a 7z header (7zFormat.txt of the LZMA SDK, "Property IDs").
const (
	idEnd           = 0x00
	idHeader        = 0x01
	idMainStreams   = 0x04
	idFiles         = 0x05
	idPackInfo      = 0x06
	idUnpackInfo    = 0x07
	idSubStreams    = 0x08
	idSize          = 0x09
	idCRC           = 0x0A
	idFolder        = 0x0B
	idUnpackSize    = 0x0C
	idNumUnpack     = 0x0D
	idEmptyStream   = 0x0E
	idEmptyFile     = 0x0F
	idNames         = 0x11
	idAttributes    = 0x15
	idEncodedHeader = 0x17
)

var (
	errHeaderCut    = errors.New("the archive's header is cut short")
	errHeaderClaims = errors.New("the archive's header contradicts itself")
)

// A header walks the header of a 7z: NUMBERs, bytes and bit vectors. It believes no count. The first error stays.
type header struct {
	b          []byte
	maxEntries uint64 // files, folders and streams that are taken
	err        error
}

func (h *header) fail(err error) {
	if h.err == nil {
		h.err = err
	}
	h.b = nil
}

// skip returns the next n bytes, or nil.
func (h *header) skip(n uint64) []byte {
	if n > uint64(len(h.b)) {
		h.fail(errHeaderCut)
		return nil
	}
	b := h.b[:n]
	h.b = h.b[n:]
	return b
}

func (h *header) id() byte {
	if b := h.skip(1); b != nil {
		return b[0]
	}
	return idEnd
}

func (h *header) want(id byte) {
	if h.id() != id {
		h.fail(errHeaderClaims)
	}
}

// number reads a NUMBER: as many further bytes as the first has leading ones, little-endian, below the rest of its
// bits.
func (h *header) number() uint64 {
	first := h.id()
	more := bits.LeadingZeros8(^first)
	var v uint64
	for i, b := range h.skip(uint64(more)) {
		v |= uint64(b) << (8 * i)
	}
	if more < 7 {
		v |= uint64(first&(1<<(8-more)-1)) << (8 * more)
	}
	return v
}

// count reads a NUMBER that is a count.
func (h *header) count(least, most uint64) uint64 {
	n := h.number()
	if h.err == nil && (n < least || n > most) {
		h.fail(errHeaderClaims)
	}
	if h.err != nil {
		return 0
	}
	return n
}

// numbers reads n NUMBERs. A NUMBER has a byte or more, so no more than the header has bytes are allocated.
func (h *header) numbers(n uint64) []uint64 {
	if n > uint64(len(h.b)) {
		h.fail(errHeaderCut)
		return nil
	}
	list := make([]uint64, n)
	for i := range list {
		list[i] = h.number()
	}
	return list
}

// bits reads a bit vector, whose first bit is the highest of its byte.
func (h *header) bits(n uint64) []bool {
	b := h.skip((n + 7) / 8)
	if b == nil {
		return make([]bool, min(n, h.maxEntries))
	}
	list := make([]bool, n)
	for i := range list {
		list[i] = b[i/8]&(0x80>>(i%8)) != 0
	}
	return list
}

// optionalBits reads a bit vector, for which one byte that is not 0 may stand where all bits are set.
func (h *header) optionalBits(n uint64) []bool {
	if all := h.id(); all == 0 {
		return h.bits(n)
	}
	list := make([]bool, n)
	for i := range list {
		list[i] = true
	}
	return list
}

// A checksum is a CRC-32 that an archive may have.
type checksum struct {
	value uint32
	known bool
}

// checksums reads n CRCs where id announces them, and the end behind them. Without them none is known.
func (h *header) checksums(id byte, n uint64) []checksum {
	list := make([]checksum, n)
	if id == idCRC {
		for i, known := range h.optionalBits(n) {
			if known {
				if b := h.skip(4); b != nil {
					list[i] = checksum{binary.LittleEndian.Uint32(b), true}
				}
			}
		}
		id = h.id()
	}
	if id != idEnd {
		h.fail(errHeaderClaims)
	}
	return list
}

// A listing is what a header says.
type listing struct {
	streams streams
	files   []File
	encoded bool // the header is itself packed, in the only folder of streams
}

// read reads a whole header.
func (h *header) read() (l listing, err error) {
	switch h.id() {
	case idEncodedHeader:
		l.encoded, l.streams = true, h.streams()
		if len(l.streams.folders) != 1 {
			h.fail(errHeaderClaims)
		}
		return l, h.err
	case idHeader:
	default:
		h.fail(errHeaderClaims)
	}
	id := h.id()
	if id == idMainStreams {
		l.streams = h.streams()
		id = h.id()
	}
	switch {
	case id == idFiles:
		l.files = h.files(&l.streams)
	case id != idEnd:
		h.fail(errHeaderClaims) // archive properties and additional streams, which no tool writes
	}
	return l, h.err
}

// files reads a FilesInfo. The files with content lie in the streams one behind the other.
func (h *header) files(s *streams) []File {
	n := h.number()
	if n > h.maxEntries && h.err == nil {
		h.fail(&evidence.Error{Code: evidence.CodeArchiveBomb,
			Message: fmt.Sprintf("the archive claims to hold %d files; at most %d are taken", n, h.maxEntries)})
	}
	if h.err != nil {
		return nil
	}
	files := make([]File, n)
	empty, notDirectory := make([]bool, n), []bool(nil) // the second has a bit for each file of the first
	for h.err == nil {
		id := h.id()
		if id == idEnd {
			break
		}
		p := header{b: h.skip(h.number()), maxEntries: h.maxEntries} // of the property
		switch id {
		case idEmptyStream:
			empty = p.bits(n)
		case idEmptyFile:
			notDirectory = p.bits(countTrue(empty))
		case idNames:
			p.names(files)
		case idAttributes:
			p.attributes(files)
		}
		if p.err != nil {
			h.fail(p.err)
		}
	}
	emptyFiles, content := 0, 0
	for i := range files {
		if empty[i] {
			isFile := emptyFiles < len(notDirectory) && notDirectory[emptyFiles]
			files[i].IsDir = files[i].IsDir || !isFile
			emptyFiles++
			continue
		}
		if content == len(s.files) {
			h.fail(errHeaderClaims)
			break
		}
		files[i].stream = s.files[content]
		content++
	}
	return files
}

func countTrue(list []bool) (n uint64) {
	for _, set := range list {
		if set {
			n++
		}
	}
	return n
}

// names reads a name for each file: UTF-16, ended by a zero.
func (h *header) names(files []File) {
	h.want(0) // external
	for i := range files {
		var units []uint16
		for {
			b := h.skip(2)
			if b == nil {
				return
			}
			unit := binary.LittleEndian.Uint16(b)
			if unit == 0 {
				break
			}
			units = append(units, unit)
		}
		files[i].Name = string(utf16.Decode(units))
	}
}

// attributes reads those of Windows. The upper half is the mode of Unix where any of the highest 4 bits is set.
func (h *header) attributes(files []File) {
	const directory, hasMode, modeKind, modeDirectory = 0x10, 0xF0000000, 0xF000, 0x4000
	known := h.optionalBits(uint64(len(files)))
	h.want(0) // external
	for i := range files {
		if !known[i] {
			continue
		}
		b := h.skip(4)
		if b == nil {
			return
		}
		a := binary.LittleEndian.Uint32(b)
		files[i].IsDir = a&directory != 0
		if a&hasMode != 0 {
			files[i].IsDir = a>>16&modeKind == modeDirectory
		}
	}
}

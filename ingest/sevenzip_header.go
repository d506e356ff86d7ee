package ingest

import (
	"errors"
	"fmt"
	"math/bits"

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
	idNames         = 0x11
	idEncodedHeader = 0x17
)

// Limits of what a 7z header may claim.
const (
	maxCoders     = 32 // of a folder, and their streams; as 7-Zip itself
	maxProperties = 64 // bytes of a coder's
)

var (
	errHeaderCut    = errors.New("the archive's header is cut short")
	errHeaderClaims = errors.New("the archive's header contradicts itself")
)

// A header7z walks the header of a 7z: NUMBERs, bytes and bit vectors. It believes no count, so that a decoder may be
// given the header afterwards which allocates what it claims. The first error stays.
type header7z struct {
	b   []byte
	err error
}

func (h *header7z) fail(err error) {
	if h.err == nil {
		h.err = err
	}
	h.b = nil
}

// skip returns the next n bytes, or nil.
func (h *header7z) skip(n uint64) []byte {
	if n > uint64(len(h.b)) {
		h.fail(errHeaderCut)
		return nil
	}
	b := h.b[:n]
	h.b = h.b[n:]
	return b
}

func (h *header7z) id() byte {
	if b := h.skip(1); b != nil {
		return b[0]
	}
	return idEnd
}

func (h *header7z) want(id byte) {
	if h.id() != id {
		h.fail(errHeaderClaims)
	}
}

// number reads a NUMBER: as many further bytes as the first has leading ones, little-endian, below the rest of its
// bits.
func (h *header7z) number() uint64 {
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
func (h *header7z) count(least, most uint64) uint64 {
	n := h.number()
	if h.err == nil && (n < least || n > most) {
		h.fail(errHeaderClaims)
	}
	if h.err != nil {
		return 0
	}
	return n
}

// check walks a header and says whether it is encoded: itself packed in a folder of the archive.
func (h *header7z) check() (encoded bool, err error) {
	switch h.id() {
	case idEncodedHeader:
		if folders := h.streams(); folders != 1 {
			h.fail(errHeaderClaims)
		}
		return true, h.err
	case idHeader:
	default:
		h.fail(errHeaderClaims)
	}
	id := h.id()
	if id == idMainStreams {
		h.streams()
		id = h.id()
	}
	if id == idFiles { // what follows this count is bounded by it
		if n := h.number(); n > maxEntries && h.err == nil {
			h.fail(&evidence.Error{Code: evidence.CodeArchiveBomb,
				Message: fmt.Sprintf("the archive claims to hold %d files; at most %d are taken", n, maxEntries)})
		}
	} else if id != idEnd {
		h.fail(errHeaderClaims) // archive properties and additional streams, which no tool writes
	}
	return false, h.err
}

// streams walks a StreamsInfo and returns the number of folders, each of which is unpacked as a whole.
func (h *header7z) streams() (folders uint64) {
	id := h.id()
	if id == idPackInfo {
		h.number() // position
		streams := h.count(1, maxEntries)
		id = h.id()
		if id == idSize {
			h.numbers(streams)
			id = h.id()
		}
		h.digests(id, streams)
		id = h.id()
	}
	if id == idUnpackInfo {
		folders = h.folders()
		id = h.id()
	}
	if id == idSubStreams {
		h.subStreams(folders)
		id = h.id()
	}
	if id != idEnd {
		h.fail(errHeaderClaims)
	}
	return folders
}

// digests walks the CRCs where id announces them, and the end behind them.
func (h *header7z) digests(id byte, n uint64) {
	if id == idCRC {
		defined := n
		if all := h.id(); all == 0 {
			defined = 0
			for i, b := range h.skip((n + 7) / 8) {
				if past := 8*uint64(i+1) - min(n, 8*uint64(i+1)); past > 0 {
					b &= 0xFF << past
				}
				defined += uint64(bits.OnesCount8(b))
			}
		}
		h.skip(4 * defined)
		id = h.id()
	}
	if id != idEnd {
		h.fail(errHeaderClaims)
	}
}

func (h *header7z) numbers(n uint64) {
	for range n {
		h.number()
	}
}

// folders walks an UnpackInfo.
func (h *header7z) folders() uint64 {
	h.want(idFolder)
	n := h.count(1, maxEntries)
	h.want(0) // external
	var sizes uint64
	for range n {
		sizes += h.folder()
	}
	h.want(idUnpackSize)
	h.numbers(sizes)
	h.digests(h.id(), n)
	return n
}

// folder walks a Folder and returns how many streams come out of its coders.
func (h *header7z) folder() (out uint64) {
	var in, dictionaries uint64
	for range h.count(1, maxCoders) {
		const complexCoder, hasProperties = 0x10, 0x20
		flags := h.id()
		method := h.skip(uint64(flags & 0x0F))
		i, o := uint64(1), uint64(1)
		if flags&complexCoder != 0 {
			i, o = h.count(1, maxCoders), h.count(1, maxCoders)
		}
		var properties []byte
		if flags&hasProperties != 0 {
			properties = h.skip(h.count(1, maxProperties))
		}
		if h.err != nil {
			return 0
		}
		memory, err := coder7z(string(method), properties)
		if err != nil {
			h.fail(err)
			return 0
		}
		in, out, dictionaries = in+i, out+o, dictionaries+memory
	}
	if h.err == nil && dictionaries > maxDictionary {
		h.fail(tooLarge7z(dictionaries))
	}
	if in < out || in > maxCoders {
		h.fail(errHeaderClaims)
		return 0
	}
	h.numbers(2 * (out - min(out, 1))) // bind pairs
	if packed := in - (out - min(out, 1)); packed > 1 {
		h.numbers(packed)
	}
	return out
}

// subStreams walks a SubStreamsInfo: how many files each folder holds.
func (h *header7z) subStreams(folders uint64) {
	id := h.id()
	files, sizes := folders, uint64(0)
	if id == idNumUnpack {
		files = 0
		for range folders {
			n := h.count(0, maxEntries)
			files += n
			sizes += n - min(n, 1)
		}
		id = h.id()
	}
	if files > maxEntries {
		h.fail(errHeaderClaims)
	}
	if id == idSize {
		h.numbers(sizes)
		id = h.id()
	}
	h.digests(id, files)
}

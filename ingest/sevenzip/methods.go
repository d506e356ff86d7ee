package sevenzip

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/flate"
	"github.com/stangelandcl/ppmd"
	"github.com/ulikunitz/xz/lzma"

	"heapdrift/ingest/evidence"
)

// maxDictionary is the memory that all coders of a folder are given together, in bytes: the largest dictionary that
// 7-Zip's presets choose.
const maxDictionary = 256 << 20

func tooLarge(dictionary uint64) error {
	return &evidence.Error{Code: evidence.CodeUnsupportedFormat,
		Message: fmt.Sprintf("the archive needs a dictionary of %d MB to unpack; at most %d MB are given", dictionary>>20,
			maxDictionary>>20), Do: "pack it with a smaller one (7z a -md=64m)"}
}

// A method is a way of packing.
type method struct {
	inputs uint64 // of its coder
	// unpacks says that the output may be many times the input. 7-Zip never puts one such method behind another: each
	// would multiply what a byte of the archive takes to unpack, and some bytes could take days without any output.
	unpacks bool
	memory  func(properties []byte) (bytes uint64, _ error) // nil: what it takes is fixed
	open    func(properties []byte, size uint64, in []io.Reader) (io.Reader, error)
}

// methods are those that are read, by their ids. Those of forks of 7-Zip are not among them.
var methods = map[string]method{
	"\x00":             {1, false, nil, openCopy},
	"\x03":             {1, false, deltaMemory, openDelta},
	"\x21":             {1, true, lzma2Memory, openLZMA2},
	"\x03\x01\x01":     {1, true, dictionaryAt1, openLZMA}, // lc/lp/pb, dictionary u32
	"\x03\x04\x01":     {1, true, dictionaryAt1, openPPMd}, // order, memory u32
	"\x04\x01\x08":     {1, true, nil, openDeflate},
	"\x04\x02\x02":     {1, true, nil, openBZip2},
	"\x03\x03\x01\x03": {1, false, nil, filtered(newX86)},
	"\x03\x03\x01\x1b": {4, false, nil, openBCJ2},
	"\x03\x03\x02\x05": {1, false, nil, filtered(newPPC)},
	"\x03\x03\x05\x01": {1, false, nil, filtered(newARM)},
	"\x03\x03\x08\x05": {1, false, nil, filtered(newSPARC)},
	"\x0a":             {1, false, nil, filtered(newARM64)},
	"\x06\xf1\x07\x01": {1, false, encrypted, nil}, // AES
}

// memoryOf says how many bytes of memory a coder asks for, or that it is not read.
func memoryOf(id string, properties []byte) (uint64, error) {
	m, known := methods[id]
	switch {
	case !known:
		return 0, &evidence.Error{Code: evidence.CodeUnsupportedFormat,
			Message: fmt.Sprintf("the archive is packed by a method that is not read (%x)", id),
			Do:      "pack it with 7-Zip's own settings, or as zip"}
	case m.memory == nil:
		return 0, nil
	}
	return m.memory(properties)
}

func dictionaryAt1(properties []byte) (uint64, error) {
	if len(properties) != 5 {
		return 0, errHeaderClaims
	}
	return uint64(binary.LittleEndian.Uint32(properties[1:])), nil
}

// lzma2Memory is 2 or 3 times a power of two (Lzma2Dec.c: LZMA2_DIC_SIZE_FROM_PROP).
func lzma2Memory(properties []byte) (uint64, error) {
	if len(properties) != 1 || properties[0] > 40 {
		return 0, errHeaderClaims
	}
	return (2 | uint64(properties[0]&1)) << (properties[0]/2 + 11), nil
}

// deltaMemory refuses properties that are not a distance, which is one more than its byte.
func deltaMemory(properties []byte) (uint64, error) {
	if len(properties) != 1 {
		return 0, errHeaderClaims
	}
	return 0, nil
}

func encrypted([]byte) (uint64, error) {
	return 0, &evidence.Error{Code: evidence.CodeUnsupportedFormat, Message: "the archive is packed with a password",
		Do: "pack it without one"}
}

func openCopy(_ []byte, _ uint64, in []io.Reader) (io.Reader, error) { return in[0], nil }

func openDeflate(_ []byte, _ uint64, in []io.Reader) (io.Reader, error) {
	return flate.NewReader(bufio.NewReader(in[0])), nil
}

func openBZip2(_ []byte, _ uint64, in []io.Reader) (io.Reader, error) {
	return bzip2.NewReader(bufio.NewReader(in[0])), nil
}

// openLZMA puts the header of an .lzma file in front: the properties, and the unpacked size u64.
func openLZMA(properties []byte, size uint64, in []io.Reader) (io.Reader, error) {
	head := binary.LittleEndian.AppendUint64(bytes.Clone(properties), size)
	return lzma.NewReader(bufio.NewReader(io.MultiReader(bytes.NewReader(head), in[0])))
}

func openLZMA2(properties []byte, _ uint64, in []io.Reader) (io.Reader, error) {
	dictionary, err := lzma2Memory(properties)
	if err != nil {
		return nil, err
	}
	return lzma.Reader2Config{DictCap: int(dictionary)}.NewReader2(bufio.NewReader(in[0]))
}

func openPPMd(properties []byte, size uint64, in []io.Reader) (io.Reader, error) {
	if size > math.MaxInt { // the library counts down an int
		return nil, errHeaderClaims
	}
	memory, err := dictionaryAt1(properties)
	if err != nil {
		return nil, err
	}
	r, err := ppmd.NewH7zReader(bufio.NewReader(in[0]), int(properties[0]), int(memory), int(size))
	if err != nil {
		return nil, err
	}
	return &r, nil
}

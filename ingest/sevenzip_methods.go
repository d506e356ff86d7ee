package ingest

import (
	"encoding/binary"
	"fmt"

	"heapdrift/ingest/evidence"
)

// maxDictionary is the memory that all coders of a folder are given together, in bytes: the largest dictionary that
// 7-Zip's presets choose.
const maxDictionary = 256 << 20

func tooLarge7z(dictionary uint64) error {
	return &evidence.Error{Code: evidence.CodeUnsupportedFormat,
		Message: fmt.Sprintf("the archive needs a dictionary of %d MB to unpack; at most %d MB are given", dictionary>>20,
			maxDictionary>>20), Do: "pack it with a smaller one (7z a -md=64m)"}
}

// methods7z are the coders that are read, by their ids, with the bytes of memory that their properties ask for. Those
// of forks of 7-Zip are not among them.
var methods7z = map[string]func(properties []byte) (uint64, error){
	"\x00":             nil,             // Copy
	"\x03":             delta7z,         // Delta
	"\x21":             lzma2Dictionary, // LZMA2
	"\x03\x01\x01":     dictionaryAt1,   // LZMA: lc/lp/pb, dictionary u32
	"\x03\x04\x01":     dictionaryAt1,   // PPMd: order, memory u32
	"\x04\x01\x08":     nil,             // Deflate
	"\x04\x02\x02":     nil,             // BZip2
	"\x03\x03\x01\x03": nil,             // BCJ x86
	"\x03\x03\x01\x1b": nil,             // BCJ2
	"\x03\x03\x02\x05": nil,             // PPC
	"\x03\x03\x05\x01": nil,             // ARM
	"\x03\x03\x08\x05": nil,             // SPARC
	"\x0a":             nil,             // ARM64
	"\x06\xf1\x07\x01": encrypted7z,     // AES
}

// coder7z says how many bytes of memory a coder asks for, or that it is not read.
func coder7z(method string, properties []byte) (uint64, error) {
	memory, known := methods7z[method]
	switch {
	case !known:
		return 0, &evidence.Error{Code: evidence.CodeUnsupportedFormat,
			Message: fmt.Sprintf("the archive is packed by a method that is not read (%x)", method),
			Do:      "pack it with 7-Zip's own settings, or as zip"}
	case memory == nil:
		return 0, nil
	}
	return memory(properties)
}

func dictionaryAt1(properties []byte) (uint64, error) {
	if len(properties) != 5 {
		return 0, errHeaderClaims
	}
	return uint64(binary.LittleEndian.Uint32(properties[1:])), nil
}

// lzma2Dictionary is 2 or 3 times a power of two (Lzma2Dec.c: LZMA2_DIC_SIZE_FROM_PROP).
func lzma2Dictionary(properties []byte) (uint64, error) {
	if len(properties) != 1 || properties[0] > 40 {
		return 0, errHeaderClaims
	}
	return (2 | uint64(properties[0]&1)) << (properties[0]/2 + 11), nil
}

// delta7z refuses a distance of 256, over which the decoder never ends.
func delta7z(properties []byte) (uint64, error) {
	if len(properties) != 1 || properties[0] == 0xFF {
		return 0, errHeaderClaims
	}
	return 0, nil
}

func encrypted7z([]byte) (uint64, error) {
	return 0, &evidence.Error{Code: evidence.CodeUnsupportedFormat, Message: "the archive is packed with a password",
		Do: "pack it without one"}
}

package etl

import (
	"fmt"

	"heapdrift/ingest/etl/xpress"
	"heapdrift/ingest/evidence"
)

// A decoder fills dst from a compressed buffer and returns how many bytes it made.
type decoder func(dst, src []byte) (int, error)

// Compression formats, the low half of State (0x2C) in the first buffer of a compressed file, as RtlDecompressBuffer
// numbers them. Only XPRESS was seen in real traces.
const (
	formatNone          = 0
	formatXPRESS        = 3
	formatXPRESSHuffman = 4
)

// decoderOf returns the decoder of a file whose first buffer has the given State.
func decoderOf(state uint32, mode LogFileMode, file string) (decoder, error) {
	switch format := state & 0xFFFF; {
	case mode&ModeCompressed == 0 || format == formatNone || format == formatXPRESS:
		return xpress.Decode, nil
	case format == formatXPRESSHuffman:
		return xpress.DecodeHuffman, nil
	default:
		return nil, &evidence.Error{Code: CodeUnsupported, File: file, Offset: 0x2C,
			Message: fmt.Sprintf("the trace is compressed in format %d, which is not supported", format),
			Do:      "merge it again without -compress (xperf -merge)"}
	}
}

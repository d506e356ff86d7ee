package cab

import (
	"errors"
	"io"

	"heapdrift/ingest/evidence"
)

const (
	blockMax  = 32 << 10        // bytes that a block unpacks to
	packedMax = blockMax + 6144 // bytes of data in a block; incompressible data grows by that at most
)

// A blockReader goes through the CFDATA of a folder.
type blockReader struct {
	c      *Reader
	at     int64
	left   int
	buffer []byte
}

// next returns the data of the next block, valid until the next call, and the bytes that it unpacks to. At the folder's
// end it returns io.EOF.
func (b *blockReader) next() (data []byte, size int, err error) {
	if b.left == 0 {
		return nil, 0, io.EOF
	}
	head := 8 + int(b.c.dataGap)
	if b.buffer == nil {
		b.buffer = make([]byte, head+packedMax)
	}
	if err := b.read(b.buffer[:head], b.at); err != nil {
		return nil, 0, err
	}
	packed := int(le.Uint16(b.buffer[4:]))
	size = int(le.Uint16(b.buffer[6:]))
	switch {
	case size == 0 && b.left == 1 && b.c.flags&flagNext != 0:
		return nil, 0, fail(CodeMultiCabinet, b.at,
			"the block goes on in the next cabinet of its set; join the set with expand.exe or extract.exe")
	case packed > packedMax || size == 0 || size > blockMax:
		return nil, 0, fail(CodeBadData, b.at, "the block claims %d bytes that unpack to %d; at most %d and %d are possible",
			packed, size, packedMax, blockMax)
	}
	block := b.buffer[:head+packed]
	if err := b.read(block[head:], b.at+int64(head)); err != nil {
		return nil, 0, err
	}
	if want := le.Uint32(block); want != 0 && !checks(block, head, want) {
		return nil, 0, fail(CodeBadChecksum, b.at, "the block's checksum is wrong: the cabinet is damaged; fetch it again")
	}
	b.at += int64(len(block))
	b.left--
	return block[head:], size, nil
}

func (b *blockReader) read(p []byte, at int64) error {
	if at+int64(len(p)) > b.c.size {
		return fail(CodeTruncated, b.c.size, "the cabinet ends inside the block at %#x", b.at)
	}
	if n, err := b.c.r.ReadAt(p, at); n < len(p) {
		if errors.Is(err, io.EOF) {
			return fail(CodeTruncated, at+int64(n), "the cabinet ends inside the block at %#x", b.at)
		}
		return &evidence.Error{Code: CodeReadFailed, Offset: at, Message: "the cabinet cannot be read", Err: err}
	}
	return nil
}

// checks verifies a block's checksum: of the data, then of what follows csum in the header. Reserved bytes belong to
// the header by [MS-CAB] 3.1; there are writers that leave them out.
func checks(block []byte, head int, want uint32) bool {
	data := checksum(block[head:], 0)
	return checksum(block[4:head], data) == want || checksum(block[4:8], data) == want
}

// checksum is CSUMCompute of [MS-CAB] 3.1: the exclusive or of 32-bit words; the last one to three bytes count as a
// word with the first of them highest.
func checksum(b []byte, sum uint32) uint32 {
	for ; len(b) >= 4; b = b[4:] {
		sum ^= le.Uint32(b)
	}
	var last uint32
	for _, c := range b {
		last = last<<8 | uint32(c)
	}
	return sum ^ last
}

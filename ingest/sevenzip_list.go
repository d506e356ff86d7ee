package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/bodgit/sevenzip"

	"heapdrift/ingest/evidence"
)

// SignatureHeader of a 7z, 32 bytes (7zFormat.txt): signature 0, version 6, CRC of the rest 8 u32, then of the header
// its offset from here 0xC u64, size 0x14 u64 and CRC 0x1C u32.
const (
	signature7z     = "7z\xbc\xaf\x27\x1c"
	signatureSize7z = 32
	maxHeader7z     = 16 << 20 // bytes
)

// list7z lists the files of a 7z. The library that unpacks believes what a header claims, so the header is read and
// checked first, where it is packed too, and the library is given the archive with the checked header behind it.
func list7z(src io.ReaderAt, size int64) ([]*sevenzip.File, error) {
	header, err := header7zOf(src, size)
	if err != nil || header == nil {
		return nil, err
	}
	encoded, err := (&header7z{b: header}).check()
	if err != nil {
		return nil, err
	}
	if encoded {
		if header, err = decodeHeader7z(src, size, header); err != nil {
			return nil, err
		}
		if encoded, err = (&header7z{b: header}).check(); err != nil {
			return nil, err
		}
		if encoded {
			return nil, errHeaderClaims
		}
	}
	return open7zWith(src, size, header)
}

// header7zOf reads the header; nil for an archive of nothing.
func header7zOf(src io.ReaderAt, size int64) ([]byte, error) {
	var start [signatureSize7z]byte
	if size < signatureSize7z {
		return nil, errHeaderCut
	}
	if _, err := src.ReadAt(start[:], 0); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	if crc32.ChecksumIEEE(start[0xC:]) != le.Uint32(start[8:]) {
		return nil, errors.New("the checksum of the archive's first 32 bytes is wrong")
	}
	offset, length := le.Uint64(start[0xC:]), le.Uint64(start[0x14:])
	room := uint64(size) - signatureSize7z
	switch {
	case length == 0:
		return nil, nil
	case offset > room || length > room-offset:
		return nil, fmt.Errorf("its header is said to end at %d and it has %d bytes: it is cut short, or the first of several volumes", offset+length+signatureSize7z, size)
	case length > maxHeader7z:
		return nil, &evidence.Error{Code: evidence.CodeArchiveBomb,
			Message: fmt.Sprintf("the archive's header has %d bytes; at most %d are read", length, maxHeader7z)}
	}
	header := make([]byte, length)
	if n, err := src.ReadAt(header, int64(offset)+signatureSize7z); n < len(header) {
		return nil, err
	}
	if crc32.ChecksumIEEE(header) != le.Uint32(start[0x1C:]) {
		return nil, errors.New("the checksum of the archive's header is wrong")
	}
	return header, nil
}

// decodeHeader7z unpacks a header that is packed, by listing an archive in which it is a file.
func decodeHeader7z(src io.ReaderAt, size int64, encoded []byte) ([]byte, error) {
	wrapped := []byte{idHeader, idMainStreams}
	wrapped = append(wrapped, encoded[1:]...)
	wrapped = append(wrapped, idFiles, 1, idNames, 5, 0, 'h', 0, 0, 0, idEnd, idEnd)
	files, err := open7zWith(src, size, wrapped)
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		return nil, errHeaderClaims
	}
	r, err := openFile7z(files[0])
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	header, err := io.ReadAll(io.LimitReader(r, maxHeader7z+1))
	if len(header) > maxHeader7z {
		return nil, &evidence.Error{Code: evidence.CodeArchiveBomb,
			Message: fmt.Sprintf("the archive's header unpacks to more than %d bytes", maxHeader7z)}
	}
	return header, err
}

// open7zWith lists the files of an archive by a header that is not its own.
func open7zWith(src io.ReaderAt, size int64, header []byte) (files []*sevenzip.File, err error) {
	start := make([]byte, signatureSize7z)
	copy(start, signature7z)
	le := binary.LittleEndian
	start[7] = 4                                            // version 0.4
	le.PutUint64(start[0xC:], uint64(size-signatureSize7z)) // behind the first 32 bytes
	le.PutUint64(start[0x14:], uint64(len(header)))
	le.PutUint32(start[0x1C:], crc32.ChecksumIEEE(header))
	le.PutUint32(start[8:], crc32.ChecksumIEEE(start[0xC:]))
	defer func() { err = notPanic(recover(), err) }()
	z, err := sevenzip.NewReader(&splicedSource{start, src, size, header}, size+int64(len(header)))
	if err != nil {
		return nil, err
	}
	return z.File, nil
}

// splicedSource is a source whose beginning is replaced and to whose end a tail is added.
type splicedSource struct {
	start []byte
	src   io.ReaderAt
	size  int64
	tail  []byte
}

func (s *splicedSource) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, errHeaderClaims
	}
	if off < int64(len(s.start)) {
		n = copy(p, s.start[off:])
	}
	if at := off + int64(n); n < len(p) && at < s.size {
		m, err := s.src.ReadAt(p[n:min(int64(len(p)), int64(n)+s.size-at)], at)
		n += m
		if err != nil && !errors.Is(err, io.EOF) {
			return n, err
		}
	}
	if at := off + int64(n); n < len(p) && at >= s.size {
		m, err := bytes.NewReader(s.tail).ReadAt(p[n:], at-s.size)
		return n + m, err
	}
	if n < len(p) {
		return n, io.ErrUnexpectedEOF
	}
	return n, nil
}

// notPanic turns what was recovered from a panic of the library, over what an archive says, into an error.
func notPanic(panicked any, err error) error {
	if panicked != nil {
		return fmt.Errorf("it cannot be decoded: %v", panicked)
	}
	return err
}

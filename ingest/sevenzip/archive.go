// Package sevenzip reads 7z archives that are packed by methods of 7-Zip itself, without a password. It believes no
// count or size of an archive, and bounds the memory that the archive asks for.
//
//	signature header 32 bytes | packed streams | header: folders, files
//
// A folder is a number of packed streams, and of coders that make one stream of them; files lie in it one behind the
// other. The header may be packed itself. The layout is that of 7zFormat.txt of the LZMA SDK, which is in the public
// domain, as are the filters (filters.go, bcj2.go).
package sevenzip

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"heapdrift/ingest/evidence"
)

// Signature is what a 7z begins with.
const Signature = "7z\xbc\xaf\x27\x1c"

// SignatureHeader of a 7z, 32 bytes (7zFormat.txt): signature 0, version 6, CRC of the rest 8 u32, then of the header
// its offset from here 0xC u64, size 0x14 u64 and CRC 0x1C u32.
const (
	signatureSize = 32
	maxHeader     = 16 << 20 // bytes
)

// A File is a file or directory of an archive.
type File struct {
	Name   string // as the archive has it; "" where it has none
	IsDir  bool
	stream stream
}

// Size is the number of bytes of the file's content.
func (f *File) Size() uint64 { return f.stream.size }

// Folder is the number of the folder that the content lies in. Behind damage a folder cannot be read.
func (f *File) Folder() int { return f.stream.folder }

// An Archive is a 7z. One file of it can be read at a time.
type Archive struct {
	Files []File // in the order of their content

	src     io.ReaderAt
	size    int64 // bytes of src
	folders []folder
	open    *folderReader
}

// Open reads the header of an archive of size bytes. It refuses an archive of more than maxFiles files; the error is an
// *evidence.Error where it is one for users.
func Open(src io.ReaderAt, size int64, maxFiles uint64) (*Archive, error) {
	a := &Archive{src: src, size: size}
	b, err := a.header()
	if err != nil || b == nil {
		return a, err
	}
	l, err := (&header{b: b, maxEntries: maxFiles}).read()
	if err != nil {
		return nil, err
	}
	if l.encoded {
		if b, err = a.unpackHeader(&l.streams.folders[0]); err != nil {
			return nil, err
		}
		if l, err = (&header{b: b, maxEntries: maxFiles}).read(); err != nil {
			return nil, err
		}
		if l.encoded {
			return nil, errHeaderClaims
		}
	}
	a.folders, a.Files = l.streams.folders, l.files
	return a, nil
}

// header is the header as it lies in the archive; nil for an archive of nothing.
func (a *Archive) header() ([]byte, error) {
	var start [signatureSize]byte
	if a.size < signatureSize {
		return nil, errHeaderCut
	}
	if _, err := a.src.ReadAt(start[:], 0); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	if crc32.ChecksumIEEE(start[0xC:]) != le.Uint32(start[8:]) {
		return nil, errors.New("the checksum of the archive's first 32 bytes is wrong")
	}
	offset, length := le.Uint64(start[0xC:]), le.Uint64(start[0x14:])
	room := uint64(a.size) - signatureSize
	switch {
	case length == 0:
		return nil, nil
	case offset > room || length > room-offset:
		return nil, fmt.Errorf("its header is said to end at %d and it has %d bytes: it is cut short, or the first of several volumes", offset+length+signatureSize, a.size)
	case length > maxHeader:
		return nil, &evidence.Error{Code: evidence.CodeArchiveBomb,
			Message: fmt.Sprintf("the archive's header has %d bytes; at most %d are read", length, maxHeader)}
	}
	b := make([]byte, length)
	if n, err := a.src.ReadAt(b, int64(offset)+signatureSize); n < len(b) {
		return nil, err
	}
	if crc32.ChecksumIEEE(b) != le.Uint32(start[0x1C:]) {
		return nil, errors.New("the checksum of the archive's header is wrong")
	}
	return b, nil
}

// unpackHeader unpacks a header that is the content of a folder.
func (a *Archive) unpackHeader(f *folder) (b []byte, err error) {
	defer func() { err = notPanic(recover(), err) }()
	if f.size() > maxHeader {
		return nil, &evidence.Error{Code: evidence.CodeArchiveBomb,
			Message: fmt.Sprintf("the archive's header unpacks to more than %d bytes", maxHeader)}
	}
	r, err := a.folder(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(newChecked(r, f.size(), f.sum))
}

// Content opens file number i of Files; it ends with an error where size or checksum are wrong. The file that
// was opened before it cannot be read further. Files of a folder that are opened in their order unpack it once.
func (a *Archive) Content(i int) (_ io.Reader, err error) {
	defer func() { err = notPanic(recover(), err) }()
	s := &a.Files[i].stream
	if !s.packed {
		return newChecked(eof{}, 0, checksum{}), nil
	}
	if a.open == nil || a.open.number != s.folder || a.open.at > s.offset {
		r, err := a.folder(&a.folders[s.folder])
		if err != nil {
			return nil, err
		}
		a.open = &folderReader{r: r, number: s.folder}
	}
	if _, err := io.CopyN(io.Discard, a.open, int64(s.offset-a.open.at)); err != nil {
		a.open = nil
		return nil, damage(err)
	}
	return newChecked(a.open, s.size, s.sum), nil
}

// A folderReader is what comes out of a folder.
type folderReader struct {
	r      io.Reader
	number int
	at     uint64 // bytes read
}

func (f *folderReader) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	f.at += uint64(n)
	return n, err
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// damage is err, for content that may not end where it does.
func damage(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A checked reader gives a number of bytes, and checks them for their number, their checksum, and that reading goes
// forward at all.
type checked struct {
	r    io.Reader
	left uint64
	want checksum
	sum  hash.Hash32
	idle int
}

func newChecked(r io.Reader, size uint64, want checksum) *checked {
	return &checked{r: r, left: size, want: want, sum: crc32.NewIEEE()}
}

func (c *checked) Read(p []byte) (n int, err error) {
	defer func() { err = notPanic(recover(), err) }()
	if c.left == 0 {
		if c.want.known && c.sum.Sum32() != c.want.value {
			return 0, errors.New("its checksum is wrong")
		}
		return 0, io.EOF
	}
	n, err = c.r.Read(p[:min(uint64(len(p)), c.left)])
	_, _ = c.sum.Write(p[:n])
	c.left -= uint64(n)
	switch {
	case n > 0:
		c.idle = 0
	case err == nil && len(p) > 0:
		if c.idle++; c.idle > 100 {
			return 0, io.ErrNoProgress
		}
	}
	if errors.Is(err, io.EOF) {
		if err = nil; c.left > 0 {
			err = io.ErrUnexpectedEOF
		}
	}
	return n, err
}

// notPanic turns what was recovered from a panic of a decoder, over what an archive says, into an error.
func notPanic(panicked any, err error) error {
	if panicked != nil {
		return fmt.Errorf("it cannot be decoded: %v", panicked)
	}
	return err
}

package cab

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"time"

	"heapdrift/ingest/evidence"
)

var le = binary.LittleEndian

// A Reader is an open cabinet.
type Reader struct {
	r       io.ReaderAt
	size    int64
	flags   uint16
	dataGap int64 // reserved bytes of each CFDATA
	folders []folder
	files   []File
}

// A folder is a CFFOLDER.
type folder struct {
	data   int64 // offset of the first CFDATA
	blocks int
	method uint16
}

// Attributes of a file, as MS-DOS has them.
const (
	AttributeReadOnly = 0x01
	AttributeHidden   = 0x02
	AttributeSystem   = 0x04
	AttributeArchive  = 0x20
	AttributeExecute  = 0x40 // run after unpacking
	AttributeNameUTF8 = 0x80 // the name is UTF-8
)

// A File is a file in a cabinet.
type File struct {
	Name       string    // as it is stored: it may have folders and backslashes, and must not be trusted as a path
	Size       int64     // in bytes, unpacked; a claim until the file has been read to its end
	Modified   time.Time // local time of the machine that made the cabinet, marked as UTC; zero where invalid
	Attributes uint16    // of the Attribute constants

	reader *Reader
	folder uint16
	offset int64 // in the unpacked folder
	entry  int64 // offset of the CFFILE, for errors
}

const (
	flagPrevious = 1
	flagNext     = 2
	flagReserved = 4

	nameMax = 1024 // [MS-CAB] allows 256; UTF-8 makes more of them
)

// Open reads the directory of a cabinet of size bytes. Unpacking happens when a file is read.
func Open(r io.ReaderAt, size int64) (*Reader, error) {
	c := &Reader{r: r, size: size}
	d := c.cursor(0)
	magic := d.bytes(4)
	if d.err == nil && string(magic) != "MSCF" || isTruncated(d.err) {
		return nil, fail(CodeNotCabinet, 0, "this is no cabinet: it does not begin with MSCF")
	}
	d.bytes(12) // reserved, cbCabinet, reserved
	files := int64(d.u32())
	d.bytes(5) // reserved, minor version
	major := d.u8()
	folders, n := int(d.u16()), int(d.u16())
	c.flags = d.u16()
	d.bytes(4) // setID, iCabinet
	folderGap := 0
	if c.flags&flagReserved != 0 {
		header := int(d.u16())
		folderGap, c.dataGap = int(d.u8()), int64(d.u8())
		d.bytes(header)
	}
	for _, flag := range []uint16{flagPrevious, flagNext} {
		if c.flags&flag != 0 {
			d.text() // cabinet
			d.text() // disk
		}
	}
	if d.err == nil && major != 1 {
		return nil, fail(CodeBadHeader, 25, "cabinets of version %d are not known; 1 is", major)
	}
	for range folders {
		f := folder{data: int64(d.u32()), blocks: int(d.u16()), method: d.u16()}
		d.bytes(folderGap)
		if d.err != nil {
			return nil, d.err
		}
		c.folders = append(c.folders, f)
	}
	if d.err != nil {
		return nil, d.err
	}
	d = c.cursor(files)
	for range n {
		f := d.file(c)
		if d.err != nil {
			return nil, d.err
		}
		c.files = append(c.files, f)
	}
	return c, nil
}

// Files returns the cabinet's files in its order.
func (c *Reader) Files() []File { return c.files }

// A cursor reads fields one after the other. Its first error stays, and everything after it reads as zero.
type cursor struct {
	in     *bufio.Reader
	at     int64
	size   int64
	err    error
	buffer [64]byte
}

func (c *Reader) cursor(at int64) *cursor {
	return &cursor{in: bufio.NewReader(io.NewSectionReader(c.r, at, max(0, c.size-at))), at: at, size: c.size}
}

func isTruncated(err error) bool {
	var e *evidence.Error
	return errors.As(err, &e) && e.Code == CodeTruncated
}

// bytes returns the next n bytes, valid until the next call; of more than 64 it only skips.
func (d *cursor) bytes(n int) []byte {
	b := d.buffer[:min(n, len(d.buffer))]
	clear(b)
	if d.err != nil {
		return b
	}
	var err error
	if n > len(b) {
		_, err = d.in.Discard(n)
	} else {
		_, err = io.ReadFull(d.in, b)
	}
	if err != nil {
		d.failed(err)
		clear(b)
		return b
	}
	d.at += int64(n)
	return b
}

func (d *cursor) failed(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		d.err = fail(CodeTruncated, min(d.at, d.size), "the cabinet ends inside its directory")
	} else {
		d.err = &evidence.Error{Code: CodeReadFailed, Offset: d.at, Message: "the cabinet cannot be read", Err: err}
	}
}

func (d *cursor) u8() uint8   { return d.bytes(1)[0] }
func (d *cursor) u16() uint16 { return le.Uint16(d.bytes(2)) }
func (d *cursor) u32() uint32 { return le.Uint32(d.bytes(4)) }

// text returns the next string.
func (d *cursor) text() []byte {
	var s []byte
	for d.err == nil {
		b, err := d.in.ReadByte()
		switch {
		case err != nil:
			d.failed(err)
		case b == 0:
			d.at += int64(len(s)) + 1
			return s
		case len(s) == nameMax:
			d.err = fail(CodeBadHeader, d.at, "a name in the directory is longer than %d bytes", nameMax)
		}
		s = append(s, b)
	}
	return nil
}

func (d *cursor) file(c *Reader) File {
	f := File{reader: c, entry: d.at}
	f.Size, f.offset = int64(d.u32()), int64(d.u32())
	f.folder = d.u16()
	date, clock := d.u16(), d.u16()
	f.Attributes = d.u16()
	f.Modified = modified(date, clock)
	name := d.text()
	if f.Attributes&AttributeNameUTF8 != 0 {
		f.Name = string(name)
	} else {
		f.Name = latin(name)
	}
	return f
}

// latin reads a name whose code page is not said: bytes above ASCII as Latin-1.
func latin(name []byte) string {
	runes := make([]rune, len(name))
	for i, b := range name {
		runes[i] = rune(b)
	}
	return string(runes)
}

// modified takes apart a date of MS-DOS (year from 1980:7, month:4, day:5) and a time (hour:5, minute:6, seconds/2:5).
func modified(date, clock uint16) time.Time {
	month, day := time.Month(date>>5&15), int(date&31)
	t := time.Date(1980+int(date>>9), month, day, int(clock>>11), int(clock>>5&63), int(clock&31)*2, 0, time.UTC)
	if t.Month() != month || t.Day() != day {
		return time.Time{}
	}
	return t
}

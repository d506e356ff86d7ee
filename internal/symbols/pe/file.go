package pe

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"sync"

	"heapdrift/ingest/evidence"
)

// A File is an open image.
type File struct {
	r       io.ReaderAt
	size    int64
	info    Info
	headers uint32 // SizeOfHeaders: up to here RVA and offset are the same
	flat    bool   // SectionAlignment below a page: the loader maps the file as it is
	dirs    [16]directory

	mu      sync.Mutex // guards what is read when it is first asked for
	exports *exportTable
	unwind  *unwindTable
}

// A directory is an entry of the optional header's table.
type directory struct{ rva, size uint32 }

// IMAGE_DIRECTORY_ENTRY_*
const (
	dirExport     = 0
	dirException  = 3
	dirDebug      = 6
	dirLoadConfig = 10
	dirCLR        = 14
)

var le = binary.LittleEndian

// Open reads the headers of an image of size bytes.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, size: size}
	dos, err := f.readSome(0, 0x40)
	switch {
	case err != nil:
		return nil, err
	case len(dos) < 2 || dos[0] != 'M' || dos[1] != 'Z':
		return nil, fail(CodeNotPE, 0, "this is no Windows image: it does not begin with MZ")
	case len(dos) < 0x40:
		return nil, fail(CodeTruncated, size, "the file ends inside the MS-DOS header")
	}
	at := int64(le.Uint32(dos[0x3C:]))
	head, err := f.readSome(at, 24)
	switch {
	case err != nil:
		return nil, err
	case len(head) < 4 && at < size:
		return nil, fail(CodeTruncated, size, "the file ends where the PE signature should be")
	case len(head) < 4 || !bytes.Equal(head[:4], []byte("PE\x00\x00")):
		return nil, fail(CodeNotPE, min(at, size), "this is an MS-DOS or 16-bit program: there is no PE signature")
	case len(head) < 24:
		return nil, fail(CodeTruncated, size, "the file ends inside the file header")
	}
	f.info.Machine = le.Uint16(head[4:])
	f.info.Timestamp = le.Uint32(head[8:])
	f.info.IsDLL = le.Uint16(head[22:])&0x2000 != 0 // IMAGE_FILE_DLL
	optional := at + 24
	if err := f.readOptional(optional); err != nil {
		return nil, err
	}
	if err := f.readSections(optional+int64(le.Uint16(head[20:])), int(le.Uint16(head[6:]))); err != nil {
		return nil, err
	}
	f.info.Managed = f.dirs[dirCLR].rva != 0
	f.info.Hybrid = f.hybrid()
	return f, nil
}

// Info returns what the headers say. The caller must not change Sections.
func (f *File) Info() Info { return f.info }

func (f *File) readOptional(at int64) error {
	b, err := f.readSome(at, 112+16*8)
	if err != nil {
		return err
	}
	if len(b) < 2 {
		return fail(CodeTruncated, f.size, "the file ends before the optional header")
	}
	fixed := 96
	switch magic := le.Uint16(b); magic {
	case 0x10B:
		f.info.Bits = 32
	case 0x20B:
		f.info.Bits, fixed = 64, 112
	default:
		return fail(CodeBadHeader, at, "the optional header's magic is %#x, neither PE32 (0x10b) nor PE32+ (0x20b)", magic)
	}
	if len(b) < fixed {
		return fail(CodeTruncated, f.size, "the file ends inside the optional header")
	}
	f.info.EntryPoint = le.Uint32(b[16:])
	if f.info.Bits == 64 {
		f.info.ImageBase = le.Uint64(b[24:])
	} else {
		f.info.ImageBase = uint64(le.Uint32(b[28:]))
	}
	f.flat = le.Uint32(b[32:]) < 0x1000
	f.info.SizeOfImage = le.Uint32(b[56:])
	f.headers = le.Uint32(b[60:])
	f.info.Checksum = le.Uint32(b[64:])
	table := b[fixed:]
	for i := range min(uint32(len(table)/8), le.Uint32(b[fixed-4:]), 16) {
		f.dirs[i] = directory{le.Uint32(table[i*8:]), le.Uint32(table[i*8+4:])}
	}
	return nil
}

// sectionsMax is far above what Windows loads (96), and keeps looking for an RVA's section cheap.
const sectionsMax = 4096

func (f *File) readSections(at int64, n int) error {
	if n > sectionsMax {
		return fail(CodeBadHeader, at, "the image has %d sections; Windows loads 96", n)
	}
	b, err := f.readSome(at, int64(n)*40)
	if err != nil {
		return err
	}
	if len(b) < n*40 {
		return fail(CodeTruncated, f.size, "the file ends inside the section table: %d sections of %d are there",
			len(b)/40, n)
	}
	f.info.Sections = make([]Section, n)
	for i := range f.info.Sections {
		h := b[i*40:]
		name, _, _ := strings.Cut(string(h[:8]), "\x00")
		f.info.Sections[i] = Section{
			Name: name, Size: le.Uint32(h[8:]), RVA: le.Uint32(h[12:]),
			RawSize: le.Uint32(h[16:]), Offset: le.Uint32(h[20:]), Characteristics: le.Uint32(h[36:]),
		}
	}
	return nil
}

// hybrid tells whether the image holds ARM64EC code: its load configuration has CHPEMetadataPointer (offset 0xC8 of
// IMAGE_LOAD_CONFIG_DIRECTORY64).
func (f *File) hybrid() bool {
	switch f.info.Machine {
	case MachineARM64EC, MachineARM64X:
		return true
	case MachineAMD64, MachineARM64:
	default:
		return false
	}
	const pointer = 0xC8
	rva := f.dirs[dirLoadConfig].rva
	if rva == 0 {
		return false
	}
	b, err := f.readRVA(rva, pointer+8)
	return err == nil && len(b) == pointer+8 && le.Uint32(b) >= pointer+8 && le.Uint64(b[pointer:]) != 0
}

// readSome returns n bytes at an offset of the file, fewer where it ends. The allocation is bounded by the file.
func (f *File) readSome(at, n int64) ([]byte, error) {
	if at < 0 || at >= f.size || n <= 0 {
		return nil, nil
	}
	b := make([]byte, min(n, f.size-at))
	got, err := f.r.ReadAt(b, at)
	if got < len(b) && err != nil && !errors.Is(err, io.EOF) {
		return nil, &evidence.Error{Code: CodeReadFailed, Offset: at, Message: "the image cannot be read", Err: err}
	}
	return b[:got], nil
}

package cab

import (
	"errors"
	"io"

	"heapdrift/ingest/evidence"
)

// Open begins to unpack the file. What lies before it in its folder is unpacked and thrown away by the first Read. The
// reader returns Size bytes or an error, and keeps at most one window (2 MiB) in memory, whatever the headers claim.
// Several files may be open at once.
func (f *File) Open() (io.ReadCloser, error) {
	c := f.reader
	if int(f.folder) >= len(c.folders) {
		if f.folder >= 0xFFFD {
			return nil, fail(CodeMultiCabinet, f.entry,
				"%q goes on in another cabinet of its set; join the set with expand.exe or extract.exe", f.Name)
		}
		return nil, fail(CodeBadHeader, f.entry, "%q is in folder %d, but there are %d", f.Name, f.folder, len(c.folders))
	}
	folder := c.folders[f.folder]
	blocks := &blockReader{c: c, at: folder.data, left: folder.blocks}
	var u unpacker
	switch folder.method & 15 {
	case 0:
		u = storedMethod{}
	case 1:
		u = newMSZIP()
	case 2:
		return nil, fail(CodeQuantum, f.entry,
			"%q is compressed with Quantum, which is not read here; repack it with makecab.exe", f.Name)
	case 3:
		bits := int(folder.method >> 8 & 31)
		if bits < 15 || bits > 21 {
			return nil, fail(CodeBadHeader, f.entry, "the LZX window of %q has %d bits; 15 to 21 are possible", f.Name, bits)
		}
		u = newLZX(bits)
	default:
		return nil, fail(CodeMethod, f.entry, "%q has the compression type %#x, which is not known", f.Name, folder.method)
	}
	return &fileReader{file: f, blocks: blocks, unpacker: u, skip: f.offset, left: f.Size}, nil
}

// An unpacker turns one block after the other into what it holds.
type unpacker interface {
	// unpack returns the size bytes that a block unpacks to, valid until the next call.
	unpack(data []byte, size int) ([]byte, error)
}

// storedMethod unpacks blocks that are stored uncompressed.
type storedMethod struct{}

func (storedMethod) unpack(data []byte, size int) ([]byte, error) {
	if len(data) != size {
		return nil, errors.New("a stored block has another size than it claims")
	}
	return data, nil
}

// A fileReader is an open file.
type fileReader struct {
	file     *File
	blocks   *blockReader
	unpacker unpacker
	skip     int64  // bytes of the folder that come before what is wanted
	left     int64  // bytes of the file that have not been returned
	ready    []byte // unpacked bytes that have not been returned
	err      error
}

func (r *fileReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for r.err == nil {
		switch n := int64(len(r.ready)); {
		case r.left == 0:
			r.err = io.EOF
		case n == 0:
			r.err = r.next()
		case r.skip > 0:
			n = min(n, r.skip)
			r.ready = r.ready[n:]
			r.skip -= n
		default:
			n = min(n, r.left, int64(len(p)))
			copy(p, r.ready[:n])
			r.ready = r.ready[n:]
			r.left -= n
			return int(n), nil
		}
	}
	return 0, r.err
}

// next unpacks the next block.
func (r *fileReader) next() error {
	at := r.blocks.at
	data, size, err := r.blocks.next()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return fail(CodeOutsideFolder, r.file.entry, "%q needs %d bytes more than its folder unpacks to",
				r.file.Name, r.skip+r.left)
		}
		return err
	}
	if r.ready, err = r.unpacker.unpack(data, size); err != nil {
		return &evidence.Error{Code: CodeBadData, Offset: at, Message: "the block does not unpack", Err: err}
	}
	return nil
}

// Close ends reading.
func (r *fileReader) Close() error {
	if r.err == nil || errors.Is(r.err, io.EOF) {
		r.err = errors.New("cab: the file is closed")
	}
	r.ready, r.unpacker = nil, nil
	return nil
}

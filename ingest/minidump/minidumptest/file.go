package minidumptest

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
)

// A File is a dump whose bytes are made when they are read, for dumps of large memory that is told in few words.
type File struct {
	pieces []piece // by place, without gaps between them
	size   int64
}

// A piece is size bytes at a place in the file; without bytes it is zeros.
type piece struct {
	at, size int64
	bytes    io.ReaderAt
}

// File is the dump, byte for byte as WriteTo writes it. What Memory refers to must stay as it is.
func (d Dump) File() *File {
	f := &File{}
	head, memory := d.head()
	f.add(int64(len(head)), bytes.NewReader(head))
	f.add(memory-f.size, nil)
	for _, m := range d.Memory {
		if m.Bytes != nil {
			f.add(int64(m.size()), bytes.NewReader(m.Bytes))
		} else {
			f.add(int64(m.size()), m.From)
		}
	}
	return f
}

func (f *File) add(size int64, from io.ReaderAt) {
	if size > 0 {
		f.pieces = append(f.pieces, piece{f.size, size, from})
		f.size += size
	}
}

// Size is how long the file is, in bytes.
func (f *File) Size() int64 { return f.size }

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(p []byte, at int64) (int, error) {
	n := 0
	first, _ := slices.BinarySearchFunc(f.pieces, at,
		func(c piece, at int64) int { return cmp.Compare(c.at+c.size-1, at) })
	for i := first; i < len(f.pieces) && n < len(p); i++ {
		c := &f.pieces[i]
		from := at + int64(n) - c.at
		part := p[n : n+int(min(int64(len(p)-n), c.size-from))]
		if c.bytes == nil {
			clear(part)
		} else if read, err := c.bytes.ReadAt(part, from); read < len(part) { // an end of file beside all bytes is no error
			return n + read, fmt.Errorf("minidumptest: %w", err)
		}
		n += len(part)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

package pdbtest

import (
	"bytes"
	"compress/flate"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// A Compression is how the chunks of an MSFZ file are compressed.
type Compression uint32

// The compressions of MSFZ.
const (
	Stored Compression = iota
	Zstd
	Deflate
)

// MSFZ returns the program as a compressed PDB with chunks of so many bytes before compression. Every other stream is
// cut in two, of which the first part is not in a chunk.
func (p *Program) MSFZ(method Compression, chunkBytes int) ([]byte, error) {
	plain, err := p.PDB()
	if err != nil {
		return nil, err
	}
	var header [48]byte // filled in at the end
	out := append([]byte("Microsoft MSFZ Container\r\n\x1aALD\x00\x00"), header[:]...)
	var packed, directory []byte
	streams := msfStreams(plain)
	for i, s := range streams {
		if s == nil {
			directory = le.AppendUint32(directory, 0xFFFFFFFF)
			continue
		}
		if i%2 == 1 && len(s) > 1 {
			n := len(s) / 2
			directory = le.AppendUint64(le.AppendUint32(directory, uint32(n)), uint64(len(out)))
			out, s = append(out, s[:n]...), s[n:]
		}
		if len(s) > 0 {
			place := 1<<63 | uint64(len(packed)/chunkBytes)<<32 | uint64(len(packed)%chunkBytes)
			directory = le.AppendUint64(le.AppendUint32(directory, uint32(len(s))), place)
			packed = append(packed, s...)
		}
		directory = le.AppendUint32(directory, 0)
	}
	var table []byte
	chunks := uint32(0)
	for ; len(packed) > 0; chunks++ {
		n := min(chunkBytes, len(packed))
		c, err := method.pack(packed[:n])
		if err != nil {
			return nil, err
		}
		table = le.AppendUint64(table, uint64(len(out)))
		for _, v := range []uint32{uint32(method), uint32(len(c)), uint32(n)} {
			table = le.AppendUint32(table, v)
		}
		out, packed = append(out, c...), packed[n:]
	}
	dir, err := method.pack(directory)
	if err != nil {
		return nil, err
	}
	le.PutUint64(out[40:], uint64(len(out)))
	out = append(out, dir...)
	le.PutUint64(out[48:], uint64(len(out)))
	out = append(out, table...)
	for i, v := range []uint32{uint32(len(streams)), uint32(method), uint32(len(dir)), uint32(len(directory)),
		chunks, uint32(len(table))} {
		le.PutUint32(out[56+4*i:], v)
	}
	return out, nil
}

func (c Compression) pack(b []byte) ([]byte, error) {
	switch c {
	case Stored:
		return b, nil
	case Zstd:
		z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer func() { _ = z.Close() }()
		return z.EncodeAll(b, nil), nil
	case Deflate:
		var out bytes.Buffer
		w, err := flate.NewWriter(&out, flate.DefaultCompression)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(b); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		return out.Bytes(), nil
	}
	return nil, fmt.Errorf("pdbtest: %d is no compression", c)
}

// msfStreams takes a PDB that this package wrote apart; a stream that is not there is nil.
func msfStreams(b []byte) [][]byte {
	page := int(le.Uint32(b[32:]))
	gather := func(list []byte, size int) []byte {
		out := []byte{}
		for i := 0; len(out) < size; i++ {
			at := int(le.Uint32(list[i*4:])) * page
			out = append(out, b[at:at+page]...)
		}
		return out[:size]
	}
	pages := func(size int) int { return (size + page - 1) / page }
	size := int(le.Uint32(b[44:]))
	list := b[int(le.Uint32(b[52:]))*page:] // the map is consecutive
	directory := gather(list, size)
	count := int(le.Uint32(directory))
	all, at := make([][]byte, count), 4+4*count
	for i := range all {
		size := le.Uint32(directory[4+4*i:])
		if size == 0xFFFFFFFF {
			continue
		}
		all[i] = gather(directory[at:], int(size))
		at += 4 * pages(int(size))
	}
	return all
}

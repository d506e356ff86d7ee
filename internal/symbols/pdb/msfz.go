package pdb

import (
	"cmp"
	"slices"
)

const magicMSFZ = "Microsoft MSFZ Container\r\n\x1aALD\x00\x00"

// An msfz is an MSFZ version 0 file, whose streams are made of fragments of the file or of compressed chunks:
//
//	field            offset  size  source: pdb-rs docs/msfz.md
//	magic            0       32
//	version          32      8     0
//	directory        40      8     offset in the file
//	chunk table      48      8     offset in the file
//	streams          56      4
//	compression      60      4     of the directory: 0 none, 1 zstd, 2 deflate
//	directory bytes  64      4     as stored
//	directory bytes  68      4     unpacked
//	chunks           72      4
//	chunk table      76      4     bytes
//
// Chunk: u64 offset in the file, u32 compression, u32 bytes as stored, u32 bytes unpacked. The unpacked chunks, one
// after the other, form one address space.
//
// Directory: per stream u32 0xFFFFFFFF (there is none), or fragments {u32 bytes, u64 place} up to bytes 0. Bit 63 of
// the place says where: 0, bits 0 to 47 are an offset in the file; 1, bits 32 to 62 are a chunk and bits 0 to 31 an
// offset in it.
type msfz struct {
	src    source
	chunks []chunk
	starts []int64 // of the chunks in their address space, and its end
	table  []msfzStream
	cache  chunkCache
}

type chunk struct {
	at             int64 // in the file
	compression    uint32
	stored, length uint32 // bytes
}

type fragment struct {
	start   int64 // in the stream
	length  int64
	chunked bool
	at      int64 // in the file, or in the chunks' address space
}

func openMSFZ(src source) (*msfz, error) {
	head, err := src.bytes(0, 80)
	if err != nil {
		return nil, err
	}
	if v := le.Uint64(head[32:]); v != 0 {
		return nil, fail(CodeUnsupported, -1, 32, "version %d of MSFZ is not read; convert the file to a plain PDB", v)
	}
	z := &msfz{src: src}
	z.cache.z = z
	chunks, tableBytes := int64(le.Uint32(head[72:])), int64(le.Uint32(head[76:]))
	if chunks*20 > tableBytes || tableBytes > src.size() {
		return nil, fail(CodeCorrupt, -1, 72, "%d chunks in a table of %d bytes", chunks, tableBytes)
	}
	table, err := src.bytes(clampOffset(le.Uint64(head[48:])), int(tableBytes))
	if err != nil {
		return nil, err
	}
	z.chunks, z.starts = make([]chunk, chunks), make([]int64, chunks+1)
	for i := range z.chunks {
		e := table[i*20:]
		c := chunk{clampOffset(le.Uint64(e)), le.Uint32(e[8:]), le.Uint32(e[12:]), le.Uint32(e[16:])}
		z.chunks[i], z.starts[i+1] = c, z.starts[i]+int64(c.length)
	}
	dir := chunk{clampOffset(le.Uint64(head[40:])), le.Uint32(head[60:]), le.Uint32(head[64:]), le.Uint32(head[68:])}
	b, err := unpack(src, dir)
	if err != nil {
		return nil, err
	}
	return z, z.directory(b, int64(le.Uint32(head[56:])))
}

// clampOffset keeps an offset that no file reaches from turning negative.
func clampOffset(v uint64) int64 { return int64(min(v, 1<<62)) }

func (z *msfz) directory(dir []byte, streams int64) error {
	if streams > int64(len(dir))/4 || streams > noStream {
		return fail(CodeCorrupt, -1, 56, "the directory of %d bytes cannot hold %d streams", len(dir), streams)
	}
	limit := z.src.size() + z.starts[len(z.chunks)] // no stream can be longer without holding something twice
	z.table = make([]msfzStream, streams)
	at := 0
	for i := range z.table {
		s := &z.table[i]
		s.z, s.at = z, i
		for {
			if len(dir)-at < 4 {
				return fail(CodeTruncated, i, 0, "the directory ends before the stream's fragments")
			}
			n := le.Uint32(dir[at:])
			at += 4
			if n == 0 || n == nilStream && len(s.fragments) == 0 {
				break
			}
			if len(dir)-at < 8 {
				return fail(CodeTruncated, i, 0, "the directory ends inside a fragment")
			}
			f, err := z.fragment(n, le.Uint64(dir[at:]))
			if err != nil {
				return err
			}
			at += 8
			f.start = s.length
			s.length += f.length
			s.fragments = append(s.fragments, f)
			if s.length > limit {
				return fail(CodeCorrupt, i, 0, "the stream is longer than the file")
			}
		}
	}
	return nil
}

func (z *msfz) fragment(n uint32, place uint64) (fragment, error) {
	f := fragment{length: int64(n), at: int64(place & (1<<48 - 1))}
	end := z.src.size()
	if place>>63 != 0 {
		c := place >> 32 & (1<<31 - 1)
		if c >= uint64(len(z.chunks)) {
			return f, fail(CodeCorrupt, -1, 0, "a fragment in chunk %d of %d", c, len(z.chunks))
		}
		f.chunked, f.at, end = true, z.starts[c]+int64(uint32(place)), z.starts[len(z.chunks)]
	}
	if f.at > end || f.length > end-f.at {
		return f, fail(CodeTruncated, -1, f.at, "a fragment of %d bytes ends behind what is there", n)
	}
	return f, nil
}

func (z *msfz) streams() int { return len(z.table) }

func (z *msfz) open(i int) (stream, error) {
	if i < 0 || i >= len(z.table) {
		return nil, fail(CodeCorrupt, i, 0, "there are only %d streams", len(z.table))
	}
	return &z.table[i], nil
}

type msfzStream struct {
	z         *msfz
	at        int
	length    int64
	fragments []fragment
}

func (s *msfzStream) number() int { return s.at }
func (s *msfzStream) size() int64 { return s.length }

// piece returns what lies at an offset: at most n bytes that follow in one chunk or in the file.
func (s *msfzStream) piece(off int64, n int) ([]byte, error) {
	i, _ := slices.BinarySearchFunc(s.fragments, off+1,
		func(f fragment, off int64) int { return cmp.Compare(f.start, off) })
	f := s.fragments[i-1]
	in := off - f.start
	n = int(min(int64(n), f.length-in))
	if !f.chunked {
		return s.z.src.bytes(f.at+in, n)
	}
	at := f.at + in
	c, _ := slices.BinarySearch(s.z.starts, at+1)
	b, err := s.z.cache.chunk(c - 1)
	if err != nil {
		return nil, err
	}
	in = at - s.z.starts[c-1]
	return b[in:min(in+int64(n), int64(len(b)))], nil
}

func (s *msfzStream) check(off int64, n int) error {
	if off < 0 || n < 0 || off > s.length || int64(n) > s.length-off {
		return fail(CodeTruncated, s.at, off, "the stream ends at %#x, %d bytes are needed here", s.length, n)
	}
	return nil
}

func (s *msfzStream) view(off int64, n int) ([]byte, error) {
	if err := s.check(off, n); err != nil || n == 0 {
		return nil, err
	}
	p, err := s.piece(off, n)
	if err != nil || len(p) == n {
		return p, err
	}
	all := slices.Clone(p) // grows with what is there: lengths of chunks are claims until they are unpacked
	for len(all) < n {
		if p, err = s.piece(off+int64(len(all)), n-len(all)); err != nil {
			return nil, err
		}
		all = append(all, p...)
	}
	return all, nil
}

func (s *msfzStream) read(off int64, p []byte) error {
	if err := s.check(off, len(p)); err != nil {
		return err
	}
	for len(p) > 0 {
		b, err := s.piece(off, len(p))
		if err != nil {
			return err
		}
		n := copy(p, b)
		p, off = p[n:], off+int64(n)
	}
	return nil
}

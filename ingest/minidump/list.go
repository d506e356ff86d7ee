package minidump

import "iter"

// A list is where the entries of a stream are.
type list struct {
	at     int64 // of the first
	stride int64 // from one to the next
	count  int64 // that are there
}

// head reads the beginning of a stream: n bytes, or fewer where stream or file end before. Fewer than least is a
// problem.
func (d *Dump) head(s Stream, n, least int64, p *problems) ([]byte, bool) {
	size := d.src.room(s.Offset, min(n, s.Size))
	if size < least {
		p.add(CodeTruncated, -1, s.Offset, 1, "the stream has %d bytes, its header needs %d", size, least)
		return nil, false
	}
	b := make([]byte, size)
	if err := d.src.read(b, s.Offset); err != nil {
		p.failed(s.Offset, err)
		return nil, false
	}
	return b, true
}

// plainList is a list of a count, u32, and entries of one size. Some writers put the entries on 8 bytes, which the size
// of the stream tells (Breakpad's, on machines that align; so do the stored dumps that LLVM tests with).
func (d *Dump) plainList(s Stream, stride, limit int64, p *problems) list {
	b, ok := d.head(s, 4, 4, p)
	if !ok {
		return list{}
	}
	claimed, from := int64(le.Uint32(b)), int64(4)
	if s.Size == 8+claimed*stride {
		from = 8
	}
	return d.bounded(s, from, stride, uint64(claimed), limit, p)
}

// sizedList is a list that begins with its own sizes: SizeOfHeader u32, SizeOfEntry u32, and how many, u32 or u64, at
// 8. Newer versions have longer headers and entries.
func (d *Dump) sizedList(s Stream, header, entry, limit int64, p *problems) list {
	b, ok := d.head(s, header, header, p)
	if !ok {
		return list{}
	}
	from, stride, claimed := int64(le.Uint32(b)), int64(le.Uint32(b[4:])), uint64(le.Uint32(b[8:]))
	if s.Type == StreamMemoryInfoList {
		claimed = le.Uint64(b[8:])
	}
	if from < header || stride < entry || stride > maxEntry {
		p.add(CodeBadStream, -1, s.Offset, 1,
			"the list declares a header of %d and entries of %d bytes; they have at least %d and %d",
			from, stride, header, entry)
		return list{}
	}
	return d.bounded(s, from, stride, claimed, limit, p)
}

// bounded is a list with as many entries as its stream, the file and the limit have room for.
func (d *Dump) bounded(s Stream, from, stride int64, claimed uint64, limit int64, p *problems) list {
	l := list{at: s.Offset + from, stride: stride}
	whole := max(0, d.src.room(s.Offset, s.Size)-from) / stride
	l.count = whole
	if claimed <= uint64(whole) {
		l.count = int64(claimed)
	} else {
		p.add(CodeTruncated, whole, l.at+whole*stride, int64(min(claimed-uint64(whole), 1<<63-1)),
			"the list claims %d entries, and %d are there", claimed, whole)
	}
	if l.count > limit {
		p.add(CodeTooMany, limit, l.at+limit*stride, l.count-limit, "the list has %d entries; %d are read", l.count, limit)
		l.count = limit
	}
	return l
}

// entries yields the entries with their numbers; they are good until the next one.
func (d *Dump) entries(l list, p *problems) iter.Seq2[int64, []byte] {
	return func(yield func(int64, []byte) bool) {
		if l.count == 0 {
			return
		}
		batch := min(l.count, chunk/l.stride)
		buf := make([]byte, batch*l.stride)
		for first := int64(0); first < l.count; first += batch {
			b := buf[:min(batch, l.count-first)*l.stride]
			at := l.at + first*l.stride
			if err := d.src.read(b, at); err != nil {
				p.failed(at, err)
				return
			}
			for i := first; len(b) > 0; i, b = i+1, b[l.stride:] {
				if !yield(i, b[:l.stride:l.stride]) {
					return
				}
			}
		}
	}
}

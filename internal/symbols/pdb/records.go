package pdb

import (
	"context"
	"sort"
)

// records are the numbered records of TPI or IPI:
//
//	field         offset  size  source: microsoft-pdb tpi.h, HDR
//	version       0       4     20040203
//	header        4       4     bytes
//	first         8       4     number of the first record
//	end           12      4     number after the last
//	bytes         16      4     of the records, behind the header
//	hash stream   20      2
//	index         40      8     offset and bytes in the hash stream: {u32 number, u32 offset of the record}, about every 8 KiB
//
// Record: u16 bytes behind it, u16 kind, ….
type records struct {
	s          stream
	first, end uint32
	at, bytes  int64
	index      []byte
}

// indexEvery is how many records lie between two entries of an index that is made here.
const indexEvery = 256

const maxRecord = 2 + 0xFFFF // bytes of a record

func (f *File) openRecords(number int) (*records, error) {
	if number == streamIPI && !f.ids || number >= f.c.streams() {
		return &records{}, nil
	}
	s, err := f.c.open(number)
	if err != nil {
		return nil, err
	}
	if s.size() == 0 {
		return &records{}, nil
	}
	h, err := s.view(0, 56)
	if err != nil {
		return nil, err
	}
	r := &records{s: s, first: le.Uint32(h[8:]), end: le.Uint32(h[12:]), at: int64(le.Uint32(h[4:])),
		bytes: int64(le.Uint32(h[16:]))}
	if r.at < 56 || r.at > s.size() || r.bytes > s.size()-r.at || r.end < r.first || int64(r.end-r.first) > r.bytes/4 {
		return nil, fail(CodeCorrupt, number, 0, "%d bytes of records %#x to %#x at %#x of a stream of %d", r.bytes,
			r.first, r.end, r.at, s.size())
	}
	if hash := int(le.Uint16(h[20:])); hash != noStream && hash < f.c.streams() {
		hs, err := f.c.open(hash)
		if err != nil {
			return nil, err
		}
		if b, err := hs.view(int64(le.Uint32(h[40:])), int(le.Uint32(h[44:])&^7)); err == nil && r.indexed(b) {
			r.index = b
		}
	}
	if r.index == nil {
		return r, r.makeIndex()
	}
	return r, nil
}

// longestScan is how many bytes of records may lie between two entries of an index: those of a record and more.
const longestScan = 1 << 20

// indexed says whether an index is one, and close enough.
func (r *records) indexed(b []byte) bool {
	if len(b) < 8 || le.Uint32(b) != r.first || le.Uint32(b[4:]) != 0 {
		return false
	}
	for ; len(b) >= 16; b = b[8:] {
		number, at := le.Uint32(b), le.Uint32(b[4:])
		if le.Uint32(b[8:]) <= number || le.Uint32(b[12:]) <= at || le.Uint32(b[12:])-at > longestScan {
			return false
		}
	}
	return r.bytes-int64(le.Uint32(b[4:])) <= longestScan
}

func (r *records) makeIndex() error {
	err := r.scan(context.Background(), func(number uint32, offset int64, _ uint16, _ []byte) bool {
		if (number-r.first)%indexEvery == 0 {
			r.index = le.AppendUint32(r.index, number)
			r.index = le.AppendUint32(r.index, uint32(offset))
		}
		return true
	})
	return err
}

const scanBytes = 1 << 20 // that are looked at together

// scan yields number, offset, kind and body of all records, until one is cut off.
func (r *records) scan(ctx context.Context,
	yield func(number uint32, offset int64, kind uint16, body []byte) bool) error {
	number := r.first
	for at := int64(0); at < r.bytes && number < r.end; {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := r.s.view(r.at+at, int(min(scanBytes, r.bytes-at)))
		if err != nil {
			return err
		}
		used := 0
		for len(b)-used >= 4 && number < r.end {
			n := int(le.Uint16(b[used:])) + 2
			if n < 4 || n > len(b)-used {
				break
			}
			if !yield(number, at+int64(used), le.Uint16(b[used+2:]), b[used+4:used+n:used+n]) {
				return nil
			}
			used, number = used+n, number+1
		}
		if used == 0 {
			return fail(CodeCorrupt, r.s.number(), r.at+at, "record %#x is cut off", number)
		}
		at += int64(used)
	}
	return nil
}

// get returns kind and body of a record; false where there is none of the number.
func (r *records) get(number uint32) (kind uint16, body []byte, ok bool) {
	if r == nil || number < r.first || number >= r.end || len(r.index) == 0 {
		return 0, nil, false
	}
	i := sort.Search(len(r.index)/8, func(i int) bool { return le.Uint32(r.index[i*8:]) > number }) - 1
	if i < 0 {
		return 0, nil, false
	}
	at, n, end := int64(le.Uint32(r.index[i*8+4:])), le.Uint32(r.index[i*8:]), r.bytes
	if (i+1)*8 < len(r.index) {
		end = min(end, int64(le.Uint32(r.index[i*8+12:])))
	}
	if at >= end || end-at > indexEvery*maxRecord {
		return 0, nil, false
	}
	b, err := r.s.view(r.at+at, int(end-at))
	if err != nil {
		return 0, nil, false
	}
	for len(b) >= 4 {
		size := int(le.Uint16(b)) + 2
		if size < 4 || size > len(b) {
			return 0, nil, false
		}
		if n == number {
			return le.Uint16(b[2:]), b[4:size:size], true
		}
		b, n = b[size:], n+1
	}
	return 0, nil, false
}

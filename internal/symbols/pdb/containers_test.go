package pdb

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"

	"heapdrift/ingest/evidence"
)

// streamsOf is a container with the streams that a test gives it.
type streamsOf [][]byte

func (c streamsOf) streams() int { return len(c) }

func (c streamsOf) open(i int) (stream, error) { return &streamOf{i, c[i]}, nil }

type streamOf struct {
	at int
	b  []byte
}

func (s *streamOf) number() int { return s.at }
func (s *streamOf) size() int64 { return int64(len(s.b)) }

func (s *streamOf) view(off int64, n int) ([]byte, error) {
	if off < 0 || off+int64(n) > s.size() {
		return nil, fail(CodeTruncated, s.at, off, "the stream ends at %d", len(s.b))
	}
	return s.b[off : off+int64(n)], nil
}

func (s *streamOf) read(off int64, p []byte) error {
	b, err := s.view(off, len(p))
	copy(p, b)
	return err
}

// A PDB without a DBI stream, or with an empty one, has types alone, and no stream of symbols.
func TestWithoutDBI(t *testing.T) {
	none := dbi{publics: noStream, records: noStream, toSource: noStream, fromSource: noStream, sections: noStream,
		origSections: noStream}
	for name, c := range map[string]streamsOf{"one stream too few": make(streamsOf, streamDBI), "an empty one": make(streamsOf, streamDBI+1)} {
		f := &File{c: c}
		if err := f.readDBI(); err != nil || !f.info.TypesOnly || f.dbi != none {
			t.Errorf("%s: types only is %t, %+v, %v", name, f.info.TypesOnly, f.dbi, err)
		}
	}
}

// The parts of a DBI stream lie one behind the other and end with it. Streams that are not named are none.
func TestPartsOfDBI(t *testing.T) {
	const modules, contributions, debug = 24, 28, 48
	for name, test := range map[string]struct {
		version uint32
		parts   map[int]int32
		behind  int // bytes behind the header
		code    string
	}{
		"nothing":                   {version: 0xFFFFFFFF},
		"an old version":            {version: 0xFFFFFFFE, code: CodeUnsupported},
		"parts to the end":          {version: 0xFFFFFFFF, parts: map[int]int32{modules: 8, contributions: 12, debug: 22}, behind: 42},
		"bytes behind the parts":    {version: 0xFFFFFFFF, parts: map[int]int32{modules: 8, contributions: 12, debug: 22}, behind: 43},
		"one byte too few":          {version: 0xFFFFFFFF, parts: map[int]int32{modules: 8, contributions: 12, debug: 22}, behind: 41, code: CodeCorrupt},
		"a part of negative length": {version: 0xFFFFFFFF, parts: map[int]int32{modules: 8, contributions: -1}, behind: 64, code: CodeCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			h := make([]byte, dbiHeader+test.behind)
			binary.LittleEndian.PutUint32(h, test.version)
			binary.LittleEndian.PutUint32(h[8:], 9)
			for at, v := range map[int]uint16{16: 5, 20: 6, 56: 2, 58: 0x8664} {
				binary.LittleEndian.PutUint16(h[at:], v)
			}
			for at, n := range test.parts {
				binary.LittleEndian.PutUint32(h[at:], uint32(n))
			}
			want := dbi{publics: 5, records: 6, modules: part{dbiHeader, 0}, contributions: part{dbiHeader, 0},
				toSource: noStream, fromSource: noStream, sections: noStream, origSections: noStream}
			if len(test.parts) == 3 {
				want.modules, want.contributions = part{dbiHeader, 8}, part{dbiHeader + 8, 12}
				for i, to := range map[int]*int{3: &want.toSource, 4: &want.fromSource, 5: &want.sections, 10: &want.origSections} {
					*to = 20 + i
					if at := dbiHeader + 20 + 2*i; at+2 <= len(h) {
						binary.LittleEndian.PutUint16(h[at:], uint16(*to))
					}
				}
			}
			f := &File{c: append(make(streamsOf, streamDBI), h)}
			err := f.readDBI()
			if test.code != "" {
				var e *evidence.Error
				if !errors.As(err, &e) || e.Code != test.code {
					t.Errorf("%v, want the code %s", err, test.code)
				}
				return
			}
			if err != nil || f.dbi != want {
				t.Errorf("%+v, %v; want %+v", f.dbi, err, want)
			}
			if i := f.info; i.Age != 9 || !i.Stripped || i.Machine != 0x8664 || i.Bits != 64 || i.Managed || i.TypesOnly {
				t.Errorf("%+v", i)
			}
		})
	}
}

// counted is a file of zeros that counts how often it is read.
type counted struct{ reads *int }

func (c counted) size() int64 { return 1 << 40 }

func (c counted) read(_ int64, p []byte) error { clear(p); return nil }

func (c counted) bytes(_ int64, n int) ([]byte, error) { *c.reads++; return make([]byte, n), nil }

// The chunks that were unpacked last are kept, as many as memory is allowed for, and no more. One that is larger than
// all of it is kept alone.
func TestChunksAreKept(t *testing.T) {
	const quarter = chunkMemory / 4
	reads := 0
	z := &msfz{src: counted{&reads}}
	for _, n := range []uint32{quarter, quarter, quarter, quarter, quarter + 1, 1, 2 * chunkMemory, 1} {
		z.chunks = append(z.chunks, chunk{stored: n, length: n})
	}
	c := chunkCache{z: z}
	for _, step := range []struct {
		ask  int
		read bool
		kept []int
	}{
		{0, true, []int{0}}, {1, true, []int{0, 1}}, {2, true, []int{0, 1, 2}}, {3, true, []int{0, 1, 2, 3}},
		{0, false, []int{0, 1, 2, 3}}, // exactly what is allowed
		{4, true, []int{2, 3, 4}},     // one byte more: two go
		{0, true, []int{3, 4, 0}},     // which takes the place of the oldest
		{5, true, []int{3, 4, 0, 5}}, {3, false, []int{3, 4, 0, 5}}, {6, true, []int{6}}, {7, true, []int{7}},
	} {
		before := reads
		b, err := c.chunk(step.ask)
		if err != nil || len(b) != int(z.chunks[step.ask].length) || (reads > before) != step.read {
			t.Errorf("chunk %d: %d bytes in %d reads, %v", step.ask, len(b), reads-before, err)
		}
		sum := int64(0)
		for i, b := range c.kept {
			if sum += int64(len(b)); !slices.Contains(step.kept, i) {
				t.Errorf("after chunk %d, chunk %d is kept", step.ask, i)
			}
		}
		if !slices.Equal(c.order, step.kept) || len(c.kept) != len(step.kept) || c.bytes != sum {
			t.Errorf("after chunk %d: %v of %d, which are said to have %d bytes of %d; want %v", step.ask, c.order, len(c.kept),
				c.bytes, sum, step.kept)
		}
	}
}

// Blocks of lines belong to procedures by their order only where as many of both begin at an address.
func TestPairByCount(t *testing.T) {
	m := &module{}
	for i, start := range []uint32{0x10, 0x10, 0x20, 0x30, 0x30, 0x50} {
		m.procs = append(m.procs, proc{start: start, record: uint32(100 + i)})
	}
	for _, start := range []uint32{0x8, 0x10, 0x10, 0x20, 0x20, 0x30, 0x40, 0x50} {
		m.blocks = append(m.blocks, lineBlock{start: start})
	}
	m.pairByCount()
	var owners []uint32
	for i := range m.blocks {
		owners = append(owners, m.blocks[i].owner)
	}
	if want := []uint32{0, 100, 101, 0, 0, 0, 0, 105}; !slices.Equal(owners, want) {
		t.Errorf("%v, want %v", owners, want)
	}
	(&module{}).pairByCount()
}

// Records end with the last number that the header claims: bytes behind it are none. A record that the claim includes
// and that is not there whole is damage, and so is a length below four.
func TestScanOfRecords(t *testing.T) {
	record := func(n int) []byte { // of n bytes with its length
		return append(binary.LittleEndian.AppendUint16(nil, uint16(n-2)), make([]byte, n-2)...)
	}
	for name, test := range map[string]struct {
		b    []byte
		end  uint32
		want []uint32
		code string
	}{
		"none":                     {nil, 0x1000, nil, ""},
		"bytes behind none":        {record(8), 0x1000, nil, ""},
		"all":                      {slices.Concat(record(4), record(8)), 0x1002, []uint32{0x1000, 0x1001}, ""},
		"bytes behind the last":    {slices.Concat(record(4), record(8), []byte{1, 2}), 0x1002, []uint32{0x1000, 0x1001}, ""},
		"a record behind the last": {slices.Concat(record(4), record(8)), 0x1001, []uint32{0x1000}, ""},
		"one too few":              {record(8), 0x1002, []uint32{0x1000}, ""},
		"one cut off":              {slices.Concat(record(4), record(8)[:7]), 0x1002, []uint32{0x1000}, CodeCorrupt},
		"a length of three":        {slices.Concat(record(4), []byte{1, 0, 0, 0}), 0x1002, []uint32{0x1000}, CodeCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			r := &records{s: &streamOf{2, test.b}, first: 0x1000, end: test.end, bytes: int64(len(test.b))}
			var got []uint32
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a scan that does not end fails
			defer cancel()
			err := r.scan(ctx, func(number uint32, _ int64, _ uint16, _ []byte) bool {
				got = append(got, number)
				return true
			})
			var e *evidence.Error
			var code string
			if errors.As(err, &e) {
				code = e.Code
			}
			if code != test.code || (err != nil) != (code != "") || !slices.Equal(got, test.want) {
				t.Errorf("%#x, %v; want %#x and the code %q", got, err, test.want, test.code)
			}
		})
	}
}

package dump

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/minidump"
)

// pages is memory that has some pages by their address, and misses a number of bytes.
type pages struct {
	at      map[uint64][]byte
	missing int64
}

func (m pages) ReadMemory(p []byte, addr uint64) (int, error) {
	for base, b := range m.at {
		if addr >= base && addr < base+uint64(len(b)) {
			return copy(p, b[addr-base:]), nil
		}
	}
	return 0, errors.New("no such page")
}

func (m pages) Ranges() (list []minidump.Range) {
	for base, b := range m.at {
		list = append(list, minidump.Range{Address: base, Size: uint64(len(b))})
	}
	slices.SortFunc(list, func(a, b minidump.Range) int { return compareSpans(span{a.Address, 0}, span{b.Address, 0}) })
	return list
}

func (m pages) MissingBytes() int64 { return m.missing }

func (m pages) PresentBytes(uint64, uint64) uint64 { return 0 }

// segmentAt is the header of a segment of the collector at base: 0x600 bytes of objects from the second page on.
func segmentAt(base, size uint64, change func(v *[segmentHeader]uint64)) []byte {
	v := [segmentHeader]uint64{base + 0x1600, base + 0x2000, base + size, base + 0x1700, base + 0x1000}
	if change != nil {
		change(&v)
	}
	var b []byte
	for _, word := range v {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	return b
}

// A reservation begins with the header of a segment where its numbers are in order and lie in it.
func TestHeaderOfASegment(t *testing.T) {
	const base, least = 0x10000000, 1 << 20
	for name, test := range map[string]struct {
		size   uint64
		change func(v *[segmentHeader]uint64)
		want   int64 // allocated; −1 where it is no segment
	}{
		"a segment":                        {least, nil, 0x600},
		"too small":                        {least - 1, nil, -1},
		"no objects":                       {least, func(v *[segmentHeader]uint64) { v[0] = v[4] }, 0},
		"objects at the header":            {least, func(v *[segmentHeader]uint64) { v[4] = base }, -1},
		"objects a byte behind the header": {least, func(v *[segmentHeader]uint64) { v[4] = base + 1 }, 0x15FF},
		"objects on the third page": {least, func(v *[segmentHeader]uint64) {
			v[4], v[0], v[3], v[1] = base+0x2000, base+0x2000+8, base+0x2000, base+0x2000+8
		}, 8},
		"objects behind it": {least, func(v *[segmentHeader]uint64) {
			v[4], v[0], v[3], v[1] = base+0x2001, base+0x3000, base+0x3000, base+0x3000
		}, -1},
		"objects behind their end":     {least, func(v *[segmentHeader]uint64) { v[0] = v[4] - 1 }, -1},
		"all that is committed":        {least, func(v *[segmentHeader]uint64) { v[0] = v[1] }, 0x1000},
		"more than is committed":       {least, func(v *[segmentHeader]uint64) { v[0] = v[1] + 1 }, -1},
		"all of it committed":          {least, func(v *[segmentHeader]uint64) { v[1] = v[2] }, 0x600},
		"more committed than reserved": {least, func(v *[segmentHeader]uint64) { v[1] = v[2] + 1 }, -1},
		"less reserved":                {least, func(v *[segmentHeader]uint64) { v[2]-- }, 0x600},
		"more reserved":                {least, func(v *[segmentHeader]uint64) { v[2]++ }, -1},
		"used to the first object":     {least, func(v *[segmentHeader]uint64) { v[3] = v[4] }, 0x600},
		"used before it":               {least, func(v *[segmentHeader]uint64) { v[3] = v[4] - 1 }, -1},
		"used to the end":              {least, func(v *[segmentHeader]uint64) { v[3] = v[2] }, 0x600},
		"used behind the end":          {least, func(v *[segmentHeader]uint64) { v[3] = v[2] + 1 }, -1},
	} {
		b := segmentAt(base, test.size, test.change)
		p := &process{memory: pages{at: map[uint64][]byte{base: b}}}
		got, ok := p.isSegment(span{base, test.size})
		if ok != (test.want >= 0) || ok && int64(got) != test.want {
			t.Errorf("%s: %#x, %t; want %#x", name, got, ok, test.want)
		}
		p.memory = pages{at: map[uint64][]byte{base: b[:len(b)-1]}}
		if _, ok := p.isSegment(span{base, test.size}); ok {
			t.Errorf("%s: its header cannot be read", name)
		}
	}
}

// Segments and the ranges of regions are reservations of private memory, whole from their base on, in which nothing
// else was found.
func TestSegmentsOfTheCollector(t *testing.T) {
	const size = 1 << 20
	private := func(base, at, bytes uint64, state minidump.State) minidump.Region {
		return minidump.Region{Base: at, Size: bytes, AllocationBase: base, State: state, Type: minidump.MemPrivate}
	}
	free := func(at, bytes uint64) minidump.Region {
		return minidump.Region{Base: at, Size: bytes, State: minidump.MemFree}
	}
	const one, two, mapped, headless, busy, small, large, larger = 0x10000000, 0x10100000, 0x20000000, 0x30000000, 0x40000000,
		0x50000000, 1 << 40, 1 << 41
	m := pages{at: map[uint64][]byte{}}
	for _, base := range []uint64{one, two, mapped, headless, busy, small} {
		m.at[base] = segmentAt(base, size, nil)
	}
	m.at[small] = segmentAt(small, size-0x1000, nil)
	p := &process{memory: m, regions: []minidump.Region{
		free(0, one),
		private(one, one, size/2, minidump.MemCommit), private(one, one+size/2, size/2, minidump.MemReserve),
		private(two, two, size, minidump.MemCommit), free(two+size, 0x1000),
		{Base: mapped, Size: size, AllocationBase: mapped, State: minidump.MemCommit, Type: minidump.MemMapped},
		private(headless-0x1000, headless, size, minidump.MemCommit),
		private(busy, busy, size, minidump.MemCommit),
		private(small, small, size-0x1000, minidump.MemCommit),
		private(large, large, 0x3000, minidump.MemCommit), private(large, large+0x3000, regionsRange-0x3000-1, minidump.MemReserve),
		free(large+regionsRange, 0x1000),
		private(larger, larger, 0x5000, minidump.MemCommit), private(larger, larger+0x5000, regionsRange-0x5000, minidump.MemReserve),
	}}
	taken := []mark{{span{busy - 0x1000, 0x1001}, capture.UseHeap}}
	var marks []mark
	got := p.findSegments(taken, &marks)
	want := []capture.ManagedHeap{{Name: "segments", Guess: true, Segments: 2, Bytes: 2 * 0x600},
		{Name: "regions", Guess: true, Segments: 1, Bytes: 0x5000}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if wantMarks := []mark{{span{one, size}, capture.UseManaged}, {span{two, size}, capture.UseManaged},
		{span{larger, regionsRange}, capture.UseManaged}}; !slices.Equal(marks, wantMarks) {
		t.Errorf("%+v, want %+v", marks, wantMarks)
	}
	p.system.Bits, marks = 32, nil
	p.regions = p.regions[len(p.regions)-2:]
	if got := p.findSegments(nil, &marks); got != nil || marks != nil {
		t.Errorf("of 32 bits: %+v, %+v", got, marks)
	}
}

// What is lost is committed memory that the program can write and the dump does not have; of it that of images.
// Without a list of regions, it is what the dump says that it misses, and images of which no byte is there.
func TestLostMemoryOfADump(t *testing.T) {
	m := pages{at: map[uint64][]byte{0x1000: make([]byte, 0x800), 0x9000: make([]byte, 0x10)}, missing: 7}
	const commit, reserve = minidump.MemCommit, minidump.MemReserve
	const write, read = minidump.PageReadWrite, minidump.PageReadOnly
	p := &process{memory: m}
	for i, r := range []minidump.Region{
		{State: commit, Protect: write, Type: minidump.MemPrivate}, // half of it is there
		{State: reserve, Protect: write, Type: minidump.MemPrivate},
		{State: commit, Protect: read, Type: minidump.MemPrivate},
		{State: commit, Protect: write, Type: minidump.MemImage},
		{State: commit, Protect: read, Type: minidump.MemImage},
		{State: commit, Protect: write, Type: minidump.MemMapped},
	} {
		r.Base, r.Size = uint64(i+1)*0x1000, 0x1000
		p.regions = append(p.regions, r)
	}
	if all, images := p.lost(); all != 0x800+0x1000+0x1000 || images != 0x1000 {
		t.Errorf("%#x, of images %#x", all, images)
	}
	p.regions = nil
	p.modules = []minidump.Module{{Base: 0x8000, Size: 0x1000}, {Base: 0x9000, Size: 0x1000}, {Base: 0x9010, Size: 0x100}}
	if all, images := p.lost(); all != 0x1100+7 || images != 0x1100 {
		t.Errorf("without regions: %#x, of images %#x", all, images)
	}
}

// Of each way of grouping 200 groups are listed, the largest ones, and of each heap 20. What was cut is named once.
func TestGroupsThatAreListed(t *testing.T) {
	for _, test := range []struct {
		bySize, ofHeap int
		full           bool
		cut            []string
	}{
		{200, 20, false, nil}, {201, 1, false, []string{capture.BySize}}, {1, 20 + 1, false, []string{capture.BySize}},
		{201, 20 + 1, false, []string{capture.BySize}}, {1, 1, true, []string{capture.BySize}},
		{201, 20 + 1, true, []string{capture.BySize}},
	} {
		counted := newTallies()
		for heap, n := range map[int32]int{-1: test.bySize, 0: test.ofHeap} {
			for i := range n {
				counted.groups[grouping{by: capture.BySize, heap: heap, size: uint64(i + 1)}] = &tally{
					usage: capture.Usage{Count: 1, Bytes: int64(i + 1)}}
			}
		}
		if test.full {
			counted.full[capture.BySize] = true
		}
		list, cut := (&grouper{}).groups(counted, &capture.Capture{Heaps: []capture.Heap{{Handle: 0x1000}}})
		if want := min(test.bySize, 200) + min(test.ofHeap, 20); len(list) != want || !slices.Equal(cut, test.cut) {
			t.Errorf("%+v: %d groups, want %d; cut are %q", test, len(list), want, cut)
		}
		if test.bySize == 201 && slices.ContainsFunc(list, func(g capture.BlockGroup) bool { return g.Heap == 0 && g.Size == 1 }) {
			t.Errorf("%+v: the smallest group is listed", test)
		}
	}
}

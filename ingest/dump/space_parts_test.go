package dump

import (
	"fmt"
	"slices"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/minidump"
)

// region is one of a list that Windows gives.
func region(base, size, allocation uint64, state minidump.State) minidump.Region {
	r := minidump.Region{Base: base, Size: size, AllocationBase: allocation, State: state}
	if state != minidump.MemFree {
		r.Type, r.Protect = minidump.MemPrivate, minidump.PageReadWrite
	}
	return r
}

// rangesOnly is memory of which nothing is known but where it lies.
type rangesOnly struct {
	Memory
	ranges []minidump.Range
}

func (m rangesOnly) Ranges() []minidump.Range { return m.ranges }

// The largest free range is what a program may still reserve at once: of equal ones the first, and none that is taken.
func TestLargestFreeRange(t *testing.T) {
	for name, test := range map[string]struct {
		regions  []minidump.Region
		size, at uint64
	}{
		"nothing free":  {[]minidump.Region{region(0x1000, 0x9000, 0x1000, minidump.MemCommit)}, 0, 0},
		"the only one":  {[]minidump.Region{region(0x1000, 0x9000, 0x1000, minidump.MemCommit), region(0xa000, 0x1000, 0, minidump.MemFree)}, 0x1000, 0xa000},
		"the larger":    {[]minidump.Region{region(0x1000, 0x1000, 0, minidump.MemFree), region(0x2000, 0x1000, 0x2000, minidump.MemCommit), region(0x3000, 0x2000, 0, minidump.MemFree)}, 0x2000, 0x3000},
		"equal ones":    {[]minidump.Region{region(0x1000, 0x2000, 0, minidump.MemFree), region(0x3000, 0x1000, 0x3000, minidump.MemCommit), region(0x4000, 0x2000, 0, minidump.MemFree)}, 0x2000, 0x1000},
		"only reserved": {[]minidump.Region{region(0x1000, 0x9000, 0x1000, minidump.MemReserve), region(0xa000, 0x1000, 0, minidump.MemFree)}, 0x1000, 0xa000},
	} {
		s := (&process{regions: test.regions}).spaceOf(nil, nil)
		if s.LargestFree != int64(test.size) || s.LargestFreeAt != capture.Address(test.at) {
			t.Errorf("%s: %#x bytes at %#x, want %#x at %#x", name, s.LargestFree, s.LargestFreeAt, test.size, test.at)
		}
	}
}

// Only committed private memory counts as private, and only where the dump says what is private; the process has as
// many virtual allocations as it has committed pieces that are nothing else.
func TestPrivateMemoryByUse(t *testing.T) {
	mapped := region(0x5000, 0x1000, 0x5000, minidump.MemCommit)
	mapped.Type = minidump.MemMapped
	p := &process{regions: []minidump.Region{
		region(0x1000, 0x1000, 0x1000, minidump.MemCommit), region(0x2000, 0x3000, 0x1000, minidump.MemReserve), mapped,
		region(0x6000, 0x2000, 0x6000, minidump.MemCommit), region(0x8000, 0x1000, 0, minidump.MemFree),
	}}
	s := p.spaceOf([]mark{{span{0x6000, 0x1000}, capture.UseHeap}}, nil)
	got := map[capture.UseName]string{}
	for _, u := range s.Uses {
		got[u.Name] = fmt.Sprintf("%d regions, reserved %#x, committed %#x, private %#x, largest %#x", u.Regions, u.Reserved,
			u.Committed, u.Private, u.Largest)
	}
	for use, want := range map[capture.UseName]string{
		capture.UsePrivate: "3 regions, reserved 0x5000, committed 0x2000, private 0x2000, largest 0x3000",
		capture.UseHeap:    "1 regions, reserved 0x1000, committed 0x1000, private 0x1000, largest 0x1000",
		capture.UseMapped:  "1 regions, reserved 0x1000, committed 0x1000, private 0x0, largest 0x1000",
		capture.UseFree:    "1 regions, reserved 0x1000, committed 0x0, private 0x0, largest 0x1000",
	} {
		if got[use] != want {
			t.Errorf("%s: %s, want %s", use, got[use], want)
		}
	}
	if p.virtual != 2 || s.Partial {
		t.Errorf("%d virtual allocations, partial %t", p.virtual, s.Partial)
	}
	bare := &process{memory: rangesOnly{ranges: []minidump.Range{{Address: 0x1000, Size: 0x1000}}}}
	if s := bare.spaceOf(nil, nil); !s.Partial || s.Uses[0].Private != 0 || s.Uses[0].Committed != 0x1000 {
		t.Errorf("without a list of regions: %+v", s)
	}
}

// Without a list of regions, memory ranges that touch are taken for one reservation; those with a gap between them, or
// with another use, are not.
func TestReservationsWithoutRegions(t *testing.T) {
	p := &process{memory: rangesOnly{ranges: []minidump.Range{
		{Address: 0x1000, Size: 0x1000}, {Address: 0x2000, Size: 0x2000}, {Address: 0x5000, Size: 0x1000},
		{Address: 0x6000, Size: 0x1000}, {Address: 0x7000, Size: 0x1000}}}}
	s := p.spaceOf([]mark{{span{0x6000, 0x1000}, capture.UseHeap}}, nil)
	var got []string
	for _, r := range s.Largest {
		got = append(got, fmt.Sprintf("%#x: %#x", uint64(r.Address), r.Reserved))
	}
	if want := []string{"0x1000: 0x3000", "0x5000: 0x1000", "0x7000: 0x1000"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The largest reservations are those that commit most; 20 are listed. Sizes are listed that four or more have.
func TestLargestAndRepeatedReservations(t *testing.T) {
	order, all := []uint64{}, map[uint64]*capture.Reservation{}
	add := func(n int, reserved, committed int64) {
		for range n {
			at := uint64(len(order)+1) << 16
			order, all[at] = append(order, at), &capture.Reservation{Address: capture.Address(at), Reserved: reserved, Committed: committed}
		}
	}
	add(leastRepeated-1, 100, 100)
	add(leastRepeated, 200, 10)
	add(leastRepeated+1, 300, 8)
	add(leastRepeated+1, 400, 8)
	add(leastRepeated, 500, 10)
	largest, repeated := largest(order, all)
	var got []string
	for _, r := range repeated {
		got = append(got, fmt.Sprintf("%d of %d", r.Count, r.ReservedEach))
	}
	// By what they commit together, then by how many they are, then by address.
	if want := []string{"5 of 300", "5 of 400", "4 of 200", "4 of 500"}; !slices.Equal(got, want) {
		t.Errorf("repeated %q, want %q", got, want)
	}
	if len(order) != 21 || len(largest) != listedReservations {
		t.Fatalf("%d of %d reservations are listed", len(largest), len(order))
	}
	if !slices.IsSortedFunc(largest, func(a, b capture.Reservation) int { return int(b.Committed - a.Committed) }) ||
		largest[3].Reserved != 500 || largest[7].Reserved != 200 { // of those that commit as much, what reserves more
		t.Errorf("%+v", largest)
	}
}

// Marks that overlap are cut where the one before ends; those that are covered whole, or run around the end of the
// address space, are left out.
func TestArrange(t *testing.T) {
	heap, stack := capture.UseHeap, capture.UseStack
	for name, test := range map[string]struct{ marks, want []mark }{
		"apart, in another order": {[]mark{{span{0x30, 0x10}, stack}, {span{0x10, 0x10}, heap}}, []mark{{span{0x10, 0x10}, heap}, {span{0x30, 0x10}, stack}}},
		"touching":                {[]mark{{span{0x10, 0x10}, heap}, {span{0x20, 0x10}, stack}}, []mark{{span{0x10, 0x10}, heap}, {span{0x20, 0x10}, stack}}},
		"overlapping":             {[]mark{{span{0x10, 0x10}, heap}, {span{0x18, 0x10}, stack}}, []mark{{span{0x10, 0x10}, heap}, {span{0x20, 0x08}, stack}}},
		"same end":                {[]mark{{span{0x10, 0x10}, heap}, {span{0x18, 0x08}, stack}}, []mark{{span{0x10, 0x10}, heap}}},
		"inside":                  {[]mark{{span{0x10, 0x20}, heap}, {span{0x18, 0x08}, stack}, {span{0x28, 0x10}, stack}}, []mark{{span{0x10, 0x20}, heap}, {span{0x30, 0x08}, stack}}},
		"same beginning":          {[]mark{{span{0x10, 0x10}, heap}, {span{0x10, 0x20}, stack}}, []mark{{span{0x10, 0x10}, heap}, {span{0x20, 0x10}, stack}}},
		"empty":                   {[]mark{{span{0x10, 0}, heap}, {span{0x10, 0x10}, stack}}, []mark{{span{0x10, 0x10}, stack}}},
		"to the last byte":        {[]mark{{span{^uint64(0) - 0x10, 0x10}, heap}}, []mark{{span{^uint64(0) - 0x10, 0x10}, heap}}},
		"around the end":          {[]mark{{span{^uint64(0) - 0x10, 0x11}, heap}}, []mark{}},
	} {
		if got := arrange(test.marks); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// Spans are shared out in pieces of at most rootChunk, none of them empty, which cover them exactly.
func TestChunks(t *testing.T) {
	for size, want := range map[uint64]int{1: 1, rootChunk - 1: 1, rootChunk: 1, rootChunk + 1: 2, 2 * rootChunk: 2, 2*rootChunk + 8: 3} {
		at, got := uint64(0x1000), chunks([]span{{0x1000, size}})
		for _, s := range got {
			if s.address != at || s.size == 0 || s.size > rootChunk {
				t.Errorf("%#x bytes: piece %+v", size, s)
			}
			at = s.end()
		}
		if len(got) != want || at != 0x1000+size {
			t.Errorf("%#x bytes: %d pieces to %#x, want %d", size, len(got), at, want)
		}
	}
}

// Whole pages are marked, also of what ends with the address space.
func TestPagesOf(t *testing.T) {
	const last = ^uint64(0) &^ 0xFFF
	for _, test := range []struct{ s, want span }{
		{span{0x1000, 0x1000}, span{0x1000, 0x1000}}, {span{0x1001, 0xFFF}, span{0x1000, 0x1000}},
		{span{0x1fff, 2}, span{0x1000, 0x2000}}, {span{0x1000, 0x1001}, span{0x1000, 0x2000}},
		{span{last - 0x1000, 0x1000}, span{last - 0x1000, 0x1000}},
		{span{last - 0x1000, 0x1800}, span{last - 0x1000, 0x1000}}, // the last page has no end that can be said
	} {
		if got := pagesOf(test.s); got != test.want {
			t.Errorf("%#x: %#x, want %#x", test.s, got, test.want)
		}
	}
}

// A reservation is all its regions from the address on that lie in it; free memory is in none.
func TestReservationOfAnAddress(t *testing.T) {
	p := &process{regions: []minidump.Region{
		region(0x1000, 0x1000, 0x1000, minidump.MemCommit), region(0x2000, 0x1000, 0x1000, minidump.MemReserve),
		region(0x3000, 0x1000, 0x3000, minidump.MemCommit), region(0x4000, 0x1000, 0, minidump.MemFree),
		region(0x6000, 0x1000, 0x6000, minidump.MemCommit),
	}}
	for address, want := range map[uint64][]span{
		0xfff: nil, 0x1000: {{0x1000, 0x1000}, {0x2000, 0x1000}}, 0x1fff: {{0x1000, 0x1000}, {0x2000, 0x1000}},
		0x2000: {{0x2000, 0x1000}}, 0x3000: {{0x3000, 0x1000}}, 0x4000: nil, 0x4fff: nil, 0x5000: nil, 0x6fff: {{0x6000, 0x1000}}, 0x7000: nil,
	} {
		var got []span
		for _, m := range p.reservation(address, capture.UsePageHeap) {
			if got = append(got, m.span); m.use != capture.UsePageHeap {
				t.Errorf("%#x: %s", address, m.use)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%#x: %#x, want %#x", address, got, want)
		}
	}
}

// The process heap is the one that the environment block names, in a 32-bit process at another place; a process without
// one has none.
func TestDefaultHeap(t *testing.T) {
	const base, peb = 0x1_0000, 0x1_1000
	block := make([]byte, 0x2000)
	block[0x1018+1], block[0x1030+1] = 0x18, 0x30 // 0x1800 and 0x3000
	m := flatMemory{base, block}
	for _, test := range []struct {
		bits int
		peb  uint64
		want uint64
	}{{32, peb, 0x1800}, {64, peb, 0x3000}, {64, 0, 0}, {64, base + 0x2000, 0}} {
		b := &builder{process: &process{sides: []side{{pointers{m, test.bits}, test.peb}}}}
		if got := b.defaultHeap(0); got != test.want {
			t.Errorf("%d bits, PEB at %#x: %#x, want %#x", test.bits, test.peb, got, test.want)
		}
	}
}

package capture_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"heapdrift/ingest/capture"
)

func TestMapOf(t *testing.T) {
	of := func(address capture.Address, size int64, use capture.UseName, committed int64) capture.AddressRange {
		return capture.AddressRange{Address: address, Size: size, Use: use, Committed: committed}
	}
	taken := func(address capture.Address, size int64, use capture.UseName, committed int64) capture.AddressRange {
		return capture.AddressRange{Address: address, Size: size, Use: use, Taken: size, Committed: committed}
	}
	const heap, image = capture.UseHeap, capture.UseImage
	for name, test := range map[string]struct{ in, want []capture.AddressRange }{
		"nothing": {nil, nil},
		"neighbours that are alike are one": {
			[]capture.AddressRange{of(0x2000, 0x1000, heap, 0x1000), of(0x1000, 0x1000, heap, 0x1000)},
			[]capture.AddressRange{taken(0x1000, 0x2000, heap, 0x2000)},
		},
		"what is committed and what is reserved stay apart": {
			[]capture.AddressRange{of(0x1000, 0x1000, heap, 0x1000), of(0x2000, 0x1000, heap, 0)},
			[]capture.AddressRange{taken(0x1000, 0x1000, heap, 0x1000), taken(0x2000, 0x1000, heap, 0)},
		},
		"reservations that are committed in part stay apart": {
			[]capture.AddressRange{of(0x1000, 0x2000, heap, 0x1000), of(0x3000, 0x2000, heap, 0x1000)},
			[]capture.AddressRange{taken(0x1000, 0x2000, heap, 0x1000), taken(0x3000, 0x2000, heap, 0x1000)},
		},
		"a hole keeps them apart": {
			[]capture.AddressRange{of(0x1000, 0x1000, heap, 0x1000), of(0x3000, 0x1000, heap, 0x1000)},
			[]capture.AddressRange{taken(0x1000, 0x1000, heap, 0x1000), taken(0x3000, 0x1000, heap, 0x1000)},
		},
		"of two that overlap the first stays whole": {
			[]capture.AddressRange{of(0x1000, 0x3000, heap, 0x3000), of(0x2000, 0x3000, image, 0x3000),
				of(0x2000, 0x1000, image, 0x1000)},
			[]capture.AddressRange{taken(0x1000, 0x3000, heap, 0x3000), taken(0x4000, 0x1000, image, 0x1000)},
		},
		"what cannot be is left out": {
			[]capture.AddressRange{of(0x1000, -1, heap, 0), of(0x1000, 0, heap, 0), of(math.MaxUint64-4095, 4096, heap, 0),
				of(1<<63, 4096, heap, 0), of(0x1000, math.MaxInt64, heap, 0),
				of(0x5000, 0x1000, image, math.MaxInt64), of(0x6000, 0x1000, heap, -5)},
			[]capture.AddressRange{taken(0x5000, 0x1000, image, 0x1000), taken(0x6000, 0x1000, heap, 0)},
		},
	} {
		if got := capture.DrawSpaceMap(test.in); len(got.Stretches) != len(test.want) ||
			len(test.want) > 0 && !reflect.DeepEqual(got.Stretches, test.want) || got.Grain != 0 {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// However many stretches there are, the map is small, and no byte is lost or counted twice.
func TestMapIsBounded(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct {
		n   int
		gap uint64
	}{{1024, 1 << 20}, {1025, 1 << 20}, {50_000, 64 << 10}, {50_000, 1 << 30}, {50_000, 0}, {4000, 1 << 51}} {
		var list []capture.AddressRange
		var taken, committed int64
		at := uint64(0x10000)
		for i := range test.n {
			s := capture.AddressRange{Address: capture.Address(at), Size: 4096 * (1 + random.Int64N(16)),
				Use: []capture.UseName{capture.UseHeap, capture.UsePrivate}[i%2]}
			if i%3 > 0 {
				s.Committed = s.Size
			}
			at += uint64(s.Size) + test.gap
			taken, committed = taken+s.Size, committed+s.Committed
			list = append(list, s)
		}
		first, last := list[0].Address, list[len(list)-1].End()
		m := capture.DrawSpaceMap(list)
		if len(m.Stretches) > 1024 || (m.Grain > 0) != (test.n > 1024) || m.Stretches[0].Address != first ||
			m.Stretches[len(m.Stretches)-1].End() != last {
			t.Errorf("%+v: %d stretches, grain %d", test, len(m.Stretches), m.Grain)
		}
		if half := uint64(m.Grain / 2); half >= 64<<10 {
			cells := map[uint64]bool{}
			for i := range list {
				cells[uint64(list[i].Address)/half] = true
			}
			if len(cells) <= 1024 {
				t.Errorf("%+v: half of grain %d leaves %d stretches", test, m.Grain, len(cells))
			}
		}
		for i := range m.Stretches {
			s := &m.Stretches[i]
			taken, committed = taken-s.Taken, committed-s.Committed
			if s.Taken > s.Size || s.Committed > s.Taken || i > 0 && uint64(s.Address) < m.Stretches[i-1].End() {
				t.Fatalf("%+v: stretch %d: %+v", test, i, s)
			}
		}
		if taken != 0 || committed != 0 {
			t.Errorf("%+v: %d bytes taken and %d committed are not in the map", test, taken, committed)
		}
	}
}

// DrawSpaceMap chooses the grain without joining stretches for each candidate: a dump may have a million regions far apart.
func TestMapIsJoinedOnce(t *testing.T) {
	list := make([]capture.AddressRange, 20_000)
	for i := range list {
		list[i] = capture.AddressRange{Address: capture.Address(i) << 40, Size: 4096,
			Use: []capture.UseName{capture.UseHeap, capture.UsePrivate}[i%2]}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	capture.DrawSpaceMap(list)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes were allocated for a map of %d stretches", n, len(list))
	}
}

func TestUseOfMostBytesStandsForJoinedStretches(t *testing.T) {
	var list []capture.AddressRange
	for i := range uint64(3000) {
		at := capture.Address(0x10000 + i<<20)
		list = append(list, capture.AddressRange{Address: at, Size: 4096, Use: capture.UseTEB, Committed: 4096},
			capture.AddressRange{Address: at + 4096, Size: 8192, Use: capture.UseStack})
	}
	for _, s := range capture.DrawSpaceMap(list).Stretches {
		if s.Use != capture.UseStack || s.Committed >= s.Taken {
			t.Fatalf("%+v", s)
		}
	}
}

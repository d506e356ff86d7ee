package lifetimes

import "testing"

// An interval contains its base but not its end, and overlaps a range that shares an address with it.
func TestIntervalEdges(t *testing.T) {
	var s intervals
	s.insert(interval{0x10, 0x20, 1})
	s.insert(interval{0x20, 0x30, 2})
	s.insert(interval{0x40, 0x50, 3})
	for address, want := range map[uint64]uint32{0xF: 0, 0x10: 1, 0x1F: 1, 0x20: 2, 0x2F: 2, 0x30: 0, 0x3F: 0,
		0x40: 3, 0x4F: 3, 0x50: 0} {
		got := uint32(0)
		if v, ok := s.find(address); ok {
			got = v.value
		}
		if got != want {
			t.Errorf("%#x is in %d, want %d", address, got, want)
		}
	}
	for _, test := range []struct {
		base, end uint64
		want      int
	}{{0, 0x10, 0}, {0, 0x11, 1}, {0x1F, 0x20, 1}, {0x1F, 0x21, 2}, {0x30, 0x40, 0}, {0x2F, 0x41, 2},
		{0x4F, 0x60, 1}, {0x50, 0x60, 0}} {
		n := 0
		s.overlapping(test.base, test.end, func(*interval) { n++ })
		if n != test.want {
			t.Errorf("[%#x, %#x) overlaps %d, want %d", test.base, test.end, n, test.want)
		}
	}
}

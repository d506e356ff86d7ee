package vmmap

import "testing"

// A snapshot with more reservations than fit in 4 GB gives sums and no map. These are counted one by one: reading as
// many from a file takes seconds.
func TestTooManyReservationsForAMap(t *testing.T) {
	for _, n := range []int64{1 << 18, 1<<18 + 1} {
		room := 0
		s := newSnapshot(process{}, &room)
		for i := range n {
			s.top = region{address: uint64(i+1) << 16, size: 4096, commit: 4096, id: -1, use: 4}
			s.settle(1)
		}
		if of := s.finish().Memory.Space; (of.Map != nil) != (n == 1<<18) || of.Uses[0].Regions != n ||
			of.Uses[0].Committed != n*4096 {
			t.Errorf("%d reservations: map %t, %+v", n, of.Map != nil, of.Uses)
		}
	}
}

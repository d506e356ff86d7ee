package dump

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Spans in common and spans that are left, compared with a count of each byte; and their order.
func TestSpans(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const room = 40
	invent := func(overlap bool) (list []span) {
		for at := uint64(0); at < room; {
			size := r.Uint64N(6)
			if !overlap {
				size++
			}
			if list = append(list, span{at, size}); overlap {
				at += r.Uint64N(5)
			} else {
				at += size + r.Uint64N(4)
			}
			if r.Uint64N(12) == 0 {
				break
			}
		}
		return list
	}
	has := func(list []span) (bytes [2 * room]bool) {
		for _, s := range list {
			for at := s.address; at < s.end(); at++ {
				bytes[at] = true
			}
		}
		return bytes
	}
	for range 2000 {
		a, b, cut := invent(false), invent(false), invent(true)
		common, left := intersect(a, b), without(a, cut)
		inA, inB, inCut, inCommon, inLeft := has(a), has(b), has(cut), has(common), has(left)
		for at := range inA {
			if inCommon[at] != (inA[at] && inB[at]) {
				t.Fatalf("%v and %v have %v in common", a, b, common)
			}
			if inLeft[at] != (inA[at] && !inCut[at]) {
				t.Fatalf("%v without %v are %v", a, cut, left)
			}
		}
		for _, s := range slices.Concat(common, left) {
			if s.size == 0 {
				t.Fatalf("an empty span of %v, %v, %v", a, b, cut)
			}
		}
	}
	for _, test := range []struct {
		a, b uint64
		want int
	}{{1, 2, -1}, {2, 1, 1}, {2, 2, 0}} {
		if got := compareSpans(span{test.a, 9}, span{test.b, 1}); got != test.want {
			t.Errorf("%d and %d: %d", test.a, test.b, got)
		}
	}
}

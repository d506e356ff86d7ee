package capture_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"

	"heapdrift/ingest/capture"
)

// snapshotOf is a snapshot with blocks; the site's number is its merged site unless a test says otherwise.
func snapshotOf(sites int, blocks ...capture.Block) *capture.Capture {
	c := &capture.Capture{Snapshots: make([]capture.Snapshot, 1), Sites: make([]capture.Site, sites)}
	for i := range c.Sites {
		c.Sites[i].Usage = make([]capture.Usage, 1)
	}
	for _, b := range blocks {
		c.Blocks.Add(b)
		c.Sites[b.Site].Usage[0].Count++
	}
	return c
}

func same(_ int, site uint32) int32 { return int32(site) }

func TestSpans(t *testing.T) {
	at := func(site uint32, address, size uint64) capture.Block {
		return capture.Block{Site: site, Address: address, Size: size}
	}
	stays, other := at(0, 0x100, 8), at(0, 0x200, 8)
	for name, c := range map[string]struct {
		series [][]capture.Block
		want   []capture.Span
	}{
		"from the second on": {[][]capture.Block{{}, {stays}, {stays}}, []capture.Span{{1, 2, 1}}},
		"from the first on":  {[][]capture.Block{{stays}, {stays}, {stays}}, []capture.Span{{0, 2, 1}}},
		"in the last only":   {[][]capture.Block{{}, {}, {stays}}, []capture.Span{{2, 2, 1}}},
		"gone at the end":    {[][]capture.Block{{}, {stays}, {}}, []capture.Span{{1, 1, 1}}},
		"gone for a while":   {[][]capture.Block{{}, {stays}, {}, {stays}, {stays}}, []capture.Span{{1, 1, 1}, {3, 4, 1}}},
		"another size":       {[][]capture.Block{{}, {stays}, {at(0, 0x100, 9)}}, []capture.Span{{1, 1, 1}, {2, 2, 1}}},
		"another site":       {[][]capture.Block{{}, {stays}, {at(1, 0x100, 8)}}, []capture.Span{{1, 1, 1}}},
		"two, at other times": {[][]capture.Block{{}, {stays}, {stays, other}, {other, stays}},
			[]capture.Span{{1, 3, 1}, {2, 3, 1}}},
		"listed twice": {[][]capture.Block{{}, {stays, stays}, {stays, stays}}, []capture.Span{{1, 2, 1}}},
		"nothing":      {[][]capture.Block{{}, {}, {}}, nil},
	} {
		var captures []*capture.Capture
		for _, blocks := range c.series {
			captures = append(captures, snapshotOf(2, blocks...))
		}
		got, err := capture.Spans(t.Context(), captures, same, 2)
		if err != nil {
			t.Fatal(err)
		}
		if spans, known := got.Of(0); !known || !slices.Equal(spans, c.want) {
			t.Errorf("%s: %v %v, want %v", name, spans, known, c.want)
		}
	}
}

// Spans knows nothing of a site where one snapshot counts blocks without listing their addresses, and nothing at all
// from two snapshots.
func TestSpansWithoutAddresses(t *testing.T) {
	block := capture.Block{Site: 1, Address: 8}
	series := []*capture.Capture{snapshotOf(3), snapshotOf(3, block), snapshotOf(3, block)}
	series[1].Sites[0].Usage[0].Count = 7
	got, err := capture.Spans(t.Context(), series, same, 3)
	if err != nil {
		t.Fatal(err)
	}
	for site, want := range []bool{false, true, true} {
		if spans, known := got.Of(site); known != want || (site == 1) != (len(spans) == 1) {
			t.Errorf("site %d: %v, known %v", site, spans, known)
		}
	}
	// Sites may be merged into other sites or into none.
	got, err = capture.Spans(t.Context(), series, func(_ int, site uint32) int32 { return []int32{-1, 0, 9}[site] }, 1)
	if spans, known := got.Of(0); err != nil || !known || !slices.Equal(spans, []capture.Span{{1, 2, 1}}) {
		t.Errorf("%v, %v", spans, err)
	}
	got, err = capture.Spans(t.Context(), series[:2], same, 3)
	if spans, known := got.Of(1); err != nil || known {
		t.Errorf("of two snapshots %v, %v", spans, err)
	}
}

// Spans equal those that sets of blocks give, whatever the blocks are.
func TestSpansAreThoseOfSets(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		const sites = 4
		n := 3 + r.IntN(6)
		sets, captures := make([]map[capture.Block]bool, n), make([]*capture.Capture, n)
		for i := range sets {
			sets[i] = map[capture.Block]bool{}
			var list []capture.Block
			for range r.IntN(90) {
				b := capture.Block{Site: r.Uint32N(sites), Address: r.Uint64N(12) * 16, Size: 1 + r.Uint64N(2)}
				if !sets[i][b] {
					list = append(list, b)
				}
				sets[i][b] = true
			}
			if r.IntN(2) == 0 { // one block at each address, in stretches that ascend
				slices.SortFunc(list, func(a, b capture.Block) int { return cmp.Compare(a.Address, b.Address) })
				list = slices.CompactFunc(list, func(a, b capture.Block) bool { return a.Address == b.Address })
				clear(sets[i])
				for _, b := range list {
					sets[i][b] = true
				}
				turn := r.IntN(len(list) + 1)
				list = append(slices.Clone(list[turn:]), list[:turn]...)
			}
			captures[i] = snapshotOf(sites, list...)
		}
		checkSpans(t, sets, captures, sites)
	}
}

// checkSpans compares the spans of snapshots with those of sets of their blocks.
func checkSpans(t *testing.T, sets []map[capture.Block]bool, captures []*capture.Capture, sites int) {
	t.Helper()
	want := make([]map[[2]int32]int64, sites)
	for site := range want {
		want[site] = map[[2]int32]int64{}
	}
	for k := range sets {
		for b := range sets[k] {
			if k > 0 && sets[k-1][b] {
				continue
			}
			last := k
			for last+1 < len(sets) && sets[last+1][b] {
				last++
			}
			want[b.Site][[2]int32{int32(k), int32(last)}]++
		}
	}
	got, err := capture.Spans(t.Context(), captures, same, sites)
	if err != nil {
		t.Fatal(err)
	}
	for site := range want {
		spans, known := got.Of(site)
		if !known || len(spans) != len(want[site]) {
			t.Fatalf("%v %v, want %v", spans, known, want[site])
		}
		for _, s := range spans {
			if want[site][[2]int32{s.First, s.Last}] != s.Count {
				t.Fatalf("%v, want %v", spans, want[site])
			}
		}
	}
}

// From 131,072 blocks in the first snapshot on, two goroutines divide the addresses between them. The spans equal those
// of sets wherever blocks lie on either side of the division, in the first snapshot and in the others.
func TestSpansInTwoRanges(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	const many, sites = 1 << 17, 3
	r := rand.New(rand.NewPCG(5, 6))
	for name, c := range map[string]struct {
		address func(place uint64) uint64
		blocks  []int
	}{
		"evenly":         {func(place uint64) uint64 { return place * 16 }, []int{many - 1, many, many + 1}},
		"two heaps":      {func(place uint64) uint64 { return place%2<<40 + place/2*16 }, []int{many}},
		"from 0 on":      {func(place uint64) uint64 { return place / 2 }, []int{many}},
		"up to the last": {func(place uint64) uint64 { return ^(place * 16) }, []int{many}},
	} {
		for _, n := range c.blocks {
			var sets []map[capture.Block]bool
			var captures []*capture.Capture
			for k := range 3 {
				set, list := map[capture.Block]bool{}, []capture.Block(nil)
				for place := uint64(k * 1000); len(list) < n-k*n/3; place++ {
					if b := (capture.Block{Site: uint32(place % sites), Address: c.address(place),
						Size: 8 + place%2}); r.IntN(8) > 0 && !set[b] {
						set[b] = true
						list = append(list, b)
					}
				}
				sets, captures = append(sets, set), append(captures, snapshotOf(sites, list...))
			}
			t.Run(fmt.Sprintf("%s, %d blocks", name, n), func(t *testing.T) { checkSpans(t, sets, captures, sites) })
		}
	}
}

// Of many snapshots Spans looks at 24, the first and the last among them.
func TestSpansOfManySnapshots(t *testing.T) {
	for _, n := range []int{23, 24, 25, 100} {
		var captures []*capture.Capture
		for range n {
			captures = append(captures, snapshotOf(1, capture.Block{Address: 16, Size: 8}))
		}
		got, err := capture.Spans(t.Context(), captures, same, 1)
		if err != nil {
			t.Fatal(err)
		}
		want := min(n, 24)
		spans, _ := got.Of(0)
		if len(got.CaptureIndexes) != want || got.CaptureIndexes[0] != 0 || got.CaptureIndexes[want-1] != n-1 ||
			!slices.Equal(spans, []capture.Span{{0, int32(want - 1), 1}}) {
			t.Errorf("%d snapshots: %v, %v", n, got.CaptureIndexes, spans)
		}
	}
}

func TestSpansEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	cancel(stop)
	var blocks []capture.Block
	for i := range uint64(1 << 17) {
		blocks = append(blocks, capture.Block{Address: i * 16, Size: 8})
	}
	c := snapshotOf(1, blocks...)
	if _, err := capture.Spans(ctx, []*capture.Capture{c, c, c}, same, 1); !errors.Is(err, stop) {
		t.Errorf("%v, want %v", err, stop)
	}
}

// A call that is cancelled half-way leaves no goroutine behind: a goroutine would hold all captures in memory.
func TestSpansThatEndHalfWayLeaveNothing(t *testing.T) {
	c := snapshotOf(1, capture.Block{Address: 16, Size: 8})
	synctest.Test(t, func(t *testing.T) { // it fails where a goroutine is left
		for range 64 {
			ctx, cancel := context.WithCancel(t.Context())
			site := func(capture int, site uint32) int32 {
				if capture == 1 {
					cancel()
				}
				return int32(site)
			}
			if _, err := capture.Spans(ctx, []*capture.Capture{c, c, c, c, c, c}, site, 1); !errors.Is(err, context.Canceled) {
				t.Fatalf("%v", err)
			}
			cancel()
		}
	})
}

// BenchmarkSpans follows the blocks of twelve snapshots of as many blocks each, of which a twelfth is new each time, in
// four heaps.
func BenchmarkSpans(b *testing.B) {
	for name, n := range map[string]int{"200 thousand": 200_000, "2 million": 2_000_000} {
		b.Run(name, func(b *testing.B) {
			const sites, snapshots = 20_000, 12
			var captures []*capture.Capture
			for k := range snapshots {
				c := snapshotOf(sites)
				for heap := range 4 {
					for i := range n / 4 {
						place := uint64(i + k*n/4/snapshots)
						c.Blocks.Add(capture.Block{Site: uint32(place*7919>>4) % sites, Address: uint64(heap^2)<<36 + place*48,
							Size: 16 + place%7*8})
					}
				}
				captures = append(captures, c)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := capture.Spans(b.Context(), captures, same, sites); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(snapshots*n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mblocks/s")
		})
	}
}

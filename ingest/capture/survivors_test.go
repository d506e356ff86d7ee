package capture_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

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

// A block survives that turns up in between and stays to the end.
func TestSurvivors(t *testing.T) {
	at := func(site uint32, address, size uint64) capture.Block {
		return capture.Block{Site: site, Address: address, Size: size}
	}
	stays, other := at(0, 0x100, 8), at(0, 0x200, 8)
	for name, c := range map[string]struct {
		series [][]capture.Block
		want   int64
	}{
		"from the second on":    {[][]capture.Block{{}, {stays}, {stays}}, 1},
		"from the first on":     {[][]capture.Block{{stays}, {stays}, {stays}}, 0},
		"in the last only":      {[][]capture.Block{{}, {}, {stays}}, 0},
		"gone at the end":       {[][]capture.Block{{}, {stays}, {}}, 0},
		"gone for a while":      {[][]capture.Block{{}, {stays}, {}, {stays}, {stays}}, 0},
		"there before a gap":    {[][]capture.Block{{stays}, {}, {stays}, {stays}}, 0},
		"another size":          {[][]capture.Block{{}, {stays}, {at(0, 0x100, 9)}}, 0},
		"another site":          {[][]capture.Block{{}, {stays}, {at(1, 0x100, 8)}}, 0},
		"two, at several times": {[][]capture.Block{{}, {stays}, {stays, other}, {other, stays}}, 2},
		"listed twice":          {[][]capture.Block{{}, {stays, stays}, {stays, stays}}, 1},
		"two snapshots":         {[][]capture.Block{{}, {stays}}, -1},
		"none":                  {nil, -1},
	} {
		var captures []*capture.Capture
		for _, blocks := range c.series {
			captures = append(captures, snapshotOf(2, blocks...))
		}
		got, err := capture.Survivors(t.Context(), captures, same, 2)
		if err != nil || got[0] != c.want {
			t.Errorf("%s: %v, %v, want %d", name, got, err, c.want)
		}
	}
}

// Where a snapshot lists no addresses of a site's blocks, nothing is said of that site.
func TestSurvivorsWithoutAddresses(t *testing.T) {
	series := []*capture.Capture{snapshotOf(3), snapshotOf(3, capture.Block{Site: 1, Address: 8}), snapshotOf(3, capture.Block{Site: 1, Address: 8})}
	series[1].Sites[0].Usage[0].Count = 7
	got, err := capture.Survivors(t.Context(), series, same, 3)
	if want := []int64{-1, 1, 0}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	// Sites that are merged elsewhere or nowhere.
	got, err = capture.Survivors(t.Context(), series, func(_ int, site uint32) int32 { return []int32{-1, 0, 9}[site] }, 1)
	if want := []int64{1}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

// Survivors are those that sets say, whatever the blocks.
func TestSurvivorsAreThoseOfSets(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		const sites = 4
		n := 3 + r.IntN(5)
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
			captures[i] = snapshotOf(sites, list...)
		}
		want := make([]int64, sites)
		for b := range sets[n-1] {
			first := slices.IndexFunc(sets, func(s map[capture.Block]bool) bool { return s[b] })
			stays := !slices.ContainsFunc(sets[first:], func(s map[capture.Block]bool) bool { return !s[b] })
			if first >= 1 && first <= n-2 && stays {
				want[b.Site]++
			}
		}
		got, err := capture.Survivors(t.Context(), captures, same, sites)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
	}
}

func TestSurvivorsEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	cancel(stop)
	var blocks []capture.Block
	for i := range uint64(1 << 17) {
		blocks = append(blocks, capture.Block{Address: i * 16, Size: 8})
	}
	c := snapshotOf(1, blocks...)
	if _, err := capture.Survivors(ctx, []*capture.Capture{c, c, c}, same, 1); !errors.Is(err, stop) {
		t.Errorf("%v, want %v", err, stop)
	}
}

// BenchmarkSurvivors compares five snapshots of as many blocks each, of which a fifth is new each time.
func BenchmarkSurvivors(b *testing.B) {
	for name, n := range map[string]int{"300 thousand": 300_000, "5 million": 5_000_000} {
		b.Run(name, func(b *testing.B) {
			var captures []*capture.Capture
			for k := range 5 {
				c := snapshotOf(1000)
				for i := range n {
					place := uint64(i + k*n/5)
					c.Blocks.Add(capture.Block{Site: uint32(place*7919>>4) % 1000, Address: place*48 + place>>7&3*16, Size: 16 + place%7*8})
				}
				captures = append(captures, c)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := capture.Survivors(b.Context(), captures, same, 1000); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(5*n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mblocks/s")
		})
	}
}

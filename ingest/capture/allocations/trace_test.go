package allocations

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// A trace makes rows as a heap trace of an hour has them, in the order in which they end: 20,000 sites of which few
// allocate most, sizes that belong to sites, lifetimes from a microsecond to the whole hour, evenly by logarithm.
type trace struct {
	rows  int
	sites int
	seed  uint64
}

const hour = int64(time.Hour)

func (g trace) Len() int64 { return int64(g.rows) }

func (g trace) Scan(ctx context.Context, _, _ int64, sinks ...Sink) error {
	random := rand.New(rand.NewPCG(g.seed, 1))
	popular := rand.NewZipf(random, 1.1, 20, uint64(g.sites-1))
	rows := make([]Row, 0, 512)
	ended := g.rows * 97 / 100
	for i := range g.rows {
		site := uint32(popular.Uint64())
		r := g.row(random, site)
		r.FreeTime = int64(float64(hour) * (float64(i) + random.Float64()) / float64(ended) / 100)
		r.FreeTime *= 100
		if i >= ended {
			r.FreeTime, r.End, r.FreeStack = Never, EndNone, 0
			r.AllocTime = int64(random.Float64() * float64(hour))
		} else if r.AllocTime = r.FreeTime - int64(math.Exp(random.Float64()*math.Log(float64(hour)/1e3)))*1000; r.AllocTime < 0 {
			if r.AllocTime = int64(random.Float64() * float64(r.FreeTime)); i%4 == 0 {
				r.AllocTime = BeforeTrace
			}
		}
		if rows = append(rows, r); len(rows) == cap(rows) || i == g.rows-1 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := sinks[0].AddRows(rows); err != nil {
				return err
			}
			rows = rows[:0]
		}
	}
	return nil
}

func (g trace) row(r *rand.Rand, site uint32) Row {
	heap := site % 13
	row := Row{
		Site: site, Stack: site + 1, Process: heap % 3, Heap: uint64(heap)<<24 + 0x1f0_0000_0000,
		Size:    uint64(16 + site*7919%61*8*(1+r.Uint32N(3))),
		Address: uint64(heap)<<32 + 0x200_0000_0000 + uint64(r.Uint32N(1<<25))*16,
		Thread:  1000 + 4*(site%8+r.Uint32N(6)),
		End:     EndFree, FreeStack: 1 + site*3 + r.Uint32N(3),
	}
	switch {
	case site%50 == 7:
		row.Size = r.Uint64N(1 << 16) // a site that allocates strings
	case site%97 == 5:
		row.Kind, row.Heap, row.Size = KindVirtual, 0, 4096*(1+r.Uint64N(64))
	}
	if r.Uint32N(40) == 0 {
		row.End = EndRealloc
	}
	return row
}

func (g trace) meta() *Meta {
	return &Meta{
		Start: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), From: 0, To: hour,
		Processes: []Process{{0, 100, "app.exe", BeforeTrace, Never}, {1, 104, "b.exe", 5, 17}, {2, 100, "c.exe", 20, Never}},
	}
}

// A counter counts bytes and rows.
type counter struct{ bytes, rows int64 }

func (c *counter) Write(b []byte) (int, error) {
	c.bytes += int64(len(b))
	return len(b), nil
}

func (c *counter) AddRows(rows []Row) error {
	c.rows += int64(len(rows))
	return nil
}

func BenchmarkWrite(b *testing.B) {
	g := trace{1_000_000, 20_000, 1}
	s := NewSpool()
	defer s.Close()
	if err := g.Scan(b.Context(), 0, 0, s); err != nil {
		b.Fatal(err)
	}
	var out counter
	for b.Loop() {
		out = counter{}
		if err := Write(b.Context(), &out, s, g.meta()); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(out.bytes)
	b.ReportMetric(float64(out.bytes)/float64(g.rows), "bytes/row")
	b.ReportMetric(float64(g.rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

package allocations

import (
	"bufio"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// tenMillion is the path of a table of ten million rows, which all benchmarks of a run share.
var tenMillion string

func TestMain(m *testing.M) {
	code := m.Run()
	if tenMillion != "" {
		_ = os.RemoveAll(filepath.Dir(tenMillion))
	}
	os.Exit(code)
}

func makeTenMillion() error {
	dir, err := os.MkdirTemp("", "allocations-bench-*")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "table.parquet")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w, g := bufio.NewWriter(f), trace{10_000_000, 20_000, 1}
	if err := Write(context.Background(), w, g, g.meta()); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	tenMillion = path
	return f.Close()
}

func benchmarkTable(b *testing.B) (table *Table, size int64) {
	b.Helper()
	if tenMillion == "" {
		if err := makeTenMillion(); err != nil {
			b.Fatal(err)
		}
	}
	f, err := os.Open(tenMillion)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	if table, err = Open(f, info.Size()); err != nil {
		b.Fatal(err)
	}
	return table, info.Size()
}

func BenchmarkScan(b *testing.B) {
	table, size := benchmarkTable(b)
	for name, rows := range map[string]Scanner{"all": table, "brief": table.ForWindows()} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				if err := rows.Scan(b.Context(), BeforeTrace, Never, &counter{}, &counter{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(table.Len())*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// survivalsOfMany asks for the Survivals of the sites with most rows.
func survivalsOfMany(sites, wanted int) *SurvivalQuestion {
	s := &SurvivalQuestion{Slots: make([]int32, sites), Heaps: make([]int32, sites)}
	for i := range s.Slots {
		s.Heaps[i] = int32(i % 13)
		if s.Slots[i] = int32(i); i >= wanted {
			s.Slots[i] = -1
		}
	}
	return s
}

// BenchmarkAsk asks for windows of a table of ten million rows.
func BenchmarkAsk(b *testing.B) {
	table, size := benchmarkTable(b)
	sites, all := make([]int32, 20_000), make([]int32, 20_000)
	for i := range sites {
		sites[i] = int32(i)
	}
	for _, c := range []struct {
		name string
		q    Question
	}{
		{"all", Question{From: 0, To: hour}},
		{"the last tenth", Question{From: hour / 10 * 9, To: hour}},
		{"a minute", Question{From: hour / 2, To: hour/2 + hour/60}},
		{"with 200 samples", Question{From: 0, To: hour, Samples: 200}},
		{"with peaks", Question{From: 0, To: hour, Peaks: [][]int32{sites, all}}},
		{"with all survivals", Question{From: 0, To: hour, Survivals: survivalsOfMany(len(sites), MaxSurvivals)}},
		{"with survivals", Question{From: 0, To: hour, Survivals: survivalsOfMany(len(sites), 2000)}},
		{"half, with few peaks", Question{From: hour / 4, To: hour / 4 * 3, Peaks: [][]int32{all}}},
		{"half, with few peaks and survivals",
			Question{From: hour / 4, To: hour / 4 * 3, Peaks: [][]int32{all}, Survivals: survivalsOfMany(len(sites), 2000)}},
		{"a minute, with few peaks", Question{From: hour / 2, To: hour/2 + hour/60, Peaks: [][]int32{all}}},
		{"a minute, with few peaks and survivals",
			Question{From: hour / 2, To: hour/2 + hour/60, Peaks: [][]int32{all}, Survivals: survivalsOfMany(len(sites), 2000)}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(size)
			c.q.Sites = len(sites)
			for b.Loop() {
				if _, err := Ask(b.Context(), table, c.q); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(table.Len())*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkAskSmall asks for samples and peaks of a table of ten thousand rows, as a page about a short trace does.
func BenchmarkAskSmall(b *testing.B) {
	const sites = 50
	_, table := tableOf(b, spoolOf(b, wild(1, 10_000, sites, hour)), &Meta{})
	each := make([]int32, sites)
	for i := range each {
		each[i] = int32(i)
	}
	q := Question{From: 0, To: hour, Sites: sites, Samples: 100, Peaks: [][]int32{each, make([]int32, sites)}}
	for b.Loop() {
		if _, err := Ask(b.Context(), table, q); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(table.Len())*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkSpool writes and reads rows of a program.
func BenchmarkSpool(b *testing.B) {
	rows := usual(rand.New(rand.NewPCG(1, 2)), 1<<20)
	var bytes int
	for b.Loop() {
		s := NewSpool()
		if err := s.AddRows(rows); err != nil {
			b.Fatal(err)
		}
		if err := s.Scan(b.Context(), 0, 0, &counter{}); err != nil {
			b.Fatal(err)
		}
		bytes = 0
		for _, c := range s.chunks {
			bytes += c.size
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(bytes)/float64(len(rows)), "bytes/row")
	b.ReportMetric(float64(len(rows))*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

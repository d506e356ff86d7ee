package minidump_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"heapdrift/ingest/minidump"
	"heapdrift/ingest/minidump/minidumptest"
)

// benchmarkFile opens a dump of 64 MB in 4096 ranges of 16 KB, every fourth not next to the one before.
func benchmarkFile(b *testing.B) *minidump.Dump {
	b.Helper()
	var dump minidumptest.Dump
	content := bytesOf(1, 16<<10)
	at := uint64(0x10000)
	for i := range 4096 {
		if at += 16 << 10; i%4 == 0 {
			at += 16 << 10
		}
		dump.Memory = append(dump.Memory, minidumptest.Memory{Address: at, Bytes: content})
	}
	path := filepath.Join(b.TempDir(), "bench.dmp")
	size, err := dump.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	d, err := minidump.Open(b.Context(), f, size)
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// BenchmarkReadMemory reads all memory, in order, by buffers of a size.
func BenchmarkReadMemory(b *testing.B) {
	for _, size := range []int{4 << 10, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			d := benchmarkFile(b)
			p, ranges := make([]byte, size), runs(d.Memory().Ranges())
			b.SetBytes(64 << 20)
			b.ReportAllocs()
			for b.Loop() {
				for _, r := range ranges {
					for done := uint64(0); done < r.Size; done += uint64(size) {
						n := min(uint64(size), r.Size-done)
						if _, err := d.Memory().ReadMemory(p[:n], r.Address+done); err != nil {
							b.Fatal(err)
						}
					}
				}
			}
		})
	}
}

// runs joins ranges that are neighbours.
func runs(ranges []minidump.Range) (joined []minidump.Range) {
	for _, r := range ranges {
		if n := len(joined); n > 0 && joined[n-1].Address+joined[n-1].Size == r.Address {
			joined[n-1].Size += r.Size
		} else {
			joined = append(joined, r)
		}
	}
	return joined
}

// BenchmarkReadWord reads 8 bytes: in order, as headers of blocks are read, and anywhere, as links are followed.
func BenchmarkReadWord(b *testing.B) {
	d := benchmarkFile(b)
	ranges := d.Memory().Ranges()
	var p [8]byte
	b.Run("in order", func(b *testing.B) {
		b.SetBytes(8)
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			r := ranges[i>>8&4095]
			if _, err := d.Memory().ReadMemory(p[:], r.Address+uint64(i&255)*64); err != nil {
				b.Fatal(err)
			}
			i++
		}
	})
	b.Run("anywhere", func(b *testing.B) {
		rnd := rand.New(rand.NewPCG(1, 1))
		b.SetBytes(8)
		b.ReportAllocs()
		for b.Loop() {
			r := ranges[rnd.IntN(len(ranges))]
			if _, err := d.Memory().ReadMemory(p[:], r.Address+uint64(rnd.IntN(16<<10-8))); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRegions reads the address space of a large process: 200,000 regions.
func BenchmarkRegions(b *testing.B) {
	dump := minidumptest.Dump{}
	for i := range 200_000 {
		dump.Regions = append(dump.Regions, minidumptest.Region{Base: 0x10000 * uint64(i+1), Size: 0x10000})
	}
	d := open(b, dump.Bytes())
	b.SetBytes(200_000 * 48)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Regions(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHandles reads 100,000 handles with names.
func BenchmarkHandles(b *testing.B) {
	dump := minidumptest.Dump{}
	for i := range 100_000 {
		dump.Handles = append(dump.Handles,
			minidumptest.Handle{Handle: uint64(4 * i), Type: "Event", Name: fmt.Sprintf(`\BaseNamedObjects\event-%d`, i)})
	}
	d := open(b, dump.Bytes())
	b.SetBytes(100_000 * 40)
	b.ReportAllocs()
	for b.Loop() {
		if err := d.EachHandle(func(minidump.Handle) bool { return true }); err != nil {
			b.Fatal(err)
		}
	}
}

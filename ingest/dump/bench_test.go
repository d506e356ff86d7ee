package dump_test

import (
	"os"
	"path/filepath"
	"testing"

	"heapdrift/ingest/dump"
	"heapdrift/ingest/dump/dumptest"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// BenchmarkRead reads a dump from a file in the page cache: 125 MB with 300,000 blocks, or with HEAPDRIFT_LARGE 1.9 GB
// with 4,000,000.
func BenchmarkRead(b *testing.B) {
	blocks, private := uint64(300_000), uint64(64<<20)
	if os.Getenv("HEAPDRIFT_LARGE") != "" {
		blocks, private = 4_000_000, 1<<30
	}
	p := ntheaptest.MakeLarge(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 1, Stacks: true}, blocks, 160)
	path := filepath.Join(b.TempDir(), "large.dmp")
	size, err := dumptest.Of(p.Process, dumptest.Program{Private: []uint64{private}}).Create(path)
	if err != nil {
		b.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		c, err := dump.Read(b.Context(), f, size, dump.Options{})
		if err != nil || c.Blocks.Len() != int(blocks) {
			b.Fatalf("%d blocks, %v", c.Blocks.Len(), err)
		}
	}
	b.ReportMetric(float64(b.N)*float64(blocks)/b.Elapsed().Seconds(), "blocks/s")
}

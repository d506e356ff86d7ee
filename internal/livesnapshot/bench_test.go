package livesnapshot

import (
	"os"
	"path/filepath"
	"testing"

	"heapdrift/ingest/dump/dumptest"
	"heapdrift/ingest/minidump"
	"heapdrift/ingest/ntheap/ntheaptest"
)

// blocksOf is how many blocks the process of benchmarks has: 60 MB of heap, or with HEAPDRIFT_LARGE 1 GB.
func blocksOf() uint64 {
	if os.Getenv("HEAPDRIFT_LARGE") != "" {
		return 5_400_000
	}
	return 300_000
}

// large is an invented process with stacks, whose memory lies in the page cache.
func large(b *testing.B) *dumpTarget {
	b.Helper()
	p := ntheaptest.MakeLarge(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 1, Stacks: true}, blocksOf(), 160)
	path := filepath.Join(b.TempDir(), "large.dmp")
	size, err := dumptest.Of(p.Process, dumptest.Program{PID: 42}).Create(path)
	if err != nil {
		b.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	return serve(b, f, size)
}

// BenchmarkTake takes snapshots of a large process.
func BenchmarkTake(b *testing.B) {
	target := large(b)
	b.ReportAllocs()
	var cost Cost
	for b.Loop() {
		s, c := taken(b, target)
		if c.Blocks.Len() != int(blocksOf()) {
			b.Fatalf("%d blocks, want %d", c.Blocks.Len(), blocksOf())
		}
		cost = s.cost()
	}
	b.ReportMetric(cost.Pause.Seconds()*1e3, "pause-ms")
	b.ReportMetric(float64(cost.BytesRead)/(1<<20), "MB-read")
	b.ReportMetric(float64(cost.Reads), "reads")
}

// BenchmarkCopy copies the private memory of the same process into memory, in the pieces of a walk: the pause where
// heaps would be copied before they are walked.
func BenchmarkCopy(b *testing.B) {
	target := large(b)
	regions, err := listRegions(b.Context(), target)
	if err != nil {
		b.Fatal(err)
	}
	const piece = 256 << 10
	total := 0
	for b.Loop() {
		total = 0
		for _, r := range regions {
			if r.Type != minidump.MemPrivate || !isReadable(r) {
				continue
			}
			copied := make([]byte, r.Size)
			for at := 0; at < len(copied); at += piece {
				n, err := target.ReadMemory(copied[at:min(len(copied), at+piece)], r.Base+uint64(at))
				if total += n; err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.SetBytes(int64(total))
}

package tracecapture_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/etl"
	"heapdrift/ingest/etl/etltest"
	"heapdrift/ingest/etl/tracecapture"
)

// BenchmarkRead makes captures of a generated heap trace, with rows on temporary disk; BenchmarkTable writes them as
// Parquet, too. HEAPDRIFT_LARGE=1 makes the trace 1.3 GB with ten million events, else it has a twelfth of that.
func BenchmarkRead(b *testing.B)  { benchmark(b, false) }
func BenchmarkTable(b *testing.B) { benchmark(b, true) }

func benchmark(b *testing.B, table bool) {
	for name, f := range map[string]etltest.Format{"plain": {BufferSize: 1 << 20},
		"compressed": {BufferSize: 1 << 20, Compressed: true}} {
		b.Run(name, func(b *testing.B) {
			source, events := large(b, f)
			b.ReportAllocs()
			for b.Loop() {
				r, err := tracecapture.Read(context.Background(), []etl.Source{source}, tracecapture.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if table {
					err = allocations.Write(context.Background(), io.Discard, r.Rows, r.Meta)
				}
				if err := errors.Join(err, r.Close()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}

func large(b *testing.B, f etltest.Format) (etl.Source, int64) {
	b.Helper()
	size := etltest.LargeSize{Allocs: 300_000}
	if os.Getenv("HEAPDRIFT_LARGE") != "" {
		size = etltest.LargeSize{}
	}
	file, err := os.Create(filepath.Join(b.TempDir(), "large.etl"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = file.Close() }) // read only from here
	truth, err := etltest.Large(file, 1, f, size)
	if err != nil {
		b.Fatal(err)
	}
	info, err := file.Stat()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	return etl.Source{Name: "large.etl", ReaderAt: file, Size: info.Size()}, int64(truth.Events)
}

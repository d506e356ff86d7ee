package etl_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"heapdrift/ingest/etl"
	"heapdrift/ingest/etl/etltest"
	"heapdrift/ingest/etl/lifetimes"
)

// largeTrace writes a heap trace to a file of the test's own: of 300,000 allocations with their stacks and frees,
// 110 MB of events; with HEAPDRIFT_LARGE set, of 3,500,000, 1.3 GB.
func largeTrace(b *testing.B, f etltest.Format) (*etl.Trace, *etltest.LargeTruth) {
	b.Helper()
	size := etltest.LargeSize{Allocs: 300_000}
	if os.Getenv("HEAPDRIFT_LARGE") != "" {
		size = etltest.LargeSize{}
	}
	file, err := os.Create(filepath.Join(b.TempDir(), "large.etl"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = file.Close() })
	f.BufferSize = 0x100000
	truth, err := etltest.Large(file, 1, f, size)
	if err != nil {
		b.Fatal(err)
	}
	length, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		b.Fatal(err)
	}
	trace, err := etl.Open(b.Context(), []etl.Source{{Name: "large.etl", ReaderAt: file, Size: length}}, etl.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return trace, truth
}

// benchmark runs a pass over the large trace in each way to record it, and reports MB/s of decoded events, and events
// per second.
func benchmark(b *testing.B, pass func(ctx context.Context, t *etl.Trace, truth *etltest.LargeTruth) error) {
	for _, way := range []struct {
		name   string
		format etltest.Format
	}{{"plain", etltest.Format{}}, {"compressed", etltest.Format{Compressed: true}},
		{"keys", etltest.Format{Keys: 4096}}} {
		b.Run(way.name, func(b *testing.B) {
			trace, truth := largeTrace(b, way.format)
			b.SetBytes(trace.Info().Files[0].Bytes)
			b.ReportAllocs()
			for b.Loop() {
				if err := pass(b.Context(), trace, truth); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(truth.Events)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}

// Framing alone.
func BenchmarkEvents(b *testing.B) {
	benchmark(b, func(ctx context.Context, t *etl.Trace, _ *etltest.LargeTruth) error {
		return t.Events(ctx, func(*etl.Event) error { return nil })
	})
}

func BenchmarkCensus(b *testing.B) {
	benchmark(b, func(ctx context.Context, t *etl.Trace, _ *etltest.LargeTruth) error {
		_, err := t.Census(ctx)
		return err
	})
}

// With stacks and processes.
func BenchmarkOperations(b *testing.B) {
	benchmark(b, func(ctx context.Context, t *etl.Trace, _ *etltest.LargeTruth) error {
		_, err := t.OperationBatches(ctx, etl.JoinOptions{}, func([]etl.Operation) error { return nil })
		return err
	})
}

// With lifetimes of blocks: the whole analysis but for the table of rows.
func BenchmarkLifetimes(b *testing.B) {
	benchmark(b, func(ctx context.Context, t *etl.Trace, truth *etltest.LargeTruth) error {
		tracker := lifetimes.New(nil)
		var events []lifetimes.Event
		if _, err := t.OperationBatches(ctx, etl.JoinOptions{}, func(batch []etl.Operation) error {
			events = events[:0]
			for i := range batch {
				o := &batch[i]
				e := lifetimes.Event{Time: o.Time, Process: o.ProcessIndex, Thread: o.TID, Stack: uint32(o.Stack), Heap: o.Heap,
					Address: o.Address, Size: o.Size}
				switch o.Kind {
				case etl.KindHeapAlloc:
					e.Op = lifetimes.HeapAlloc
				case etl.KindHeapFree:
					e.Op = lifetimes.HeapFree
				default:
					continue
				}
				events = append(events, e)
			}
			return tracker.AddAll(events)
		}); err != nil {
			return err
		}
		err := tracker.Finish()
		var live int64
		for i := range tracker.SiteCount() {
			live += tracker.Site(i).Usage.AIFO.Count
		}
		if live != int64(truth.Outstanding.Count) {
			b.Errorf("%d blocks are alive, want %d", live, truth.Outstanding.Count)
		}
		return err
	})
}

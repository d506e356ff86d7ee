package worker_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/internal/analysis"
	"heapdrift/internal/blob"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/internal/testdb"
	"heapdrift/worker"
)

// hour is how long a large trace lasts, in ns.
const hour = int64(time.Hour)

// largeRows calls fn with the rows of a large trace, in parts: lifetimes from microseconds to an hour, some without
// end.
func largeRows(rows, sites int, fn func([]allocations.Row) error) error {
	rng := rand.New(rand.NewPCG(11, uint64(rows)))
	part := make([]allocations.Row, 0, 8192)
	for i := range rows {
		r := allocations.Row{
			AllocTime: int64(float64(hour) * float64(i) / float64(rows)), Size: 16 + rng.Uint64N(4096),
			Address: 0x10000 + uint64(i)*64, Heap: 0x1000, Stack: 1, Thread: 7,
			Site: uint32(min(rng.IntN(sites), rng.IntN(sites))), FreeTime: allocations.Never, Process: 1,
		}
		if rng.IntN(100) > 0 {
			if r.FreeTime = r.AllocTime + int64(math.Exp(rng.Float64()*math.Log(float64(hour)/1000))*1000); r.FreeTime > hour {
				r.FreeTime = allocations.Never
			} else {
				r.End = allocations.EndFree
			}
		}
		if part = append(part, r); len(part) == cap(part) || i == rows-1 {
			slices.SortFunc(part, func(a, b allocations.Row) int { return int(min(max(a.FreeTime/2-b.FreeTime/2, -1), 1)) })
			if err := fn(part); err != nil {
				return err
			}
			part = part[:0]
		}
	}
	return nil
}

// A largeTrace is a run of a large trace in a store of its own.
type largeTrace struct {
	store *store.Store
	blobs blob.Store
	run   int64
}

// startLarge makes the run. The sites of the report are those of the table, without stacks to speak of.
func startLarge(t testing.TB, rows, sites int) *largeTrace {
	t.Helper()
	s, err := store.Open(t.Context(), testdb.New(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	blobs, err := blob.Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &largeTrace{store: s, blobs: blobs}
	c := &capture.Capture{
		Kind: capture.KindETL, Shape: capture.ShapeTrace, Process: capture.Process{Name: "large.exe", PID: 7, Bits: 64},
		Snapshots: make([]capture.Snapshot, 2),
		Heaps:     []capture.Heap{{Handle: 0x1000}},
		Trace: &capture.Trace{To: hour, Window: capture.Window{To: hour}, Began: allocations.BeforeTrace,
			Exited: allocations.Never},
	}
	meta := &allocations.Meta{To: hour, Sites: make([]allocations.Site, sites)}
	for i := range sites {
		stack := c.Stacks.AddStack([]capture.FrameID{c.Stacks.AddText(capture.FrameText{Module: "large",
			Function: fmt.Sprintf("Function%d", i)}, 0)})
		c.Sites = append(c.Sites,
			capture.Site{Stack: stack, Usage: make([]capture.Usage, 2), Life: &capture.Life{Number: uint32(i)}})
		meta.Sites[i] = allocations.Site{Process: 1, Heap: 0x1000, Stack: uint32(i)}
	}
	table := l.table(t, rows, sites, meta)
	report, err := analysis.Analyze(t.Context(),
		[]analysis.Input{{Files: []analysis.File{{Name: "large.etl", SHA256: "1"}}, Captures: []*capture.Capture{c}}},
		analysis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.CreateEvidence(t.Context(), leaks.UploadTarget{Project: "p", Build: "1", Scenario: "s", Run: "1"},
		store.Evidence{Name: "large.etl", SHA256: "1", Kind: "etl"})
	if err != nil {
		t.Fatal(err)
	}
	l.run = e.RunID
	lease := func() store.Lease {
		due, err := s.DispatchAllJobs(t.Context(), time.Hour)
		if err != nil || len(due) != 1 {
			t.Fatal(due, err)
		}
		lease, err := s.ClaimJob(t.Context(), due[0].ID, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return lease
	}
	if err := s.CreateCaptures(t.Context(), lease(),
		[]store.StoredCapture{{Capture: c, ArtifactKey: "none", Table: table}}); err != nil {
		t.Fatal(err)
	}
	naming, err := s.BeginSymbolSearch(t.Context(), l.run)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.UpdateNames(t.Context(), lease(), naming, ""); err != nil {
		t.Fatal(err)
	}
	if err := s.UpdateResult(t.Context(), lease(),
		store.Result{Report: report, ReportKey: "report", Revision: 9, Table: table}); err != nil {
		t.Fatal(err)
	}
	return l
}

// table writes the allocation table into the blob store.
func (l *largeTrace) table(t testing.TB, rows, sites int, meta *allocations.Meta) store.AllocationTable {
	t.Helper()
	spool := allocations.NewSpool()
	defer func() { _ = spool.Close() }()
	if err := largeRows(rows, sites, spool.AddRows); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "table"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if err := allocations.Write(t.Context(), file, spool, meta); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	digest, err := blob.PutContent(t.Context(), l.blobs, file)
	if err != nil {
		t.Fatal(err)
	}
	return store.AllocationTable{Key: blob.ContentKey(digest.SHA256), Bytes: digest.Bytes, Sites: sites}
}

// remoteStore is a blob store without files on this machine's disk.
type remoteStore struct{ blob.Store }

func (e remoteStore) Open(ctx context.Context, key string) (blob.Reader, error) {
	r, err := e.Store.Open(ctx, key)
	return struct{ blob.Reader }{r}, err
}

// Windows of a table of many row groups have the numbers that adding up all rows gives; from a copy of the blob too.
func TestWindowsOfManyRows(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	const rows, sites = 200_000, 2000
	l := startLarge(t, rows, sites)
	var all []allocations.Row
	if err := largeRows(rows, sites, func(part []allocations.Row) error {
		all = append(all, part...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for _, test := range []struct {
		blobs   blob.Store
		columns int64
	}{{l.blobs, 0}, {l.blobs, 4 << 20 /* for one of two groups */}, {remoteStore{l.blobs}, 256 << 20}} {
		windows := &worker.WindowAnswers{Store: l.store, Blobs: test.blobs, ColumnBytes: test.columns}
		for range 3 {
			w := capture.Window{From: rng.Int64N(hour)}
			w.To = w.From + rng.Int64N(hour-w.From)
			got, err := inWindow(t, windows, l.store, l.run, w)
			if err != nil {
				t.Fatal(err)
			}
			want := allocations.NewWindow(w.From, w.To, sites)
			if err := want.AddRows(all); err != nil {
				t.Fatal(err)
			}
			total := want.Total(nil)
			if a := got.Totals.Heap.AIFO; a.Count != total.AIFO.Count || a.Bytes != total.AIFO.Bytes || len(got.Sites) != sites {
				t.Errorf("window %v: AIFO %+v, want %+v", w, a, total.AIFO)
			}
			for _, s := range got.Sites {
				c := want.Sites[s.TableSites[0]]
				if s.AIFI.Count != c.AIFI.Count || s.AIFI.Bytes != c.AIFI.Bytes || s.AOFI.Bytes != c.AOFI.Bytes ||
					s.AOFO.Count != c.AOFO.Count || s.Growth.Bytes != c.Growth().Bytes {
					t.Errorf("window %v, site %d: %+v, want %+v", w, s.Ordinal, s.Lifetimes, c)
				}
			}
		}
		if err := windows.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
			t.Errorf("temporary files: %v, %v", left, err)
		}
	}
}

// processorTime is the time that this process has used on all processors; on a busy machine it says more than the
// clock.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkWindow asks for windows of a trace of ten million allocations: cold, before the table and the sites of the
// run are opened, and warm. All sites keep something, so all are judged.
func BenchmarkWindow(b *testing.B) {
	for _, sites := range []int{4000, 20_000} {
		b.Run(fmt.Sprintf("sites=%d", sites), func(b *testing.B) {
			l := startLarge(b, 10_000_000, sites)
			for _, bench := range []struct {
				name string
				w    capture.Window
				cold bool
			}{
				{"cold/whole", capture.Window{To: hour}, true},
				{"cold/minute", capture.Window{From: hour / 2, To: hour/2 + hour/60}, true},
				{"warm/whole", capture.Window{To: hour}, false}, {"warm/half", capture.Window{From: hour / 2, To: hour}, false},
				{"warm/minute", capture.Window{From: hour / 2, To: hour/2 + hour/60}, false},
			} {
				b.Run(bench.name, func(b *testing.B) { l.window(b, bench.w, bench.cold) })
			}
		})
	}
}

// window asks for a window again and again.
func (l *largeTrace) window(b *testing.B, w capture.Window, cold bool) {
	windows := &worker.WindowAnswers{Store: l.store, Blobs: l.blobs, ColumnBytes: 256 << 20}
	defer func() { _ = windows.Close() }()
	if !cold {
		if _, err := inWindow(b, windows, l.store, l.run, capture.Window{To: hour}); err != nil {
			b.Fatal(err)
		}
	}
	before := processorTime(b)
	for b.Loop() {
		if _, err := inWindow(b, windows, l.store, l.run, w); err != nil {
			b.Fatal(err)
		}
		if cold {
			if err := windows.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/window")
	b.ReportMetric(float64((processorTime(b)-before).Milliseconds())/float64(b.N), "cpu-ms/window")
}

// BenchmarkTraceOfRun reads which rows the sites of a run have.
func BenchmarkTraceOfRun(b *testing.B) {
	l := startLarge(b, 1000, 20_000)
	for b.Loop() {
		if _, err := storetest.Now(b, l.store).FindRunTrace(b.Context(), l.run); err != nil {
			b.Fatal(err)
		}
	}
}

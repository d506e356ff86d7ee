package lifetimes

import (
	"heapdrift/ingest/capture/allocations"

	"math"
	"math/rand/v2"
	"testing"
)

func randomRows(t *testing.T, seed uint64, n int) (*Tracker, []allocations.Row) {
	t.Helper()
	sink := &rowCollector{}
	tr := New(sink)
	for _, e := range randomEvents(rand.New(rand.NewPCG(seed, 2)), n) {
		if err := tr.Add(&e); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.Finish(); err != nil {
		t.Fatal(err)
	}
	return tr, sink.rows
}

func window(t *testing.T, rows []allocations.Row, sites int, from, to int64) allocations.WindowUsage {
	t.Helper()
	w := allocations.NewWindow(from, to, sites)
	if err := w.AddRows(rows); err != nil {
		t.Fatal(err)
	}
	return w.Total(nil)
}

// alive is the usage by the blocks that are alive after an instant: allocated at or before it and freed after it.
func alive(rows []allocations.Row, at int64) (u allocations.Usage) {
	for _, r := range rows {
		if !r.UnknownFree && r.AllocTime <= at && r.FreeTime > at {
			u.Bytes += int64(r.Size)
			if !r.Part {
				u.Count++
			}
		}
	}
	return u
}

func TestWindowLaws(t *testing.T) {
	for seed := range uint64(8) {
		tr, rows := randomRows(t, seed, 900)
		sites := len(tr.Sites())
		r := rand.New(rand.NewPCG(seed, 3))
		for range 12 {
			a := -1100 + r.Int64N(1600)
			b := a + r.Int64N(500)
			c := b + 1 + r.Int64N(500)
			left, right, both := window(t, rows, sites, a, b), window(t, rows, sites, b+1, c), window(t, rows, sites, a, c)
			if got, want := left.AtStart(), alive(rows, a-1); got != want {
				t.Fatalf("seed %d: at the start of [%d, %d] %+v, want %+v", seed, a, b, got, want)
			}
			if got, want := left.Outstanding(), alive(rows, b); got != want {
				t.Fatalf("seed %d: at the end of [%d, %d] %+v, want %+v", seed, a, b, got, want)
			}
			if left.Outstanding() != right.AtStart() {
				t.Fatalf("windows that touch differ: %+v, %+v", left, right)
			}
			if left.Growth().Add(right.Growth()) != both.Growth() || left.Growth() != left.Outstanding().Sub(left.AtStart()) {
				t.Fatalf("growth %+v and %+v, together %+v", left, right, both)
			}
			if left.Allocated().Add(right.Allocated()) != both.Allocated() || left.Freed().Add(right.Freed()) != both.Freed() {
				t.Fatalf("sums %+v and %+v, together %+v", left, right, both)
			}
			if left.UnknownFrees+right.UnknownFrees != both.UnknownFrees {
				t.Fatalf("unknown frees %+v and %+v, together %+v", left, right, both)
			}
			checkPeak(t, rows, sites, a, c)
		}
		checkSamples(t, rows, sites)
	}
}

// checkPeak compares with the sum at every instant of the window.
func checkPeak(t *testing.T, rows []allocations.Row, sites int, from, to int64) {
	t.Helper()
	spool := allocations.NewSpool()
	defer func() { _ = spool.Close() }()
	if err := spool.AddRows(rows); err != nil {
		t.Fatal(err)
	}
	a, err := allocations.Ask(t.Context(), spool,
		allocations.Question{From: from, To: to, Sites: sites, Peaks: [][]int32{make([]int32, sites)}})
	if err != nil {
		t.Fatal(err)
	}
	got := a.Peaks[0][0]
	want := alive(rows, from-1)
	for at := from; at <= to && at < 2000; at++ {
		if u := alive(rows, at); u.Bytes > want.Bytes {
			want = u
		}
	}
	// Within an instant more may have been alive for no time at all, never less.
	if got.Bytes < want.Bytes {
		t.Fatalf("peak in [%d, %d] %+v, want at least %+v", from, to, got, want)
	}
	if got.At < from || got.At > to {
		t.Fatalf("peak at %d outside of [%d, %d]", got.At, from, to)
	}
}

func checkSamples(t *testing.T, rows []allocations.Row, sites int) {
	t.Helper()
	s := allocations.NewSamples(-900, 400, 7, sites)
	if err := s.AddRows(rows); err != nil {
		t.Fatal(err)
	}
	sums := make([]allocations.Usage, len(s.At))
	for site := range sites {
		for i, u := range s.Site(site) {
			sums[i] = sums[i].Add(u)
		}
	}
	for i, at := range s.At {
		if want := alive(rows, at); sums[i] != want {
			t.Fatalf("at %d: %+v, want %+v", at, sums[i], want)
		}
	}
}

func TestBeforeExit(t *testing.T) {
	tr, sink := run(t,
		Event{Op: ProcessStart},
		Event{Op: HeapAlloc, Time: 1, Heap: 1, Address: 16, Size: 10},
		Event{Op: VirtualAlloc, Time: 2, Address: 0x10000, Size: 0x1000, Flags: MemReserve | MemCommit},
		Event{Op: ProcessEnd, Time: 3},
	)
	w := allocations.NewWindow(0, 10, len(tr.Sites()))
	w.IgnoreExit = true
	if err := w.AddRows(sink.rows); err != nil {
		t.Fatal(err)
	}
	if got := w.Total(nil); got != (allocations.WindowUsage{AIFO: allocations.Usage{Count: 2, Bytes: 0x100a}}) {
		t.Errorf("before the exit %+v", got)
	}
	if got := window(t, sink.rows, len(tr.Sites()), 0,
		10); got != (allocations.WindowUsage{AIFI: allocations.Usage{Count: 2, Bytes: 0x100a},
		AtExit: allocations.Usage{Count: 2, Bytes: 0x100a}}) {
		t.Errorf("after the exit %+v", got)
	}
}

func TestScansRefuseUnknownSites(t *testing.T) {
	for _, sink := range []allocations.Sink{allocations.NewWindow(0, 1, 1), allocations.NewSamples(0, 1, 3, 1)} {
		if err := sink.AddRows([]allocations.Row{{Site: math.MaxUint32}}); err == nil {
			t.Errorf("%T takes a row of a site it has not", sink)
		}
	}
}

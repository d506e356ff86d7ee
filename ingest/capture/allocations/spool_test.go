package allocations

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heapdrift/ingest/evidence"
)

// rowCollector is a Sink that keeps rows.
type rowCollector struct{ rows []Row }

func (c *rowCollector) AddRows(rows []Row) error {
	c.rows = append(c.rows, rows...)
	return nil
}

func spoolOf(t testing.TB, rows []Row) *Spool {
	t.Helper()
	s := NewSpool()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.AddRows(rows); err != nil {
		t.Fatal(err)
	}
	return s
}

// extremes are rows with the least and the greatest value of every field; their sites are numbered from first.
func extremes(first uint32) []Row {
	m := uint64(math.MaxUint64)
	n := uint32(math.MaxUint32)
	return []Row{
		{Site: first},
		{BeforeTrace, Never, m, m, m, first + 3, n, n, n, n, KindHeapVirtual, EndLost, true, true},
		{AllocTime: BeforeTrace + 1, FreeTime: Never - 1, Site: first + 1, Kind: KindVirtual, End: EndRealloc, Part: true},
		{AllocTime: -1, FreeTime: -1, Address: 1 << 63, Size: 1 << 63, Heap: 1 << 63, Site: first + 2,
			UnknownFree: true, End: EndExit},
		{AllocTime: BeforeTrace, FreeTime: 5, Site: first, End: EndDestroy},
		{AllocTime: 7, FreeTime: Never, Site: first},
		{AllocTime: Never - 1, FreeTime: BeforeTrace + 1, Site: first},
	}
}

// usual are rows as a program makes them: times in order, small sizes, and now and then a block older than the trace or
// never freed.
func usual(rng *rand.Rand, n int) []Row {
	rows, at := make([]Row, n), int64(0)
	for i := range rows {
		at += rng.Int64N(10_000)
		site := uint32(rng.IntN(100))
		r := Row{
			AllocTime: at - rng.Int64N(1<<rng.IntN(40)), FreeTime: at, Address: 0x1D000000000 + uint64(rng.Uint32())*16,
			Size: uint64(rng.IntN(4096)),
			Site: site, Heap: uint64(site%3) << 16, Process: site % 2, Stack: site * 7, Thread: uint32(rng.IntN(5)) * 4,
			End: EndFree,
		}
		switch rng.IntN(400) {
		case 0:
			r.AllocTime = BeforeTrace
		case 1:
			r.FreeTime, r.End = Never, EndNone
		}
		rows[i] = r
	}
	return rows
}

func TestSpoolKeepsRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var mixed []Row
	for len(mixed) < packRows+700 {
		mixed = append(mixed, extremes(0)...)
	}
	for name, want := range map[string][]Row{"extreme": mixed, "alike": make([]Row, packRows),
		"usual": usual(rng, 5*packRows+1)} {
		for _, memory := range []int64{spoolMemory, 100_000, 0} { // all in memory, some on disk, all on disk
			t.Run(fmt.Sprintf("%s, %d bytes of memory", name, memory), func(t *testing.T) { checkSpool(t, want, memory) })
		}
	}
}

func checkSpool(t *testing.T, want []Row, memory int64) {
	s := spoolOf(t, nil)
	s.memory = memory
	if err := s.AddRows(want); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if s.Len() != int64(len(want)) {
			t.Errorf("%d rows, want %d", s.Len(), len(want))
		}
		var got rowCollector
		if err := s.Scan(context.Background(), BeforeTrace, Never, &got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.rows, want) {
			t.Fatal("one sink has other rows")
		}
		want = append(slices.Clone(want), want[0])
		if err := s.AddRows(want[:1]); err != nil {
			t.Fatal(err)
		}
	}
	var a, b, c rowCollector
	if err := s.Scan(context.Background(), BeforeTrace, Never, &a, &b, &c); err != nil {
		t.Fatal(err)
	}
	if got := len(a.rows) + len(b.rows) + len(c.rows); got != len(want) {
		t.Errorf("three sinks have %d rows, want %d", got, len(want))
	}
}

func TestSpoolSites(t *testing.T) {
	s := spoolOf(t, []Row{{Site: 1, Stack: 2}})
	for _, r := range []Row{{Site: 1, Stack: 3}, {Site: 1, Stack: 2, Heap: 1}, {Site: 1, Stack: 2, Process: 1},
		{Site: 1, Stack: 2, Kind: KindVirtual}, {Site: maxSpoolSites}} {
		if got := code(s.AddRows([]Row{r})); got != CodeSite {
			t.Errorf("%+v is taken: %q", r, got)
		}
	}
}

func TestSpoolRenumbers(t *testing.T) {
	s := spoolOf(t, []Row{{Site: 1, Stack: 2, FreeStack: 0}, {Site: 0, Stack: 1, FreeStack: 2}})
	for _, c := range []struct {
		sites, stacks []uint32
		want          []Row
		code          string
	}{
		{nil, nil, []Row{{Site: 1, Stack: 2, FreeStack: 0}, {Site: 0, Stack: 1, FreeStack: 2}}, ""},
		{[]uint32{7, 8}, []uint32{0, 5, 6}, []Row{{Site: 8, Stack: 6, FreeStack: 0}, {Site: 7, Stack: 5, FreeStack: 6}}, ""},
		{[]uint32{7}, nil, nil, CodeSite},
		{nil, []uint32{0, 5}, nil, CodeStack},
	} {
		s.Renumber(c.sites, c.stacks, nil)
		var got rowCollector
		err := s.Scan(context.Background(), 0, 0, &got)
		if code(err) != c.code || !slices.Equal(got.rows, c.want) {
			t.Errorf("renumbered by %v and %v: %v, %v", c.sites, c.stacks, got.rows, err)
		}
	}
}

// code is the code of an error, "" for none.
func code(err error) string {
	var e *evidence.Error
	if errors.As(err, &e) {
		return e.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestSpoolClosed(t *testing.T) {
	s := spoolOf(t, make([]Row, 3))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := code(s.Scan(context.Background(), 0, 0, &rowCollector{})); got != CodeClosed {
		t.Errorf("a scan after Close: %q", got)
	}
	if got := code(s.AddRows(make([]Row, 2*packRows))); got != CodeClosed {
		t.Errorf("rows after Close: %q", got)
	}
}

// failingSink is a Sink that takes some rows and then fails.
type failingSink struct{ left int }

var errSink = errors.New("enough")

func (f *failingSink) AddRows(rows []Row) error {
	if f.left -= len(rows); f.left < 0 {
		return errSink
	}
	return nil
}

func TestScanEnds(t *testing.T) {
	s := spoolOf(t, make([]Row, 5*packRows))
	if err := s.Scan(context.Background(), 0, 0, &failingSink{packRows + 1},
		&failingSink{1000}); !errors.Is(err, errSink) {
		t.Errorf("an error of a sink: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Scan(ctx, 0, 0, &rowCollector{}, &rowCollector{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := s.Scan(context.Background(), 0, 0); err != nil {
		t.Errorf("no sinks: %v", err)
	}
}

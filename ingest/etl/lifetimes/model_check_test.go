package lifetimes

import (
	"heapdrift/ingest/capture/allocations"

	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// rowCollector is a Sink that keeps everything.
type rowCollector struct{ rows []allocations.Row }

func (c *rowCollector) AddRows(rows []allocations.Row) error {
	c.rows = append(c.rows, rows...)
	return nil
}

// holder is a heap, or with heap 0 a process.
type holder struct {
	process uint32
	heap    uint64
}

// randomEvents makes a stream with every anomaly: few addresses, so that they collide.
func randomEvents(r *rand.Rand, n int) []Event {
	events := make([]Event, n)
	at := int64(-1000)
	for i := range events {
		at += r.Int64N(4)
		heap := uint64(0x10000 * (1 + r.IntN(3)))
		e := Event{
			Time: at, Process: uint32(r.IntN(3)), Thread: uint32(r.IntN(3)), Stack: uint32(r.IntN(4)), Heap: heap,
			Address: 0x10000*uint64(1+r.IntN(8)) + 0x800*uint64(r.IntN(40)), Size: uint64(r.IntN(300)),
			OldSize: uint64(r.IntN(300)),
		}
		e.OldAddress = e.Address
		switch p := r.IntN(1000); {
		case p < 300:
			e.Op = HeapAlloc
		case p < 600:
			e.Op = HeapFree
		case p < 650:
			e.Op = HeapRealloc
		case p < 700:
			e.Op, e.OldAddress = HeapRealloc, 0x10000*uint64(1+r.IntN(8))+0x800*uint64(r.IntN(40))
		case p < 705:
			e.Op, e.Size = HeapCreate, []uint64{0, 0x9000, 0x10000}[r.IntN(3)]
		case p < 715:
			e.Op = HeapDestroy
		case p < 720:
			e.Op = HeapSnapshot
		case p < 724:
			e.Op, e.Address = HeapAlloc, 0
		case p < 728:
			e.Op, e.Size = HeapAlloc, maxSize+1
		case p < 730:
			e.Op = ProcessStart
		case p < 732 && i > n/2:
			e.Op = ProcessEnd
		default:
			randomVirtual(r, &e)
		}
		events[i] = e
	}
	return events
}

// randomVirtual makes e an event of virtual memory: regions in whole granules, commits in pages.
func randomVirtual(r *rand.Rand, e *Event) {
	base := 0x10000 * uint64(1+r.IntN(8))
	region := 0x10000 * uint64(1+r.IntN(4))
	page, pages := base+0x1000*uint64(r.IntN(16)), 0x1000*uint64(1+r.IntN(24))
	e.Heap = 0x10000 * uint64(1+r.IntN(3))
	switch r.IntN(10) {
	case 0, 1:
		e.Op, e.Flags, e.Address, e.Size = VirtualAlloc, MemReserve, base, region
	case 2:
		e.Op, e.Flags, e.Address, e.Size = VirtualAlloc, MemReserve|MemCommit, base, region
	case 3, 4:
		e.Op, e.Flags, e.Address, e.Size = VirtualAlloc, MemCommit, page, pages
	case 5, 6:
		e.Op, e.Flags, e.Address, e.Size = VirtualFree, MemDecommit, page, pages
	case 7:
		e.Op, e.Flags, e.Address, e.Size = VirtualFree, MemRelease, base, region*uint64(r.IntN(2))
	case 8:
		e.Op, e.Address, e.Size, e.Committed = VirtualRundownStart+EventKind(r.IntN(2)), base, region, pages
	default:
		e.Op, e.Address, e.Size = HeapRange+EventKind(r.IntN(2)), base, region
	}
}

// pagewise cuts rows of virtual memory into pages, as the model has them, and forgets site numbers.
func pagewise(rows []allocations.Row) []allocations.Row {
	var out []allocations.Row
	for _, r := range rows {
		r.Site = 0
		if r.Kind == allocations.KindHeap {
			out = append(out, r)
			continue
		}
		for size := r.Size; size > 0; size -= modelPage {
			p := r
			p.Size, p.Part = modelPage, r.Part || size > modelPage
			out = append(out, p)
			r.Address += modelPage
		}
	}
	return inOrder(out)
}

// inOrder sorts rows by everything that tells them apart.
func inOrder(rows []allocations.Row) []allocations.Row {
	flag := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	slices.SortFunc(rows, func(a, b allocations.Row) int {
		return cmp.Or(
			cmp.Compare(a.FreeTime, b.FreeTime), cmp.Compare(a.AllocTime, b.AllocTime), cmp.Compare(a.Address, b.Address),
			cmp.Compare(a.Process, b.Process), cmp.Compare(a.Heap, b.Heap), cmp.Compare(a.Size, b.Size),
			cmp.Compare(a.Stack, b.Stack), cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.FreeStack, b.FreeStack),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.End, b.End), flag(a.Part)-flag(b.Part), flag(a.UnknownFree)-flag(b.UnknownFree),
		)
	})
	return rows
}

func TestModel(t *testing.T) {
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 1))
		sink := &rowCollector{}
		tr, m := New(sink), newModel()
		peak, adopted := map[holder]int64{}, map[holder]int64{}
		for i, e := range randomEvents(r, 60+r.IntN(700)) {
			if err := tr.Add(&e); err != nil {
				t.Fatal(err)
			}
			before := len(m.blocks)
			m.add(e)
			if b := m.blocks[modelKey{e.Process, e.Heap, e.Address}]; len(m.blocks) > before && e.Op == HeapRealloc &&
				b.AllocTime == allocations.BeforeTrace {
				adopted[holder{e.Process, e.Heap}] += int64(e.OldSize)
				adopted[holder{e.Process, 0}] += int64(e.OldSize)
			}
			live := map[holder]int64{}
			for k, b := range m.blocks {
				live[holder{k.process, k.heap}] += int64(b.Size)
				live[holder{k.process, 0}] += int64(b.Size)
			}
			for k, v := range live {
				peak[k] = max(peak[k], v-adopted[k])
			}
			if got := tr.LiveBlocks(); got != len(m.blocks) {
				t.Fatalf("seed %d, event %d %+v: %d blocks live, want %d", seed, i, e, got, len(m.blocks))
			}
		}
		m.finish()
		if err := tr.Finish(); err != nil {
			t.Fatal(err)
		}
		if tr.Anomalies != m.an {
			t.Fatalf("seed %d: anomalies\n%+v, want\n%+v", seed, tr.Anomalies, m.an)
		}
		got, want := pagewise(sink.rows), pagewise(m.rows)
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("seed %d: row %d\n%+v, want\n%+v", seed, i, got[i], want[i])
			}
		}
		if len(got) != len(want) {
			t.Fatalf("seed %d: %d rows, want %d", seed, len(got), len(want))
		}
		checkSums(t, tr, sink.rows)
		for _, h := range tr.Heaps() {
			k := holder{h.Process, h.Handle}
			checkTimeline(t, h.Timeline, h.Peak, h.Usage.Outstanding().Bytes, peak[k]+adopted[k])
		}
		for _, p := range tr.Processes() {
			k := holder{p.Instance, 0}
			checkTimeline(t, p.HeapTimeline, p.HeapPeak, p.Heap.Outstanding().Bytes, peak[k]+adopted[k])
		}
	}
}

// checkSums compares what the Tracker added up with a window over everything, and sites with rows.
func checkSums(t *testing.T, tr *Tracker, rows []allocations.Row) {
	t.Helper()
	sites := tr.Sites()
	for _, r := range rows {
		if s := sites[r.Site]; s.Process != r.Process || s.Heap != r.Heap || s.Kind != r.Kind || s.Stack != r.Stack {
			t.Fatalf("row %+v of site %+v", r, s)
		}
	}
	w := allocations.NewWindow(math.MinInt64+1, math.MaxInt64-1, len(sites))
	if err := w.AddRows(rows); err != nil {
		t.Fatal(err)
	}
	heaps, processes := map[holder]allocations.WindowUsage{}, map[uint32][3]allocations.WindowUsage{}
	for i, s := range sites {
		if s.Usage != w.Sites[i] {
			t.Fatalf("site %+v; the rows say %+v", s, w.Sites[i])
		}
		p := processes[s.Process]
		p[s.Kind] = p[s.Kind].Add(s.Usage)
		processes[s.Process] = p
		if s.Kind == allocations.KindHeap {
			k := holder{s.Process, s.Heap}
			heaps[k] = heaps[k].Add(s.Usage)
		}
	}
	for _, h := range tr.Heaps() {
		if want := heaps[holder{h.Process, h.Handle}]; h.Usage != want {
			t.Fatalf("heap %+v; its sites say %+v", h, want)
		}
	}
	for _, p := range tr.Processes() {
		if got := [3]allocations.WindowUsage{p.Heap, p.Virtual, p.HeapVirtual}; got != processes[p.Instance] {
			t.Fatalf("process %d: %+v; its sites say %+v", p.Instance, got, processes[p.Instance])
		}
	}
}

func checkTimeline(t *testing.T, line []allocations.Point, peak allocations.Peak, last, highest int64) {
	t.Helper()
	if peak.Bytes != highest {
		t.Errorf("peak %+v, want %d bytes", peak, highest)
	}
	if len(line) == 0 {
		return
	}
	if got := line[len(line)-1].LastBytes; got != last {
		t.Errorf("the timeline ends with %d bytes, want %d", got, last)
	}
	var top int64
	for _, p := range line {
		top = max(top, p.MaxBytes)
	}
	if top != highest {
		t.Errorf("the timeline's maximum is %d bytes, want %d", top, highest)
	}
}

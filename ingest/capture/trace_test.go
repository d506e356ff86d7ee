package capture_test

import (
	"bytes"
	"context"
	"reflect"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
)

// twoProcesses are the captures of one trace: the first has a heap and virtual memory, the second one block.
func twoProcesses(t testing.TB) ([]*capture.Capture, *allocations.Spool) {
	t.Helper()
	rows := allocations.NewSpool()
	t.Cleanup(func() { _ = rows.Close() })
	const heap, virtual, other = 0, 1, 2
	never := allocations.Never
	if err := rows.AddRows([]allocations.Row{
		{AllocTime: 1e9, FreeTime: 3e9, Size: 100, Site: heap, Heap: 0x10000, Address: 0x10100, End: allocations.EndFree},
		{AllocTime: 2e9, FreeTime: never, Size: 40, Site: heap, Heap: 0x10000, Address: 0x10200},
		{AllocTime: 2e9, FreeTime: 9e9, Size: 4096, Site: virtual, Address: 0x20000, Kind: allocations.KindVirtual,
			End: allocations.EndExit},
		{AllocTime: 5e9, FreeTime: never, Size: 7, Site: other, Process: 1, Heap: 0x10000, Address: 0x10200},
	}); err != nil {
		t.Fatal(err)
	}
	process := func(pid uint32, sites ...capture.Site) *capture.Capture {
		c := &capture.Capture{
			Kind: capture.KindETL, Shape: capture.ShapeTrace, Process: capture.Process{Name: "app.exe", PID: pid, Bits: 64},
			Heaps: []capture.Heap{{Handle: 0x10000,
				Timeline: capture.Timeline{Points: []allocations.Point{{Time: 1 << 20, LastBytes: 100, MaxBytes: 140, MaxAt: 2e6}}}}},
			Trace: &capture.Trace{
				Start: time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC), Bias: -2 * time.Hour, From: -5, To: 10e9, Events: 12,
				Began: allocations.BeforeTrace, Exited: never, Teardown: never,
				Virtual: capture.Timeline{Points: []allocations.Point{{Time: -4, LastBytes: 1, MaxBytes: 2, MaxAt: -3}}},
			},
		}
		c.Trace.Window = c.Trace.Whole()
		c.Snapshots = c.Trace.Instants(3)
		for _, s := range sites {
			s.Stack = c.Stacks.AddStack([]capture.FrameID{c.Stacks.AddAddress(0x401000 + uint64(s.Life.Number))})
			s.Usage = []capture.Usage{{}, {Count: 1, Bytes: 2}, {}}
			c.Sites = append(c.Sites, s)
		}
		return c
	}
	return []*capture.Capture{
		process(1, capture.Site{Life: &capture.Life{Number: heap}},
			capture.Site{Heap: capture.NoHeap, Kind: capture.KindVirtual, Life: &capture.Life{Number: virtual}}),
		process(2, capture.Site{Life: &capture.Life{Number: other}}),
	}, rows
}

// One scan gives every capture the numbers of its own rows in the window.
func TestInWindow(t *testing.T) {
	captures, rows := twoProcesses(t)
	got, err := capture.CutToWindow(context.Background(), captures, rows, capture.Window{From: 2e9, To: 4e9})
	if err != nil {
		t.Fatal(err)
	}
	u := func(count, bytes int64) allocations.Usage { return allocations.Usage{Count: count, Bytes: bytes} }
	heap, virtual, other := got[0].Sites[0].Life, got[0].Sites[1].Life, got[1].Sites[0].Life
	if want := (allocations.WindowUsage{AIFO: u(1, 40), AOFI: u(1, 100)}); heap.Usage != want || heap.Peak.Bytes != 140 {
		t.Errorf("heap %+v, want %+v and a peak of 140", heap, want)
	}
	if want := (allocations.WindowUsage{AIFO: u(1, 4096)}); virtual.Usage != want || virtual.Peak.Bytes != 4096 {
		t.Errorf("virtual %+v, want %+v", virtual, want)
	}
	if other.Usage != (allocations.WindowUsage{}) {
		t.Errorf("the other process %+v, want nothing", other)
	}
	first := got[0]
	if first.Trace.Heap.Peak.Bytes != 140 || first.Trace.Virtual.Peak.Bytes != 4096 ||
		first.Heaps[0].Timeline.Peak.Bytes != 140 || got[1].Heaps[0].Timeline.Peak.Bytes != 0 {
		t.Errorf("peaks %+v %+v %+v", first.Trace.Heap.Peak, first.Trace.Virtual.Peak, first.Heaps[0].Timeline.Peak)
	}
	if want := (capture.Usage{Count: 1, Bytes: 40}); first.Sites[0].Usage[2] != want || len(first.Snapshots) != 3 ||
		!first.Snapshots[2].TakenAt.Equal(first.Trace.Start.Add(2*time.Hour+4*time.Second)) {
		t.Errorf("series %+v at %+v", first.Sites[0].Usage, first.Snapshots)
	}
	if captures[0].Trace.Window.To != 10e9 || captures[0].Sites[0].Life.Usage != (allocations.WindowUsage{}) {
		t.Error("the captures given were changed")
	}
}

// Held counts the memory of a process that has ended as of the instant before its end.
func TestHeld(t *testing.T) {
	captures, rows := twoProcesses(t)
	got, err := capture.CutToWindow(context.Background(), captures, rows, capture.Window{To: 10e9})
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Held() != 40+4096 || got[1].Held() != 7 {
		t.Errorf("held %d and %d", got[0].Held(), got[1].Held())
	}
}

func TestTraceRoundTrip(t *testing.T) {
	captures, rows := twoProcesses(t)
	captures, err := capture.CutToWindow(context.Background(), captures, rows, capture.Window{From: 0, To: 5e9})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range captures {
		read, err := capture.Read(bytes.NewReader(artifact(t, c)))
		if err != nil {
			t.Fatal(err)
		}
		for name, pair := range map[string][2]any{"trace": {c.Trace, read.Trace}, "heaps": {c.Heaps, read.Heaps},
			"sites": {c.Sites, read.Sites}} {
			if !reflect.DeepEqual(pair[0], pair[1]) {
				t.Errorf("%s: wrote %+v, read %+v", name, pair[0], pair[1])
			}
		}
	}
}

// A capture whose parts do not fit together is refused.
func TestTraceThatDoesNotFit(t *testing.T) {
	for name, spoil := range map[string]func(*capture.Capture){
		"no trace": func(c *capture.Capture) { c.Shape = capture.ShapeSnapshot },
		"kind":     func(c *capture.Capture) { c.Sites[0].Kind = capture.KindHeapVirtual + 1 },
		"heap":     func(c *capture.Capture) { c.Sites[0].Heap = 1 },
	} {
		captures, _ := twoProcesses(t)
		spoil(captures[0])
		var b bytes.Buffer
		if err := captures[0].Write(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := capture.Read(&b); err == nil {
			t.Errorf("%s: read", name)
		}
	}
}

func TestParseWindow(t *testing.T) {
	for text, want := range map[string]capture.Window{
		"10.5,20.5": {From: 10_500_000_000, To: 20_500_000_000}, "0,0": {}, "-1 , 2e1": {From: -1e9, To: 20e9},
		"0.0000000005,1": {From: 1, To: 1e9},
	} {
		if got, err := capture.ParseWindow(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1", "1,", "2,1", "a,b", "NaN,1", "0,Inf", "-1e300,1", "1,2,3"} {
		if w, err := capture.ParseWindow(text); err == nil {
			t.Errorf("%q gave %+v", text, w)
		}
	}
}

// A window that is the whole trace but for rounding gives the captures themselves.
func TestInWholeWindow(t *testing.T) {
	captures, rows := twoProcesses(t)
	whole := captures[0].Trace.Whole()
	for _, test := range []struct {
		window capture.Window
		same   bool
	}{{whole, true}, {capture.Window{From: whole.From, To: whole.To + 50e6}, true},
		{capture.Window{From: 0, To: whole.To}, false}, {capture.Window{From: whole.From, To: 2 * whole.To}, false}} {
		got, err := capture.CutToWindow(context.Background(), captures, rows, test.window)
		if err != nil {
			t.Fatal(err)
		}
		if (got[0] == captures[0]) != test.same {
			t.Errorf("%+v: same %t", test.window, !test.same)
		}
	}
}

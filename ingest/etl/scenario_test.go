package etl_test

import (
	"fmt"
	"slices"
	"testing"

	"heapdrift/ingest/etl"
	"heapdrift/ingest/etl/etltest"
)

// formats are ways to record one and the same run. What a reader finds must not depend on them.
var formats = map[string]etltest.Format{
	"plain":                {},
	"compressed":           {Compressed: true},
	"keys":                 {Keys: 6},
	"few keys, compressed": {Keys: 2, Compressed: true, BufferSize: 0x2000},
	"Windows 7":            {Build: 7601, Frequency: 2_338_525},
	"Windows 8":            {Build: 9200, Keys: 100, BufferSize: 0x100000},
	"Windows 11":           {Build: 26200},
	"large buffers":        {BufferSize: 0x400000},
	"native":               {Native: true},
	"Windows 7, 32 bits":   {Build: 7601, Bits: 32, Native: true, Keys: 6},
	"32 bits":              {Bits: 32},
	"classic headers":      {Relogged: true},
	"system time":          {Clock: etltest.SystemTime},
	"cycles":               {Clock: etltest.Cycles, Frequency: 2_400_000_000},
	"odd frequency":        {Frequency: 3_513_594},
	"fast counter":         {Frequency: 2_994_370_000},
	"one stream":           {OneStream: true},
	"shared buffers":       {OneStream: true, Disorder: 7},
	"unfinished":           {Unfinished: true},
	"memory rundown":       {MemoryRundown: true},
}

// lines renders what a scenario did to heaps and virtual memory, as a recording shows it.
func lines(s *etltest.Scenario, f etltest.Format) (all []string) {
	add := func(ns int64, what string, process int, by etltest.Caller, format string, args ...any) {
		var frames []uint64
		if by.Stack > 0 {
			stack := &s.Stacks[by.Stack-1]
			frames = slices.Concat(stack.Kernel, stack.User)
		}
		all = append(all, fmt.Sprintf("%d %s pid %d stack %x ", f.Seen(ns), what, s.Processes[process].PID,
			frames)+fmt.Sprintf(format, args...))
	}
	for i := range s.Blocks {
		b := &s.Blocks[i]
		h := &s.Heaps[b.Heap]
		if b.Allocated != 0 && !b.Unlogged {
			add(b.Allocated, "alloc", h.Process, b.By, "heap %#x block %#x size %d tid %d", h.Handle,
				b.Address, b.Size, b.By.Thread)
		}
		if b.Freed != 0 && !b.FreedUnlogged {
			add(b.Freed, "free", h.Process, b.FreedBy, "heap %#x block %#x tid %d", h.Handle, b.Address, b.FreedBy.Thread)
		}
		for _, r := range b.Resizes {
			add(r.Time, "resize", h.Process, r.By, "heap %#x block %#x size %d tid %d", h.Handle, b.Address, r.Size, r.By.Thread)
		}
	}
	for i := range s.Regions {
		g := &s.Regions[i]
		if g.Reserved != 0 {
			tid := g.By.Thread
			if g.By.Stack == 0 && !f.Relogged { // the header of the event names no thread
				tid = etl.NoID
			}
			add(g.Reserved, "reserve", g.Process, g.By, "%#x+%#x tid %d", g.Base, g.Size, tid)
		}
		if g.Released != 0 {
			add(g.Released, "release", g.Process, g.ReleasedBy, "%#x+%#x", g.Base, g.Size)
		}
	}
	slices.Sort(all)
	return all
}

// readLines renders what a reader finds in the same way.
func readLines(t *testing.T, files ...[]byte) ([]string, *etl.JoinResult, *etl.Trace) {
	t.Helper()
	trace := open(t, files...)
	var ops []etl.Operation
	joined, err := trace.Operations(t.Context(), etl.JoinOptions{Also: everything()}, func(o *etl.Operation) error {
		ops = append(ops, *o)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i := range ops {
		o := &ops[i]
		add := func(what, format string, args ...any) {
			all = append(all, fmt.Sprintf("%d %s pid %d stack %x ", o.Time, what, joined.Processes[o.ProcessIndex].PID,
				joined.Stacks.Append(nil, o.Stack))+fmt.Sprintf(format, args...))
		}
		switch {
		case o.Kind == etl.KindHeapAlloc:
			add("alloc", "heap %#x block %#x size %d tid %d", o.Heap, o.Address, o.Size, o.TID)
		case o.Kind == etl.KindHeapFree:
			add("free", "heap %#x block %#x tid %d", o.Heap, o.Address, o.TID)
		case o.Kind == etl.KindHeapReAlloc && o.Address == o.Old:
			add("resize", "heap %#x block %#x size %d tid %d", o.Heap, o.Address, o.Size, o.TID)
		case o.Kind == etl.KindVirtualAlloc && etl.VirtualFlags(o.Flags)&etl.VirtualReserve != 0:
			add("reserve", "%#x+%#x tid %d", o.Address, o.Size, o.TID)
		case o.Kind == etl.KindVirtualFree && etl.VirtualFlags(o.Flags)&etl.VirtualRelease != 0:
			add("release", "%#x+%#x", o.Address, o.Size)
		}
	}
	slices.Sort(all)
	return all, joined, trace
}

// check compares what was read with what happened, and the processes with the lives there were.
func check(t *testing.T, s *etltest.Scenario, f etltest.Format, got []string,
	joined *etl.JoinResult, trace *etl.Trace) {
	t.Helper()
	want := lines(s, f)
	if !slices.Equal(got, want) {
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Fatalf("line %d of %d, want %d lines:\n got %s\nwant %s", i, len(got), len(want), at(got, i), at(want, i))
			}
		}
	}
	if joined.Unclaimed != 0 || joined.KeysLost != 0 || joined.Malformed != 0 {
		t.Errorf("%d stacks unclaimed, %d keys lost, %d malformed", joined.Unclaimed, joined.KeysLost, joined.Malformed)
	}
	if len(joined.Processes) != len(s.Processes) {
		t.Errorf("%d processes, want %d", len(joined.Processes), len(s.Processes))
	}
	for i := range s.Processes {
		p := &s.Processes[i]
		start, end := int64(etl.UnknownTime), int64(etl.UnknownTime)
		if p.Started != 0 {
			start = f.Seen(p.Started)
		}
		if p.Ended != 0 {
			end = f.Seen(p.Ended)
		}
		if !slices.ContainsFunc(joined.Processes, func(q etl.Process) bool {
			return q.PID == p.PID && q.Name == p.Name && q.Start == start && q.End == end && len(q.Images) == len(p.Images)
		}) {
			t.Errorf("no process %d %s from %d to %d with %d images", p.PID, p.Name, start, end, len(p.Images))
		}
	}
	for _, file := range trace.Info().Files {
		if l := file.Losses; l.Any() || l.Disordered != 0 {
			t.Errorf("losses in a whole file: %+v", l)
		}
	}
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "nothing"
}

// TestFormats reads one run in every way to record it.
func TestFormats(t *testing.T) {
	for name, f := range formats {
		t.Run(name, func(t *testing.T) {
			s := etltest.Invent(1, etltest.ScenarioSize{Steps: 150, Bits: f.Bits})
			got, joined, trace := readLines(t, s.File(f))
			check(t, s, f, got, joined, trace)
		})
	}
}

// TestManyCPUs reads a run on more processors than a byte counts, of builds that number them with 16 bits.
func TestManyCPUs(t *testing.T) {
	s := etltest.Invent(2, etltest.ScenarioSize{Steps: 150, CPUs: 320})
	for i := range s.Blocks {
		s.Blocks[i].By.CPU, s.Blocks[i].FreedBy.CPU = i%320, (i+7)%320
	}
	f := etltest.Format{BufferSize: 0x2000}
	got, joined, trace := readLines(t, s.File(f))
	check(t, s, f, got, joined, trace)
	cpus := map[uint16]bool{}
	if err := trace.Events(t.Context(), func(e *etl.Event) error { cpus[e.CPU] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	if len(cpus) != 320 {
		t.Errorf("%d processors", len(cpus))
	}
}

// TestPair reads the files of two sessions that were not merged as one trace, in either order.
func TestPair(t *testing.T) {
	s := etltest.Invent(3, etltest.ScenarioSize{})
	for _, f := range []etltest.Format{{}, {Keys: 5}} {
		kernel, heap := s.Pair(f)
		for _, files := range [][][]byte{{kernel, heap}, {heap, kernel}} {
			got, joined, trace := readLines(t, files...)
			check(t, s, f, got, joined, trace)
		}
	}
}

// TestForeign reads a run among events of every other kind, version and envelope: these do not change what is read.
func TestForeign(t *testing.T) {
	for _, f := range []etltest.Format{{}, {Bits: 32, Build: 7601}, {Compressed: true, Keys: 5}, {Relogged: true}} {
		s := etltest.Invent(4, etltest.ScenarioSize{Steps: 80, Bits: f.Bits})
		const application = 2
		p, n := &s.Processes[application], len(s.Extras)
		for i, e := range f.HarmlessEvents(p, s.Heaps[0].Handle) {
			x := etltest.Extra{Time: s.End/2 + int64(i)*1000, By: etltest.Caller{Thread: p.Threads[0].TID, CPU: i},
				Process: application, Event: e}
			s.Extras = append(s.Extras, x)
		}
		got, joined, trace := readLines(t, s.File(f))
		check(t, s, f, got, joined, trace)
		counts, err := trace.Census(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		headers := map[etl.HeaderType]int64{}
		for _, c := range counts {
			headers[c.Header] += c.Events
		}
		for _, h := range []etl.HeaderType{
			etl.HeaderError, etl.HeaderMessage, etl.HeaderInstance32, etl.HeaderInstance64,
			etl.HeaderCompact32, etl.HeaderCompact64,
			etl.HeaderPerfInfo32, etl.HeaderFull32, etl.HeaderEvent32, etl.HeaderEvent64,
		} {
			if headers[h] == 0 && f.Bits != 32 {
				t.Errorf("no event with header %s among %d extras", h, len(s.Extras)-n)
			}
		}
	}
}

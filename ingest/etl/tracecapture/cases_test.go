package tracecapture_test

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/etl/etltest"
)

// second is one in the times of scenarios.
const second = int64(1e9)

// small is a process with a heap that is older than the trace of ten seconds, and nothing in it.
func small() *etltest.Scenario {
	return &etltest.Scenario{
		Start: 133_975_755_308_802_998, End: 10 * second, CPUs: 2,
		Processes: []etltest.Process{{PID: 100, Parent: 4, Bits: 64, Name: "app.exe", Key: 0xFFFF800000001000}},
		Stacks:    []etltest.Stack{{User: []uint64{0x7FF600001010, 0x7FF600001020}}, {User: []uint64{0x7FF600002010}}},
		Heaps:     []etltest.Heap{{Handle: 0x1000000}},
	}
}

func by(stack int) etltest.Caller { return etltest.Caller{Thread: 200, Stack: stack} }

func codes(c *capture.Capture) (list []capture.Code) {
	for _, w := range c.Warnings {
		list = append(list, w.Code)
	}
	return list
}

// Processes are told apart even if they have the same PID and the same address of the kernel's process object.
func TestProcessesWithTheSameKey(t *testing.T) {
	s := small()
	var want []string
	for i := range 4 {
		p := s.Processes[0]
		p.PID, p.Key, p.Name = 500, 0xFFFF800000002000, fmt.Sprintf("step%d.exe", i)
		p.Started = int64(1+2*i) * second
		p.Ended = p.Started + second/2
		s.Processes = append(s.Processes, p)
		s.Heaps = append(s.Heaps, etltest.Heap{Process: i + 1, Handle: 0x1000000, Created: p.Started + 100})
		s.Blocks = append(s.Blocks,
			etltest.Block{Heap: i + 1, Address: 0x1000500, Size: 10, Allocated: p.Started + 1000, By: by(1)})
		want = append(want, fmt.Sprint(p.Name, p.Started, p.Ended))
	}
	var got []string
	for _, c := range read(t, s.File(etltest.Format{})).Captures {
		got = append(got, fmt.Sprint(c.Process.Name, c.Trace.Began, c.Trace.Exited))
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Memory that a heap commits never counts as virtual memory of the program, although the trace shows only by the heap's
// first block that the memory belongs to a heap.
func TestHeapGrowthIsNoVirtualPeak(t *testing.T) {
	s := small()
	commit := func(base, size uint64, at, released int64, stack int) {
		s.Regions = append(s.Regions,
			etltest.Region{Base: base, Size: 0x100000, Reserved: at, Released: released, By: by(stack),
				Commits: []etltest.Commit{{Base: base, Size: size, Committed: at + 1000, By: by(stack)}}})
	}
	commit(0x2000000, 0x80000, second, 0, 2) // the heap's
	s.Blocks = []etltest.Block{{Address: 0x2000100, Size: 100, Allocated: 2 * second, By: by(1)}}
	r := read(t, s.File(etltest.Format{}))
	c := r.Captures[0]
	if p := c.Trace.Virtual.Peak; p.Bytes != 0 || p.Count != 0 {
		t.Errorf("peak %+v of a program that committed nothing", p)
	}
	if len(c.Sites) != 2 || len(r.Meta.Sites) != 2 { // not the one that the commit was counted to at first
		t.Errorf("sites %+v", c.Sites)
	}
	commit(0x4000000, 0x3000, second/2, 3*second, 2) // the program's
	s.Stacks = append(s.Stacks, etltest.Stack{User: []uint64{0x7FF600003010}})
	commit(0x6000000, 0x1000, 4*second, 0, 3)
	r = read(t, s.File(etltest.Format{}))
	c = r.Captures[0]
	if p, want := c.Trace.Virtual.Peak,
		(allocations.Peak{Usage: allocations.Usage{Count: 1, Bytes: 0x3000}, At: second/2 + 1000}); p != want {
		t.Errorf("peak %+v, want %+v", p, want)
	}
	window, err := capture.CutToWindow(context.Background(), r.Captures, r.Rows, c.Trace.Window)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Sites {
		if life := window[0].Sites[i].Life; !reflect.DeepEqual(c.Sites[i].Life, life) {
			t.Errorf("site %d: %+v, and by its rows %+v", i, c.Sites[i].Life, life)
		}
	}
}

// Contradictions in one process cause no warnings about another process.
func TestWarningsOfAnother(t *testing.T) {
	s := small()
	p := s.Processes[0]
	p.PID, p.Key, p.Started = 300, 77, second/2
	s.Processes = append(s.Processes, p)
	s.Heaps = append(s.Heaps, etltest.Heap{Process: 1, Handle: 0x1000000, Created: second})
	s.Blocks = []etltest.Block{
		{Heap: 0, Address: 0x1001000, Size: 100, Allocated: second, Freed: 2 * second, By: by(1)},
		{Heap: 1, Address: 0x1001000, Size: 100, Allocated: 2 * second, Freed: 3 * second, By: by(1), Unlogged: true},
		{Heap: 1, Address: 0x1002000, Size: 100, Allocated: 2 * second, Freed: 3 * second, By: by(1), FreedUnlogged: true},
		{Heap: 1, Address: 0x1002000, Size: 100, Allocated: 4 * second, By: by(1)},
	}
	s.Blocks = append(s.Blocks, etltest.Block{Heap: 1, Address: 0x1003000, Size: 100, Allocated: 5 * second, By: by(0)})
	for _, c := range read(t, s.File(etltest.Format{})).Captures {
		var want []capture.Code
		if c.Process.PID == 300 {
			want = []capture.Code{capture.StackMissing, capture.LostFree, capture.UnknownFree, capture.Inconsistent}
		}
		got := slices.DeleteFunc(codes(c), func(c capture.Code) bool { return c == capture.NoImageInfo })
		if !slices.Equal(got, want) {
			t.Errorf("process %d: %v, want %v", c.Process.PID, got, want)
		}
	}
}

// A process whose heap was not traced has a warning that says so; a release of memory older than the trace is no loss.
func TestNoHeapEvents(t *testing.T) {
	s := small()
	s.Heaps = nil
	s.Regions = []etltest.Region{{Base: 0x2000000, Size: 0x10000, Reserved: second, Released: 2 * second, By: by(1),
		Commits: []etltest.Commit{{Base: 0x2000000, Size: 0x1000, Committed: second + 1000, By: by(1)}}}}
	c := read(t, s.File(etltest.Format{})).Captures[0]
	i := slices.IndexFunc(c.Warnings, func(w capture.Warning) bool { return w.Code == capture.PartialHeap })
	if i < 0 || !strings.Contains(c.Warnings[i].Message, "-Pids 100") || !c.Warnings[i].Code.Lossy() {
		t.Errorf("warnings %+v", c.Warnings)
	}
	s.Heaps, s.Regions = small().Heaps,
		append(s.Regions, etltest.Region{Base: 0x3000000, Size: 0x10000, Released: second, ReleasedBy: by(1)})
	s.Blocks = []etltest.Block{{Address: 0x1001000, Size: 100, Allocated: second, Freed: 2 * second, By: by(1)}}
	c = read(t, s.File(etltest.Format{})).Captures[0]
	if i := slices.IndexFunc(c.Warnings, func(w capture.Warning) bool { return w.Code == capture.UnknownFree }); i < 0 ||
		c.Warnings[i].Code.Lossy() {
		t.Errorf("a release of memory that is older than the trace: %+v", c.Warnings)
	}
}

// With a coarse clock several events of a thread have one time stamp. Each stack still goes to its own event.
func TestOneInstant(t *testing.T) {
	for name, freed := range map[string]int{"frees without stacks": 0, "frees with stacks": 3} {
		s := small()
		s.Stacks = append(s.Stacks, etltest.Stack{User: []uint64{0x7FF600003010}})
		s.Blocks = []etltest.Block{ // in the order in which events of one instant are logged
			{Address: 0x1000100, Size: 1, Allocated: second, Freed: 2 * second, By: by(1), FreedBy: by(freed)},
			{Address: 0x1000200, Size: 2, Allocated: second + 100, Freed: 9 * second, By: by(1), FreedBy: by(freed)},
			{Address: 0x1000300, Size: 4, Allocated: 9 * second, By: by(1)},
			{Address: 0x1000400, Size: 8, Allocated: 9 * second, By: by(2)},
		}
		c := read(t, s.File(etltest.Format{})).Captures[0]
		got := map[string]int64{}
		for i := range c.Sites {
			got[addresses(c, c.Sites[i].Stack)] += c.Sites[i].Life.Usage.AIFO.Bytes
		}
		if got["[7ff600001010 7ff600001020]"] != 4 || got["[7ff600002010]"] != 8 || got[""] != 0 {
			t.Errorf("%s: %v, warnings %v", name, got, codes(c))
		}
	}
}

// Where images held the same addresses in turn, a frame belongs to the image that was loaded when the memory was
// allocated, or to the nearest in time.
func TestImagesInTurn(t *testing.T) {
	s := small()
	image := func(path string, base, size uint64, loaded, unloaded int64) {
		s.Processes[0].Images = append(s.Processes[0].Images,
			etltest.Image{Path: `\Device\HarddiskVolume3\` + path, Base: base, Size: size, Loaded: loaded, Unloaded: unloaded})
	}
	image("long.dll", 0x7FF600000000, 0x10000, 0, 0)
	image("alone.dll", 0x7FF700000000, 0x10000, second, 2*second)
	image("again.dll", 0x7FF700000000, 0x10000, 3*second, 9*second)
	image("short.dll", 0x7FF700008000, 0x10000, 2*second, 3*second)
	image("empty.dll", 0x7FF700004000, 0, second, 9*second)
	s.Stacks = []etltest.Stack{{User: []uint64{0x7FF600001010, 0x7FF700000000, 0x7FF70000FFFF,
		0x7FF700017FFF, 0x7FF700018000}}}
	s.Blocks = []etltest.Block{{Address: 0x1000100, Size: 1, Allocated: second, By: by(1)}}
	c := read(t, s.File(etltest.Format{})).Captures[0]
	var got []string
	for _, m := range c.Modules {
		got = append(got, m.FileName())
	}
	if want := []string{"alone.dll", "short.dll", "long.dll", "again.dll"}; !slices.Equal(got, want) ||
		slices.Contains(codes(c), capture.ModuleMoved) {
		t.Errorf("modules %q, want %q; warnings %+v", got, want, c.Warnings)
	}
	if got := modulesOf(c, c.Sites[0].Stack); got != "long.dll alone.dll alone.dll short.dll ?" {
		t.Error(got)
	}
}

// modulesOf are the modules that the frames of a stack lie in.
func modulesOf(c *capture.Capture, stack capture.StackID) string {
	var names []string
	modules := capture.NewModuleMap(c.Modules)
	for _, f := range c.Stacks.Stack(stack) {
		name := "?"
		if at := modules.Of(c.Stacks.Frame(f)); at >= 0 {
			name = c.Modules[at].FileName()
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// Seven libraries occupy one address range in turn, and each allocates ten blocks from a stack with the same addresses.
func TestLibrariesInTurn(t *testing.T) {
	const libraries, blocks = 7, 10
	s := small()
	s.Processes[0].Images = []etltest.Image{{Path: `\Device\HarddiskVolume3\app.exe`, Base: 0x7FF600000000, Size: 0x10000}}
	s.Stacks = []etltest.Stack{{User: []uint64{0x7FF700001010, 0x7FF600001010}}}
	s.Blocks = nil
	for i := range int64(libraries) {
		from := (2 + 4*i) * second
		s.Processes[0].Images = append(s.Processes[0].Images, etltest.Image{
			Path: fmt.Sprintf(`\Device\HarddiskVolume3\plug%d.dll`, i), Base: 0x7FF700000000, Size: 0x10000, Loaded: from,
			Unloaded: from + 3*second,
		})
		for k := range int64(blocks) {
			b := etltest.Block{Address: 0x1000100 + uint64(100*i+k)*0x100, Size: uint64(10 + i),
				Allocated: from + second + k*1000, By: by(1)}
			if k%2 == 1 {
				b.Freed = b.Allocated + 6*second // by whoever is there then
			}
			s.Blocks = append(s.Blocks, b)
		}
	}
	s.End = 60 * second
	for name, format := range map[string]etltest.Format{"stacks": {}, "keys": {Keys: 16}} {
		result := read(t, s.File(format))
		c := result.Captures[0]
		var file bytes.Buffer
		if err := c.Write(&file); err != nil {
			t.Fatal(err)
		}
		stored, err := capture.Read(&file)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for i := range stored.Sites {
			site := &stored.Sites[i]
			classes := site.Life.Usage
			got[modulesOf(stored, site.Stack)] = fmt.Sprint(classes.AIFO, classes.AIFI)
		}
		for i := range libraries {
			size := int64(10 + i)
			want := fmt.Sprint(allocations.Usage{Count: 5, Bytes: 5 * size}, allocations.Usage{Count: 5, Bytes: 5 * size})
			if place := fmt.Sprintf("plug%d.dll app.exe", i); got[place] != want {
				t.Errorf("%s: %s: %s, want %s", name, place, got[place], want)
			}
		}
		if len(got) != libraries || len(stored.Modules) != libraries+1 || slices.Contains(codes(c), capture.ModuleMoved) {
			t.Errorf("%s: %d stacks, modules %+v, %v", name, len(got), stored.Modules, codes(c))
		}
	}
}

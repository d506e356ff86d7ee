package dump_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/dump"
	"heapdrift/ingest/dump/dumptest"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/minidump"
	"heapdrift/ingest/minidump/minidumptest"
	"heapdrift/ingest/ntheap/ntheaptest"
)

func readBytes(t testing.TB, data []byte) *capture.Capture {
	t.Helper()
	c, err := dump.Read(t.Context(), bytes.NewReader(data), int64(len(data)), dump.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The capture of a dump holds the allocated blocks and no others, on every Windows.
func TestDumpsOfKnownHeaps(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for i, windows := range slices.Concat(ntheaptest.NTHeapVersions, ntheaptest.SegmentHeapVersions) {
		for _, kept := range []bool{false, true} {
			segmentHeaps := 0
			if slices.Contains(ntheaptest.SegmentHeapVersions, windows) {
				segmentHeaps = 1
			}
			p := ntheaptest.Make(ntheaptest.Recipe{Windows: windows, Seed: uint64(i), Stacks: kept, LFH: true, Heaps: 2,
				Segments: 2, Blocks: 60, Virtual: 2, SegmentHeaps: segmentHeaps})
			file := dumptest.Of(p, dumptest.Program{PID: 77, Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}).File() // up to 35 MB
			c, err := dump.Read(t.Context(), file, file.Size(), dump.Options{})
			if err != nil {
				t.Fatalf("%s, stacks %t: %v", windows.Name, kept, err)
			}
			got := map[uint64]capture.Block{}
			for b := range c.Blocks.All() {
				got[b.Address] = b
			}
			stacks := make([][]uint64, len(c.Sites))
			for i := range c.Sites {
				stacks[i] = addressesOf(c, c.Sites[i].Stack)
			}
			for _, want := range p.Blocks {
				b, found := got[want.Address]
				if !found {
					t.Errorf("%s, stacks %t: %s at %#x is not there", windows.Name, kept, want.Place, want.Address)
				} else if heap := c.Heaps[c.Sites[b.Site].Heap].Handle; heap != want.Heap || b.Size != want.Size ||
					!slices.Equal(stacks[b.Site], want.Stack) {
					t.Errorf("%s, stacks %t: %s at %#x: %#x %d %#x, want %#x %d %#x", windows.Name, kept, want.Place, want.Address,
						heap, b.Size, stacks[b.Site], want.Heap, want.Size, want.Stack)
				}
			}
			if len(got) != len(p.Blocks) || c.Process.PID != 77 || c.Process.Name != "app.exe" ||
				int(c.Process.Bits) != windows.Bits || len(c.Memory.Gaps) != 0 {
				t.Errorf("%s: %d blocks of %d, %+v, gaps %+v", windows.Name, len(got), len(p.Blocks), c.Process, c.Memory.Gaps)
			}
		}
	}
}

// The time of a dump is the machine's wall clock, as in UMDH logs, where the dump records the offset from UTC.
func TestTimeIsThatOfTheMachine(t *testing.T) {
	p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 5, Heaps: 1, Segments: 1, Blocks: 5})
	d := dumptest.Of(p, dumptest.Program{Time: time.Date(2026, 7, 2, 3, 4, 5, 0, time.UTC)})
	for _, test := range []struct {
		process minidumptest.Process
		want    string
	}{
		{minidumptest.Process{}, "2026-07-02 03:04"},
		{minidumptest.Process{ZoneID: 2, Bias: -60, DaylightBias: -60}, "2026-07-02 05:04"}, // Berlin
		{minidumptest.Process{ZoneID: 1, Bias: 480, DaylightBias: -60}, "2026-07-01 19:04"}, // Seattle in winter
		{minidumptest.Process{ZoneID: 1, Bias: 1 << 30}, "2026-07-02 03:04"},
	} {
		d.Process = &test.process
		if got := readBytes(t, d.Bytes()).Snapshots[0].TakenAt.Format("2006-01-02 15:04"); got != test.want {
			t.Errorf("%+v: %s, want %s", test.process, got, test.want)
		}
	}
}

// A block whose address is on a thread's stack is reachable; a block whose address is nowhere is not.
func TestUnreachableBlocks(t *testing.T) {
	p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 5, Stacks: true, Heaps: 1,
		Segments: 1, Blocks: 50})
	kept := []uint64{p.Blocks[3].Address, p.Blocks[9].Address + p.Blocks[9].Size/2}
	c := readBytes(t, dumptest.Of(p, dumptest.Program{Roots: kept}).Bytes())
	var reachable []uint64
	for b := range c.Blocks.All() {
		if !c.Sites[b.Site].Unreachable {
			reachable = append(reachable, b.Address)
		}
	}
	want := []uint64{p.Blocks[3].Address, p.Blocks[9].Address}
	slices.Sort(want)
	slices.Sort(reachable)
	if !slices.Equal(reachable, want) {
		t.Errorf("reachable %#x, want %#x", reachable, want)
	}
	if r := c.Memory.Reach; int(r.Unreachable.Count) != len(p.Blocks)-2 || int(r.Blocks.Count) != len(p.Blocks) ||
		r.Scanned == 0 {
		t.Errorf("%+v", r)
	}
}

// Where variables of the program are missing from a dump, no block is called unreachable.
func TestWithoutVariablesNothingIsUnreachable(t *testing.T) {
	p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 5, Stacks: true, Heaps: 1,
		Segments: 1, Blocks: 50})
	d := dumptest.Of(p, dumptest.Program{})
	variables := make([]byte, 4096)
	for i, b := range p.Blocks {
		binary.LittleEndian.PutUint64(variables[8*i:], b.Address)
	}
	at := p.Images[2].Base + p.Images[2].Size
	d.Regions = append(d.Regions, minidumptest.Region{Base: at, Size: 4096, AllocationBase: p.Images[2].Base,
		State: 0x1000, Protect: 0x04, Type: 0x1000000})
	d.Memory = append(d.Memory, minidumptest.Memory{Address: at, Bytes: variables})
	data := d.Bytes()
	if r := readBytes(t, data).Memory.Reach; r == nil || r.Unreachable.Count != 0 {
		t.Errorf("all blocks are in a table: %+v", r)
	}
	c := readBytes(t, data[:len(data)-4096])
	said := slices.ContainsFunc(c.Memory.Notes,
		func(n capture.Note) bool { return strings.Contains(n.Text, "4.00 KB of images") })
	if c.Memory.Reach != nil || !said || slices.ContainsFunc(c.Sites, func(s capture.Site) bool { return s.Unreachable }) {
		t.Errorf("%+v, %+v", c.Memory.Reach, c.Memory.Notes)
	}
}

// A dump that is cut gives no site of virtual memory: private memory may belong to a heap that is missing.
func TestCutDumpsHaveNoVirtualSite(t *testing.T) {
	p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 5, Heaps: 1, Segments: 1, Blocks: 50})
	data := dumptest.Of(p, dumptest.Program{Private: []uint64{1 << 20}}).Bytes()
	for _, cut := range []int{0, 4096} {
		c := readBytes(t, data[:len(data)-cut])
		has := slices.ContainsFunc(c.Sites, func(s capture.Site) bool { return s.Kind == capture.KindVirtual })
		if has != (cut == 0) {
			t.Errorf("cut by %d: a site of virtual memory is %t", cut, has)
		}
	}
}

func TestVariablesLeftOut(t *testing.T) {
	p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 5, Stacks: true, Heaps: 1,
		Segments: 1, Blocks: 50})
	if c := readBytes(t, dumptest.Of(p, dumptest.Program{NoVariables: true}).Bytes()); c.Memory.Reach != nil ||
		c.Blocks.Len() != len(p.Blocks) {
		t.Errorf("%+v, %d blocks", c.Memory.Reach, c.Blocks.Len())
	}
}

// A block is reachable if only a block in a gap points to it: the gap cannot be searched.
func TestGapsMayPointToBlocks(t *testing.T) {
	p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 5, Heaps: 1, Segments: 1, Blocks: 50})
	from, to := p.Blocks[10], p.Blocks[30]
	p.Memory = p.Memory.Map(func(start uint64, b []byte) []byte {
		if at := from.Address - start; at < uint64(len(b)) && from.Size >= 8 {
			binary.LittleEndian.PutUint64(b[at:], to.Address)
			b[at-8] ^= 0xFF // of its entry, whose checksum fails now
		}
		return b
	})
	c := readBytes(t, dumptest.Of(p, dumptest.Program{}).Bytes())
	if len(c.Memory.Gaps) == 0 {
		t.Fatal("the damage was not noticed")
	}
	for b := range c.Blocks.All() {
		if b.Address == to.Address && c.Sites[b.Site].Unreachable {
			t.Error("a block behind a gap is called unreachable")
		}
	}
}

func TestManyHeaps(t *testing.T) {
	p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 5, Heaps: 450, Segments: 1, Blocks: 2})
	c := readBytes(t, dumptest.Of(p, dumptest.Program{}).Bytes())
	if c.Memory.Reach == nil || c.Blocks.Len() != len(p.Blocks) || len(c.Heaps) != 450 {
		t.Errorf("%d blocks of %d in %d heaps, %+v", c.Blocks.Len(), len(p.Blocks), len(c.Heaps), c.Memory.Notes)
	}
}

// Text in a block is not taken for a pointer to a type: in 32 bits four letters may be an address inside a module.
func TestTextIsNoType(t *testing.T) {
	p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win7x86, Seed: 5, Heaps: 1, Segments: 1, Blocks: 50})
	p.Memory = p.Memory.Map(func(start uint64, b []byte) []byte {
		for _, block := range p.Blocks {
			if at := block.Address - start; at < uint64(len(b)) && block.Size >= 12 {
				copy(b[at:], "xttp://lab/")
			}
		}
		return b
	})
	d := dumptest.Of(p, dumptest.Program{})
	d.Modules = append(d.Modules, minidumptest.Module{Path: `C:\app\net.dll`, Base: 0x70700000, Size: 0x100000}) // "xttp" is 0x70747478
	for _, g := range readBytes(t, d.Bytes()).Memory.Groups {
		if g.By == capture.ByType {
			t.Errorf("%+v", g)
		}
	}
}

func TestSpaceByUse(t *testing.T) {
	p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 6, Heaps: 1, Segments: 1,
		Blocks: 20, Virtual: 1})
	d := dumptest.Of(p, dumptest.Program{Private: []uint64{1 << 20, 1 << 20, 1 << 20, 1 << 20, 4096}})
	d.Counters = &minidumptest.Counters{Private: 9 << 20, WorkingSet: 5 << 20}
	c := readBytes(t, d.Bytes())
	s := c.Memory.Space
	var heaps int64
	for _, h := range p.Heaps {
		heaps += int64(h.Committed)
	}
	if u := use(c, capture.UseHeap); u.Committed < heaps || u.Private != u.Committed {
		t.Errorf("heaps %+v, want at least %d", u, heaps)
	}
	var sum int64
	for _, u := range s.Uses {
		if u.Name != capture.UseFree {
			sum += u.Reserved
		}
	}
	var want uint64
	for _, r := range d.Regions {
		if r.State != 0x10000 {
			want += r.Size
		}
	}
	if uint64(sum) != want {
		t.Errorf("all uses take %d bytes, the regions %d", sum, want)
	}
	if len(s.Repeated) != 1 || s.Repeated[0].Count != 4 || s.Repeated[0].ReservedEach != 1<<20 ||
		s.Largest[0].Committed != 1<<20 {
		t.Errorf("repeated %+v, largest %+v", s.Repeated, s.Largest)
	}
	if s.PrivateBytes != 9<<20 || s.WorkingSet != 5<<20 || s.LargestFree == 0 || s.Partial {
		t.Errorf("%+v", s)
	}
	if u := use(c, capture.UseStack); u.Committed != 0x10000 {
		t.Errorf("stacks %+v", u)
	}

	d.Regions = nil
	c = readBytes(t, d.Bytes())
	for _, site := range c.Sites {
		if site.Kind == capture.KindVirtual {
			t.Errorf("without regions nothing tells what is private: %+v", site)
		}
	}
	if !c.Memory.Space.Partial || use(c, capture.UseHeap).Private != 0 || use(c, capture.UseHeap).Committed < heaps ||
		use(c, capture.UseFree).Regions != 0 || !strings.Contains(codes(c), "unsupported") {
		t.Errorf("without regions: %+v, %s", c.Memory.Space, codes(c))
	}
}

// Blocks are grouped by the virtual function table that they begin with, and otherwise by the text they begin with.
func TestGroupsByTypeAndContent(t *testing.T) {
	p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 8, Heaps: 1, Segments: 1, Blocks: 40})
	vtable := p.Images[2].Base + 0x5010
	p.Memory = p.Memory.Map(func(start uint64, b []byte) []byte {
		for i, block := range p.Blocks {
			off := block.Address - start
			if off >= uint64(len(b)) || block.Size < 16 {
				continue
			}
			switch i % 3 {
			case 0:
				for k := range 8 {
					b[int(off)+k] = byte(vtable >> (8 * k))
				}
			case 1:
				copy(b[off:off+8], "leaked: ")
			}
		}
		return b
	})
	c := readBytes(t, dumptest.Of(p, dumptest.Program{}).Bytes())
	types, texts := int64(0), int64(0)
	for i, block := range p.Blocks {
		switch {
		case block.Size < 16:
		case i%3 == 0:
			types++
		case i%3 == 1:
			texts++
		}
	}
	found := map[string]capture.BlockGroup{}
	for _, g := range c.Memory.Groups {
		if g.By != capture.BySize {
			found[g.Key] = g
		}
	}
	if g := found["leaky.dll+0x5010"]; g.Usage.Count != types || g.Module != "leaky.dll" || g.Offset != 0x5010 ||
		g.Symbol == capture.NoStack {
		t.Errorf("by type %+v, want %d blocks", g, types)
	}
	if g := found[`"leaked: "…`]; g.Usage.Count != texts {
		t.Errorf("by content %+v of %+v, want %d blocks", g, found, texts)
	}
}

func TestRefusals(t *testing.T) {
	p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win7x64, Seed: 1, Heaps: 1, Segments: 1, Blocks: 5})
	small := dumptest.Of(p, dumptest.Program{})
	small.Small, small.Flags, small.Memory = true, 0x1000, small.Memory[:1]
	linux := dumptest.Of(p, dumptest.Program{})
	linux.System.Platform = 0x8201
	for name, test := range map[string]struct {
		data []byte
		code string
		says string
	}{
		"stacks only":    {small.Bytes(), minidump.CodeNoHeap, "it holds 3 modules and 1 threads, and lists"},
		"another system": {linux.Bytes(), minidump.CodeOtherSystem, "Linux"},
		"kernel":         {append([]byte("PAGEDU64"), make([]byte, 4096)...), minidump.CodeKernelDump, "kernel"},
	} {
		_, err := dump.Read(t.Context(), bytes.NewReader(test.data), int64(len(test.data)), dump.Options{})
		var refused *evidence.Error
		if !errors.As(err, &refused) || refused.Code != test.code || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A dump with a flipped bit anywhere is read or refused without a panic.
func TestDamagedDumps(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for i, windows := range []*ntheaptest.WindowsVersion{ntheaptest.Win7x86, ntheaptest.Win10x64} {
		p := ntheaptest.Make(ntheaptest.Recipe{Windows: windows, Seed: uint64(i), Stacks: true, LFH: true, PageHeap: true,
			Heaps: 1, Segments: 2, Blocks: 20, Virtual: 1})
		data := dumptest.Of(p, dumptest.Program{}).Bytes()
		// Nineteen of twenty bytes lie in runs of one repeated byte: one in a hundred of these places is damaged, and
		// every place elsewhere.
		for n, at := 0, 0; at < len(data); n, at = n+1, at+max(1, len(data)/3000) {
			if uniform(data[max(0, at-64):min(at+64, len(data))]) && n%100 != 0 {
				continue
			}
			bit := byte(1 << (at % 8))
			data[at] ^= bit
			_, _ = dump.Read(t.Context(), bytes.NewReader(data), int64(len(data)), dump.Options{}) // it need not fail
			data[at] ^= bit
		}
	}
}

// uniform reports whether one byte fills b.
func uniform(b []byte) bool { return len(bytes.TrimLeft(b, string(b[:1]))) == 0 }

func Example() { // a dump of a program with two heaps
	p := ntheaptest.Make(ntheaptest.Recipe{Windows: ntheaptest.Win10x64, Seed: 3, Stacks: true, Heaps: 2,
		Segments: 1, Blocks: 30})
	data := dumptest.Of(p, dumptest.Program{PID: 4660}).Bytes()
	c, err := dump.Read(context.Background(), bytes.NewReader(data), int64(len(data)), dump.Options{})
	fmt.Println(c.Process.Name, len(c.Heaps), c.Total(0).Count >= int64(len(p.Blocks)), err)
	// Output: app.exe 2 true <nil>
}

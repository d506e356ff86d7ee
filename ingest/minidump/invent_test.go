package minidump_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"heapdrift/ingest/evidence"
	"heapdrift/ingest/minidump"
	"heapdrift/ingest/minidump/minidumptest"
)

// bytesOf makes n bytes that differ by their position.
func bytesOf(seed, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(seed + i*7 + i>>8)
	}
	return b
}

var (
	someGUID = [16]byte{0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC, 0xDE, 0xF0, 1, 2, 3, 4, 5, 6, 7, 8}
	someTime = time.Date(2024, 5, 17, 8, 30, 0, 0, time.UTC)
)

const someDebugID = "78563412BC9AF0DE0102030405060708"

// everything is a small dump that has every stream.
func everything() minidumptest.Dump {
	return minidumptest.Dump{
		Time: someTime,
		System: minidumptest.System{Arch: "x64", Major: 6, Minor: 1, Build: 7601, Processors: 4, Product: 3,
			ServicePack: "Service Pack 1"},
		Process: &minidumptest.Process{PID: 4242, Created: someTime.Add(-time.Hour), User: 12 * time.Second,
			Kernel: 3 * time.Second, Build: "7601.win7", DebugBuild: "dbghelp"},
		Modules: []minidumptest.Module{
			{Path: `C:\app\app.exe`, Base: 0x7FF600000000, Size: 0x5000, Checksum: 7, Timestamp: 0x60000000,
				Version: [4]uint16{1, 2, 3, 65535}, PDB: `D:\build\app.pdb`, GUID: someGUID, Age: 26},
			{Path: `C:\app\old.dll`, Base: 0x10000000, Size: 0x2000, Timestamp: 0x3B7DDFC5, PDB: "old.pdb", Age: 2, NB10: true},
			{Path: `C:\app\ünï.dll`, Base: 0x7FF700000000, Size: 0x3000},
			{Path: `C:\app\bare.dll`, Base: 0x7FF800000000, Size: 0x1000},
		},
		Unloaded: []minidumptest.UnloadedImage{{Name: "gone.dll", Base: 0x20000000, Size: 0x8000, Checksum: 1, Timestamp: 2}},
		Threads: []minidumptest.Thread{
			{ID: 0x100, Name: "main", TEB: 0x7EFDB000, Suspend: 1, PriorityClass: 0x20, Priority: -2,
				Stack: 0x8FF00, StackSize: 0x100,
				Registers: &minidumptest.Registers{IP: 0x7FF600001234, SP: 0x8FF00, FP: 0x8FF80,
					General: []uint64{1, 2, 3, 4, 0, 0, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
				Created: someTime.Add(-time.Hour), Start: 0x7FF600001000, User: 1500 * time.Millisecond,
				Kernel: 700 * time.Microsecond},
			{ID: 0x104, TEB: 0x7EFD8000},
		},
		Handles: []minidumptest.Handle{
			{Handle: 4, Type: "Event", Name: `\BaseNamedObjects\stop`, Attributes: 2, Access: 0x1F0003,
				HandleCount: 2, PointerCount: 65534},
			{Handle: 8, Type: "Event", HandleCount: 1, PointerCount: 1},
			{Handle: 12},
		},
		Regions: []minidumptest.Region{
			{Base: 0x80000, Size: 0x10000, AllocationBase: 0x80000, AllocationProtect: 4, State: 0x1000,
				Protect: 0x104, Type: 0x20000},
			{Base: 0x10000, Size: 0x10000, AllocationBase: 0x10000, AllocationProtect: 4, State: 0x2000, Type: 0x40000},
			{Base: 0x20000, Size: 0x60000, State: 0x10000, Protect: 1},
		},
		Comments: []string{"procdump -ma 4242", "why"},
		CommentA: "second opinion",
		Exception: &minidumptest.Exception{Thread: 0x100, Code: 0xC0000005, Address: 0x7FF600001234,
			Parameters: []uint64{1, 69}, Registers: &minidumptest.Registers{IP: 5, SP: 6, FP: 7}},
		Counters: &minidumptest.Counters{PageFaults: 9, WorkingSet: 1 << 20, PeakWorkingSet: 2 << 20,
			Pagefile: 3 << 20, PeakPagefile: 4 << 20,
			VirtualSize: 5 << 30, PeakVirtualSize: 6 << 30, Private: 7 << 20, PrivateWorkingSet: 8 << 20, SharedCommit: 9 << 20},
		Extra:  []minidumptest.Stream{{Type: 0x12345, Data: []byte("mine")}},
		Unused: 2,
		Memory: []minidumptest.Memory{
			{Address: 0x8F000, Bytes: bytesOf(1, 0x300)},
			{Address: 0x8F300, Bytes: bytesOf(2, 0x100)},
			{Address: 0x7FF700000000, Bytes: minidumptest.Image{Bits: 64, PDB: "image.pdb", GUID: someGUID, Age: 1}.Bytes()},
			{Address: 0x7FF800000000, Bytes: minidumptest.Image{Bits: 32}.Bytes()},
		},
	}
}

func open(t testing.TB, b []byte) *minidump.Dump {
	t.Helper()
	d, err := minidump.Open(t.Context(), bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// code is that of the first problem of an error, "" for none.
func code(err error) string {
	if p := minidump.Problems(err); len(p) > 0 {
		return p[0].Code
	}
	var refused *evidence.Error
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

// render is all that a dump tells, and what is wrong with it, as text.
func render(d *minidump.Dump) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	problems := func(err error) {
		for _, p := range minidump.Problems(err) {
			line("  %s ×%d: %v", p.Code, p.Count, p)
		}
	}
	h, s := d.Header(), d.System()
	line("header version %#x, %d streams, %s, flags %s, full %t", h.Version, h.Streams,
		h.Time.Format(time.RFC3339), h.Flags, h.FullMemory)
	line("system %s, %d bits, %d.%d.%d, %d processors, %s, %q", s.Arch, s.Bits, s.Major, s.Minor, s.Build, s.Processors,
		s.Product, s.ServicePack)
	for _, stream := range d.Streams() {
		line("stream %s at %#x, %d bytes", stream.Name, stream.Offset, stream.Size)
	}
	for _, e := range d.Damage() {
		problems(e)
	}
	if e := d.WithoutHeap(); e != nil {
		problems(e)
	}
	process, err := d.Process()
	line("process %+v", process)
	problems(err)
	modules, err := d.Modules()
	for _, m := range modules {
		line("module %+v", m)
	}
	problems(err)
	unloaded, err := d.Unloaded()
	for _, m := range unloaded {
		line("unloaded %+v", m)
	}
	problems(err)
	threads, err := d.Threads()
	for _, t := range threads {
		line("thread %#x %q teb %#x stack %#x+%#x suspend %d class %#x priority %d created %s start %#x kernel %s user %s",
			t.ID, t.Name, t.TEB,
			t.Stack.Address, t.Stack.Size, t.Suspend, t.PriorityClass, t.Priority, t.Created.Format(time.RFC3339),
			t.StartAddress, t.Kernel, t.User)
		r, err := d.Registers(t)
		line("  %s %#x ip %#x sp %#x fp %#x general %#x", r.Arch, r.Flags, r.IP, r.SP, r.FP, r.General)
		problems(err)
		r, err = d.WOW64Registers(t)
		line("  %s %#x ip %#x sp %#x fp %#x general %#x", r.Arch, r.Flags, r.IP, r.SP, r.FP, r.General)
		problems(err)
	}
	problems(err)
	handles, err := d.Handles()
	for _, h := range handles {
		line("handle %+v", h)
	}
	problems(err)
	regions, err := d.Regions()
	for _, r := range regions {
		line("region %+v", r)
	}
	problems(err)
	if e, err := d.Exception(); e != nil || err != nil {
		problems(err)
		if e != nil {
			line("exception %#x in %#x at %#x, parameters %#x", e.Code, e.Thread, e.Address, e.Parameters)
			r, err := d.ExceptionRegisters(e)
			line("  ip %#x sp %#x fp %#x", r.IP, r.SP, r.FP)
			problems(err)
		}
	}
	if c, err := d.Counters(); c != nil || err != nil {
		line("counters %+v", c)
		problems(err)
	}
	if m, err := d.SystemMemory(); m != nil || err != nil {
		line("system memory %+v", m)
		problems(err)
	}
	line("comments %q", d.Comments())
	for _, r := range d.Memory().Ranges() {
		line("memory %#x+%#x", r.Address, r.Size)
	}
	for _, r := range d.Memory().MissingRanges() {
		line("missing %#x+%#x", r.Address, r.Size)
	}
	line("missing %d", d.Memory().MissingBytes())
	return b.String()
}

package minidump_test

import (
	"encoding/binary"
	"reflect"
	"testing"
	"time"

	"heapdrift/ingest/minidump"
	"heapdrift/ingest/minidump/minidumptest"
	"heapdrift/internal/golden"
)

func TestEverything(t *testing.T) {
	golden.Check(t, "testdata/everything.golden", render(open(t, everything().Bytes())))
}

func TestHeaderAndSystem(t *testing.T) {
	d := open(t, everything().Bytes())
	if h := d.Header(); !h.Time.Equal(someTime) || !h.FullMemory || h.Flags != 0x1826 || h.Version != 0x61B1A793 {
		t.Errorf("header %+v", h)
	}
	s := d.System()
	if s.Arch != minidump.ArchX64 || s.Bits != 64 || s.Major != 6 || s.Minor != 1 ||
		s.Build != 7601 || s.Processors != 4 ||
		s.Product != minidump.ProductServer || s.ServicePack != "Service Pack 1" {
		t.Errorf("system %+v", s)
	}
	if len(d.Damage()) > 0 || d.WithoutHeap() != nil {
		t.Errorf("damage %v, without heap %v", d.Damage(), d.WithoutHeap())
	}
	process, err := d.Process()
	want := minidump.Process{PID: 4242, Created: someTime.Add(-time.Hour), User: 12 * time.Second, Kernel: 3 * time.Second,
		BuildString: "7601.win7", DebugBuild: "dbghelp"}
	if err != nil || process != want {
		t.Errorf("%v, process %+v", err, process)
	}
}

func TestModules(t *testing.T) {
	d := open(t, everything().Bytes())
	modules, err := d.Modules()
	want := []minidump.Module{
		{Path: `C:\app\app.exe`, Base: 0x7FF600000000, Size: 0x5000, Checksum: 7, Timestamp: 0x60000000,
			FileVersion: "1.2.3.65535", ProductVersion: "1.2.3.65535",
			PDB: `D:\build\app.pdb`, DebugID: someDebugID + "1A", Age: 26},
		{Path: `C:\app\old.dll`, Base: 0x10000000, Size: 0x2000, Timestamp: 0x3B7DDFC5, PDB: "old.pdb",
			DebugID: "3B7DDFC52", Age: 2},
		{Path: `C:\app\ünï.dll`, Base: 0x7FF700000000, Size: 0x3000, PDB: "image.pdb", DebugID: someDebugID + "1",
			Age: 1, FromImage: true},
		{Path: `C:\app\bare.dll`, Base: 0x7FF800000000, Size: 0x1000},
	}
	if err != nil || !reflect.DeepEqual(modules, want) {
		t.Errorf("%v, got %+v", err, modules)
	}
	unloaded, err := d.Unloaded()
	if err != nil || !reflect.DeepEqual(unloaded,
		[]minidump.UnloadedModule{{Name: "gone.dll", Base: 0x20000000, Size: 0x8000, Checksum: 1, Timestamp: 2}}) {
		t.Errorf("%v, got %+v", err, unloaded)
	}
}

// Facts that the list of modules leaves out come from the images in memory, 32-bit and 64-bit.
func TestModuleOfImage(t *testing.T) {
	for _, bits := range []int{32, 64} {
		image := minidumptest.Image{Bits: bits, PDB: "x.pdb", GUID: someGUID, Age: 0xAB}.Bytes()
		dump := minidumptest.Dump{
			Modules: []minidumptest.Module{{Path: "x.dll", Base: 0x400000}},
			Memory:  []minidumptest.Memory{{Address: 0x400000, Bytes: image}},
		}
		modules, err := open(t, dump.Bytes()).Modules()
		if err != nil || modules[0].DebugID != someDebugID+"AB" || modules[0].PDB != "x.pdb" || !modules[0].FromImage {
			t.Errorf("%d bits: %v %+v", bits, err, modules)
		}
		for at := 0; at < 0x500; at += 1 + at/0x100 { // whatever is wrong with an image, it is a module without a PDB at worst
			image[at] ^= 0xFF
			dump.Memory[0].Bytes = image
			if modules, err := open(t, dump.Bytes()).Modules(); err != nil || len(modules) != 1 {
				t.Fatalf("byte %#x: %v %+v", at, err, modules)
			}
			image[at] ^= 0xFF
		}
	}
}

func TestThreads(t *testing.T) {
	d := open(t, everything().Bytes())
	threads, err := d.Threads()
	if err != nil || len(threads) != 2 {
		t.Fatalf("%v, got %+v", err, threads)
	}
	main := threads[0]
	if main.ID != 0x100 || main.Name != "main" || main.TEB != 0x7EFDB000 || main.Suspend != 1 ||
		main.PriorityClass != 0x20 || main.Priority != -2 ||
		main.Stack.Address != 0x8FF00 || main.Stack.Size != 0x100 || !main.Created.Equal(someTime.Add(-time.Hour)) ||
		main.StartAddress != 0x7FF600001000 ||
		main.User != 1500*time.Millisecond || main.Kernel != 700*time.Microsecond {
		t.Errorf("got %+v", main)
	}
	if r, err := d.Registers(threads[1]); code(err) != minidump.CodeNoRegisters || r.General != nil {
		t.Errorf("a thread without a context has %+v, %v", r, err)
	}
}

func TestRegisters(t *testing.T) {
	for _, c := range []struct {
		arch string
		want minidump.Arch
		n    int
		bits uint8
		// which of the general registers are SP and FP
		sp, fp int
	}{
		{"x64", minidump.ArchX64, 16, 64, 4, 5},
		{"x86", minidump.ArchX86, 8, 32, 4, 5},
		{"arm64", minidump.ArchARM64, 32, 64, 31, 29},
		{"arm", minidump.ArchARM, 15, 32, 13, 11},
	} {
		r := minidumptest.Registers{IP: 0x401000, SP: 0x8FF00, FP: 0x8FF80}
		for i := range c.n {
			r.General = append(r.General, uint64(0x100+i))
		}
		d := open(t, minidumptest.Dump{System: minidumptest.System{Arch: c.arch},
			Threads: []minidumptest.Thread{{ID: 1, Registers: &r}}}.Bytes())
		if s := d.System(); s.Arch != c.want || s.Bits != c.bits {
			t.Errorf("%s: system %+v", c.arch, s)
		}
		got, err := d.Registers(first(d.Threads()))
		want := append([]uint64(nil), r.General...)
		want[c.sp], want[c.fp] = r.SP, r.FP
		if err != nil || got.Arch != c.want || got.IP != r.IP || got.SP != r.SP || got.FP != r.FP ||
			!reflect.DeepEqual(got.General, want) {
			t.Errorf("%s: %v, got %+v", c.arch, err, got)
		}
	}
}

// first is the first of a list, or the zero value.
func first[T any](list []T, _ error) (v T) {
	if len(list) > 0 {
		v = list[0]
	}
	return v
}

// A context of another architecture is not taken for registers.
func TestRegistersOfAnotherArch(t *testing.T) {
	dump := minidumptest.Dump{Threads: []minidumptest.Thread{{ID: 1, Registers: &minidumptest.Registers{IP: 1}}}}
	b := dump.Bytes()
	d := open(t, b)
	thread := first(d.Threads())
	copy(b[thread.Context.Offset:], make([]byte, 0x40))
	if _, err := open(t, b).Registers(thread); code(err) != minidump.CodeNoRegisters {
		t.Errorf("got %v", err)
	}
}

func TestWOW64Registers(t *testing.T) {
	const teb, slot = 0x7EFDB000, 0x20FD20
	registers := minidumptest.Registers{IP: 0x77CE01FD, SP: 0x37F5B8, FP: 0x37F654,
		General: []uint64{1, 2, 3, 4, 0, 0, 7, 8}}
	dump := minidumptest.Dump{
		Threads: []minidumptest.Thread{{ID: 1, TEB: teb}, {ID: 2, TEB: 0x1000}, {ID: 3}},
		Memory: []minidumptest.Memory{
			{Address: teb, Bytes: minidumptest.TEB{Slots: []uint64{0, slot}}.Bytes(64)},
			{Address: slot, Bytes: append(make([]byte, 4), minidumptest.Context("x86", registers)...)},
			{Address: 0x1000, Bytes: minidumptest.TEB{}.Bytes(64)},
		},
	}
	d := open(t, dump.Bytes())
	threads, _ := d.Threads()
	r, err := d.WOW64Registers(threads[0])
	if err != nil || r.Arch != minidump.ArchX86 || r.IP != 0x77CE01FD || r.SP != 0x37F5B8 ||
		!reflect.DeepEqual(r.General, []uint64{1, 2, 3, 4, 0x37F5B8, 0x37F654, 7, 8}) {
		t.Errorf("%v, got %+v", err, r)
	}
	for _, thread := range threads[1:] {
		if _, err := d.WOW64Registers(thread); code(err) != minidump.CodeNoRegisters {
			t.Errorf("thread %d: %v", thread.ID, err)
		}
	}
}

func TestHandlesRegionsAndTheRest(t *testing.T) {
	d := open(t, everything().Bytes())
	handles, err := d.Handles()
	if err != nil || !reflect.DeepEqual(handles, []minidump.Handle{
		{Handle: 4, Type: "Event", Name: `\BaseNamedObjects\stop`, Attributes: 2, GrantedAccess: 0x1F0003,
			HandleCount: 2, PointerCount: 65534},
		{Handle: 8, Type: "Event", HandleCount: 1, PointerCount: 1},
		{Handle: 12},
	}) {
		t.Errorf("%v, handles %+v", err, handles)
	}
	regions, err := d.Regions()
	if err != nil || !reflect.DeepEqual(regions, []minidump.Region{
		{Base: 0x10000, Size: 0x10000, AllocationBase: 0x10000, State: minidump.MemReserve,
			AllocationProtect: minidump.PageReadWrite, Type: minidump.MemMapped},
		{Base: 0x20000, Size: 0x60000, State: minidump.MemFree, Protect: minidump.PageNoAccess},
		{Base: 0x80000, Size: 0x10000, AllocationBase: 0x80000, State: minidump.MemCommit,
			Protect:           minidump.PageReadWrite | minidump.PageGuard,
			AllocationProtect: minidump.PageReadWrite, Type: minidump.MemPrivate},
	}) {
		t.Errorf("%v, regions %+v", err, regions)
	}
	e, err := d.Exception()
	if err != nil || e.Thread != 0x100 || e.Code != 0xC0000005 || e.Address != 0x7FF600001234 ||
		!reflect.DeepEqual(e.Parameters, []uint64{1, 69}) {
		t.Errorf("%v, exception %+v", err, e)
	}
	if r, err := d.ExceptionRegisters(e); err != nil || r.IP != 5 || r.SP != 6 || r.FP != 7 {
		t.Errorf("%v, registers %+v", err, r)
	}
	if c := d.Comments(); !reflect.DeepEqual(c, []string{"procdump -ma 4242", "why", "second opinion"}) {
		t.Errorf("comments %q", c)
	}
}

func TestCounters(t *testing.T) {
	full := minidumptest.Counters{PageFaults: 9, WorkingSet: 1, PeakWorkingSet: 2, Pagefile: 3, PeakPagefile: 4,
		VirtualSize: 5, PeakVirtualSize: 6, Private: 7, PrivateWorkingSet: 8, SharedCommit: 10}
	old := full
	old.Revision = 1
	for _, c := range []struct {
		in   minidumptest.Counters
		want minidump.Counters
	}{
		{full, minidump.Counters{Revision: 2, PageFaults: 9, WorkingSet: 1, PeakWorkingSet: 2, PagefileUsage: 3,
			PeakPagefileUsage: 4, VirtualSize: 5, PeakVirtualSize: 6, PrivateUsage: 7, PrivateWorkingSet: 8, SharedCommit: 10}},
		{old, minidump.Counters{Revision: 1, PageFaults: 9, WorkingSet: 1, PeakWorkingSet: 2, PagefileUsage: 3,
			PeakPagefileUsage: 4, PrivateUsage: 7}},
	} {
		got, err := open(t, minidumptest.Dump{Counters: &c.in}.Bytes()).Counters()
		if err != nil || *got != c.want {
			t.Errorf("revision %d: %v, got %+v", c.want.Revision, err, got)
		}
	}
}

// Each group of counters is there where its flag is.
func TestFlagsOfCounters(t *testing.T) {
	for flags, want := range map[uint16]minidump.Counters{
		0x00: {Revision: 2},
		0x01: {Revision: 2},
		0x02: {Revision: 2, PeakVirtualSize: 0x48, VirtualSize: 0x50},
		0x04: {Revision: 2, PrivateUsage: 0x58},
		0x08: {Revision: 2, PrivateWorkingSet: 0x60, SharedCommit: 0x68},
		0x10: {Revision: 2},
	} {
		data := make([]byte, 0x70)
		binary.LittleEndian.PutUint16(data, 2)
		binary.LittleEndian.PutUint16(data[2:], flags)
		for at := 0x48; at < len(data); at += 8 { // each says where it is
			binary.LittleEndian.PutUint64(data[at:], uint64(at))
		}
		d := open(t, minidumptest.Dump{Extra: []minidumptest.Stream{{Type: 22, Data: data}}}.Bytes())
		if got, err := d.Counters(); err != nil || *got != want {
			t.Errorf("flags %#x: %+v, %v; want %+v", flags, got, err, want)
		}
	}
}

// An absent stream reads as nil if a dump may lack it, and as an error if every dump has it.
func TestAbsent(t *testing.T) {
	d := open(t, minidumptest.Dump{}.Bytes())
	unloaded, err1 := d.Unloaded()
	handles, err2 := d.Handles()
	regions, err3 := d.Regions()
	exception, err4 := d.Exception()
	counters, err5 := d.Counters()
	memory, err6 := d.SystemMemory()
	for _, err := range []error{err1, err2, err3, err4, err5, err6} {
		if err != nil {
			t.Error(err)
		}
	}
	if unloaded != nil || handles != nil || regions != nil || exception != nil || counters != nil ||
		memory != nil || d.Comments() != nil {
		t.Error("a dump without streams tells something")
	}
	_, err1 = d.Modules()
	_, err2 = d.Threads()
	_, err3 = d.Process()
	for _, err := range []error{err1, err2, err3} {
		if code(err) != minidump.CodeNoStream {
			t.Errorf("got %v", err)
		}
	}
}

func TestNamesOfConstants(t *testing.T) {
	for want, got := range map[string]string{
		"MEM_COMMIT":                minidump.MemCommit.String(),
		"0x3000":                    minidump.State(0x3000).String(),
		"MEM_IMAGE":                 minidump.MemImage.String(),
		"PAGE_READWRITE|PAGE_GUARD": minidump.Protection(0x104).String(),
		"PAGE_EXECUTE_READ|0x1000":  minidump.Protection(0x1020).String(),
		"ThreadNames":               minidump.StreamThreadNames.String(),
		"unknown 0xabcd":            minidump.StreamType(0xABCD).String(),
		"ARM64":                     minidump.ArchARM64.String(),
		"architecture 41":           minidump.Arch(42).String(),
		"unknown":                   minidump.ArchUnknown.String(),
		"domain controller":         minidump.ProductDomainController.String(),
	} {
		if got != want {
			t.Errorf("%q is printed as %q", want, got)
		}
	}
	if s := minidump.MemoryType(0).String() + minidump.Protection(0).String(); s != "" {
		t.Errorf("nothing is printed as %q", s)
	}
	if !minidump.PageExecuteReadWrite.Writable() || minidump.Protection(0x104).Readable() ||
		minidump.PageReadOnly.Writable() || !minidump.PageExecuteRead.Readable() {
		t.Error("what protections allow")
	}
}

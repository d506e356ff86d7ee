package minidump_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"heapdrift/ingest/minidump"
	"heapdrift/internal/corpus"
)

// corpusFile is a dump of the corpus, unpacked.
func corpusFile(t testing.TB, elements ...string) []byte {
	t.Helper()
	path := corpus.Path(t, append([]string{"dumps"}, elements...)...)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(path, ".zst") {
		return b
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if b, err = z.DecodeAll(b, nil); err != nil {
		t.Fatal(err)
	}
	return b
}

// corpusDumps says of every dump of the corpus what it is: what it is refused with, or how much is in it.
var corpusDumps = map[string]struct {
	refused                    string // code
	arch                       minidump.Arch
	build                      uint32
	modules, threads, ranges   int
	bytes                      int64 // of memory
	unloaded, handles, regions int
	noHeap                     bool
}{
	"breakpad/ascii_read_av.dmp": {arch: minidump.ArchX86, build: 7600, modules: 26, threads: 2,
		ranges: 5, bytes: 7824, noHeap: true},
	"breakpad/ascii_read_av_block_write.dmp": {arch: minidump.ArchX86, build: 7600, modules: 26, threads: 2,
		ranges: 5, bytes: 6452, noHeap: true},
	"breakpad/ascii_read_av_clobber_write.dmp": {arch: minidump.ArchX86, build: 7600, modules: 26, threads: 2,
		ranges: 5, bytes: 8660, noHeap: true},
	"breakpad/ascii_read_av_conditional.dmp": {arch: minidump.ArchX86, build: 7600, modules: 26, threads: 2,
		ranges: 5, bytes: 8240, noHeap: true},
	"breakpad/ascii_read_av_then_jmp.dmp": {arch: minidump.ArchX86, build: 7600, modules: 26, threads: 2,
		ranges: 5, bytes: 7856, noHeap: true},
	"breakpad/ascii_read_av_xchg_write.dmp": {arch: minidump.ArchX86, build: 7600, modules: 26, threads: 2,
		ranges: 5, bytes: 7648, noHeap: true},
	"breakpad/ascii_write_av.dmp": {arch: minidump.ArchX86, build: 7600, modules: 26, threads: 2,
		ranges: 5, bytes: 8960, noHeap: true},
	"breakpad/ascii_write_av_arg_to_call.dmp": {arch: minidump.ArchX86, build: 7600, modules: 26, threads: 2,
		ranges: 5, bytes: 7200, noHeap: true},
	"breakpad/exec_av_on_stack.dmp": {arch: minidump.ArchX86, build: 7600, modules: 26, threads: 2,
		ranges: 4, bytes: 7636, noHeap: true},
	"breakpad/linux_divide_by_zero.dmp":   {refused: minidump.CodeOtherSystem},
	"breakpad/linux_inline.dmp":           {refused: minidump.CodeOtherSystem},
	"breakpad/linux_null_dereference.dmp": {refused: minidump.CodeOtherSystem},
	"breakpad/linux_null_read_av.dmp":     {refused: minidump.CodeOtherSystem},
	"breakpad/linux_outside_module.dmp":   {refused: minidump.CodeOtherSystem},
	"breakpad/linux_overflow.dmp":         {refused: minidump.CodeOtherSystem},
	"breakpad/linux_raise_sigabrt.dmp":    {refused: minidump.CodeOtherSystem},
	"breakpad/minidump2.dmp": {arch: minidump.ArchX86, build: 2600, modules: 13, threads: 2,
		ranges: 3, bytes: 5884, noHeap: true},
	"breakpad/minidump_32bit_crash_addr.dmp": {arch: minidump.ArchX86, build: 2600, modules: 13, threads: 2,
		ranges: 3, bytes: 5884, noHeap: true},
	"breakpad/minidump_crashpad_annotation.dmp": {refused: minidump.CodeOtherSystem},
	"breakpad/null_read_av.dmp": {arch: minidump.ArchX86, build: 7600, modules: 26, threads: 2,
		ranges: 5, bytes: 7128, noHeap: true},
	"breakpad/null_write_av.dmp": {arch: minidump.ArchX86, build: 7600, modules: 26, threads: 2,
		ranges: 5, bytes: 8636, noHeap: true},
	"breakpad/read_av_clobber_write.dmp": {arch: minidump.ArchX86, build: 7600, modules: 26, threads: 2,
		ranges: 5, bytes: 6372, noHeap: true},
	"breakpad/read_av_conditional.dmp": {arch: minidump.ArchX86, build: 7600, modules: 26, threads: 2,
		ranges: 5, bytes: 8044, noHeap: true},
	"breakpad/read_av_non_null.dmp": {arch: minidump.ArchX86, build: 7600, modules: 26, threads: 2,
		ranges: 5, bytes: 6812, noHeap: true},
	"breakpad/stack_exhaustion.dmp": {arch: minidump.ArchX86, build: 7600, modules: 26, threads: 2,
		ranges: 5, bytes: 1041172, noHeap: true},
	"breakpad/thread_name_list.dmp": {arch: minidump.ArchX86, build: 17763, modules: 17, threads: 6,
		ranges: 10, bytes: 6256, noHeap: true},
	"breakpad/tiny-exe-with-cet-xsave-x86.dmp": {arch: minidump.ArchX86, build: 22631, modules: 19, threads: 3,
		ranges: 6, bytes: 10756, noHeap: true},
	"breakpad/tiny-exe-with-cet-xsave.dmp": {arch: minidump.ArchX64, build: 22000, modules: 25, threads: 1,
		ranges: 65, bytes: 50800, unloaded: 1, handles: 147, regions: 557, noHeap: true},
	"breakpad/write_av_non_canonical.dmp": {arch: minidump.ArchX64, build: 19042, modules: 15, threads: 2,
		ranges: 5, bytes: 17936, noHeap: true},
	"breakpad/write_av_non_null.dmp": {arch: minidump.ArchX86, build: 7600, modules: 26, threads: 2,
		ranges: 5, bytes: 7404, noHeap: true},
	"llvm/fizzbuzz_no_heap.dmp": {arch: minidump.ArchX86, build: 7601, modules: 6, threads: 1,
		ranges: 2, bytes: 2588, noHeap: true},
	"llvm/linux-x86_64.dmp":             {refused: minidump.CodeOtherSystem},
	"llvm/linux-x86_64_not_crashed.dmp": {refused: minidump.CodeOtherSystem},
	"llvm/linux-x86_64_unittest.dmp":    {refused: minidump.CodeOtherSystem},
	"llvm/regions-memlist64.dmp":        {refused: minidump.CodeOtherSystem},
	"llvm/sigsegv.dmp": {arch: minidump.ArchX64, build: 16299, modules: 4, threads: 1,
		ranges: 15, bytes: 96342, noHeap: true},
	"rust-minidump/invalid-parameter.dmp": {arch: minidump.ArchX64, build: 17134, modules: 31, threads: 6,
		ranges: 10, bytes: 25568, noHeap: true},
	"rust-minidump/invalid-range.dmp":               {noHeap: true},
	"rust-minidump/invalid-record-count.dmp":        {noHeap: true},
	"rust-minidump/linux-mini.dmp":                  {refused: minidump.CodeOtherSystem},
	"rust-minidump/pipeline-inlines-macos-segv.dmp": {refused: minidump.CodeOtherSystem},
	"rust-minidump/simple-crashpad.dmp":             {refused: minidump.CodeOtherSystem},
	"synthetic/win10_x64_ust_synthetic.dmp": {arch: minidump.ArchX64, build: 19045, modules: 6, threads: 2,
		ranges: 20, bytes: 4173824, regions: 48},
	"syzygy/minidump-no-kasko-stream.dmp": {arch: minidump.ArchX86, build: 7601, modules: 107, threads: 39,
		ranges: 45, bytes: 84833, noHeap: true},
	"syzygy/notepad-larger-32bit.dmp": {arch: minidump.ArchX86, build: 7601, modules: 22, threads: 1,
		ranges: 13, bytes: 27568, noHeap: true},
	"syzygy/notepad-larger-64bit.dmp": {arch: minidump.ArchX64, build: 7601, modules: 5, threads: 1,
		ranges: 6, bytes: 18936, noHeap: true},
	"syzygy/notepad-small-32bit.dmp": {arch: minidump.ArchX86, build: 7601, modules: 22, threads: 1,
		ranges: 5, bytes: 15330, noHeap: true},
	"syzygy/notepad-small-64bit.dmp": {arch: minidump.ArchX64, build: 7601, modules: 5, threads: 1,
		ranges: 6, bytes: 18936, noHeap: true},
	"syzygy/use-after-free.dmp": {arch: minidump.ArchX86, build: 7601, modules: 107, threads: 39,
		ranges: 162, bytes: 284922, unloaded: 12, noHeap: true},
	"llvm/fizzbuzz_wow64.dmp.zst": {arch: minidump.ArchX64, build: 7601, modules: 16, threads: 1,
		ranges: 107, bytes: 9265152, regions: 168},
	"wine/wine_mkdump_leak2.dmp.zst": {arch: minidump.ArchX64, build: 7601, modules: 5, threads: 3,
		ranges: 66, bytes: 32145408, handles: 56, regions: 97},
}

// TestCorpus opens every dump of the corpus.
func TestCorpus(t *testing.T) {
	root := corpus.Path(t, "dumps")
	for _, pattern := range []string{"*/*.dmp", "*/*.dmp.zst"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no dumps match %s: %v", pattern, err)
		}
		for _, file := range files {
			name, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			name = filepath.ToSlash(name)
			t.Run(name, func(t *testing.T) { testCorpusDump(t, name) })
		}
	}
}

func testCorpusDump(t *testing.T, name string) {
	want, known := corpusDumps[name]
	if !known {
		t.Fatal("the table does not know this dump")
	}
	b := corpusFile(t, filepath.FromSlash(name))
	if !minidump.Sniff(b) {
		t.Error("it is not taken for a minidump")
	}
	d, err := minidump.Open(t.Context(), bytes.NewReader(b), int64(len(b)))
	if code(err) != want.refused {
		t.Fatalf("got %v", err)
	}
	if err != nil {
		return
	}
	if s := d.System(); s.Arch != want.arch || s.Build != want.build {
		t.Errorf("system %+v", s)
	}
	modules, err1 := d.Modules()
	threads, err2 := d.Threads()
	unloaded, err3 := d.Unloaded()
	handles, err4 := d.Handles()
	regions, err5 := d.Regions()
	if want.arch != minidump.ArchUnknown {
		for _, err := range []error{err1, err2, err3, err4, err5} {
			if err != nil {
				t.Error(err)
			}
		}
		if len(d.Damage()) > 0 {
			t.Errorf("damage %v", d.Damage())
		}
		for _, thread := range threads {
			if r, err := d.Registers(thread); err != nil || r.IP == 0 || r.SP == 0 {
				t.Errorf("thread %#x: %v, %+v", thread.ID, err, r)
			}
		}
	}
	ranges := d.Memory().Ranges()
	if len(modules) != want.modules || len(threads) != want.threads || len(unloaded) != want.unloaded ||
		len(handles) != want.handles ||
		len(regions) != want.regions || len(ranges) != want.ranges || sizes(ranges) != want.bytes ||
		(d.WithoutHeap() != nil) != want.noHeap || d.Memory().MissingBytes() != 0 {
		t.Errorf("%q: {arch: minidump.Arch%s, build: %d, modules: %d, threads: %d, ranges: %d, bytes: %d, unloaded: %d, handles: %d, regions: %d, noHeap: %t},", name,
			strings.ToUpper(d.System().Arch.String()), d.System().Build, len(modules), len(threads), len(ranges), sizes(ranges),
			len(unloaded), len(handles), len(regions), d.WithoutHeap() != nil)
	}
}

// The only real full dump: a 32-bit process of Windows 7, dumped by a 64-bit writer. Figures are those of an
// independent reader.
func TestRealFullDump(t *testing.T) {
	b := corpusFile(t, "llvm", "fizzbuzz_wow64.dmp.zst")
	d := open(t, b)
	if h := d.Header(); !h.FullMemory || h.Flags != 0x1826 || h.Streams != 11 || d.WithoutHeap() != nil {
		t.Errorf("header %+v, without heap %v", h, d.WithoutHeap())
	}
	if s := d.System(); s.Major != 6 || s.Minor != 1 || s.ServicePack != "Service Pack 1" ||
		s.Product != minidump.ProductWorkstation || s.Processors != 40 {
		t.Errorf("system %+v", s)
	}
	modules, _ := d.Modules()
	withID := 0
	for _, m := range modules {
		if len(m.DebugID) >= 33 {
			withID++
		}
	}
	// The program is listed twice, once by each of the process's two loaders, and both times without an id.
	if withID != 14 || len(modules) != 16 || modules[0].Base != modules[5].Base || modules[5].DebugID != "" ||
		modules[0].DebugID != "" || !strings.HasSuffix(modules[0].Path, `\fizzbuzz.exe`) ||
		modules[1].DebugID != "1026BB8E05EC4FD3A30F7EA69DD5D4E32" ||
		modules[1].FileVersion != "6.1.7601.19135" {
		t.Errorf("%d of %d have an id: %+v", withID, len(modules), modules[:2])
	}
	thread := first(d.Threads())
	if thread.ID != 0x3490 || thread.TEB != 0x7EFDB000 || thread.StartAddress == 0 || thread.Created.Year() != 2016 {
		t.Errorf("thread %+v", thread)
	}
	if r, err := d.WOW64Registers(thread); err != nil || r.IP != 0x77CE01FD || r.SP != 0x37F5B8 || r.Flags != 0x1002F ||
		r.Arch != minidump.ArchX86 {
		t.Errorf("%v, 32-bit registers %+v", err, r)
	}
	if r, err := d.Registers(thread); err != nil || r.Arch != minidump.ArchX64 || r.General[13] != 0x20FD20 { // R13 leads to the 32-bit side
		t.Errorf("%v, registers %#x", err, r.General)
	}
	// These are the committed bytes of the regions, by type of memory.
	committed := map[minidump.MemoryType]uint64{}
	regions, _ := d.Regions()
	for _, r := range regions {
		if r.State == minidump.MemCommit {
			committed[r.Type] += r.Size
		}
	}
	if committed[minidump.MemPrivate] != 1073152 || committed[minidump.MemMapped] != 737280 ||
		committed[minidump.MemImage] != 7471104 {
		t.Errorf("committed %v", committed)
	}
	// The TEBs lead to PEB64 and PEB32, and these to the numbers of heaps.
	if n := readUint(t, d, readUint(t, d, thread.TEB+0x60, 8)+0xE8, 4); n != 3 {
		t.Errorf("%d 64-bit heaps", n)
	}
	if n := readUint(t, d, readUint(t, d, readUint(t, d, thread.TEB, 8)+0x30, 4)+0x88, 4); n != 2 {
		t.Errorf("%d 32-bit heaps", n)
	}
}

// An upload of the real full dump that broke off says to the byte what is missing, and all lists are read.
func TestRealFullDumpCut(t *testing.T) {
	b := corpusFile(t, "llvm", "fizzbuzz_wow64.dmp.zst")
	const memory = 9265152
	for _, n := range []int{len(b) - 1, len(b) / 2, len(b) - memory + 1, len(b) - memory} {
		d := open(t, b[:n])
		modules, err1 := d.Modules()
		regions, err2 := d.Regions()
		if held := sizes(d.Memory().Ranges()); held != int64(n-len(b)+memory) || held+d.Memory().MissingBytes() != memory ||
			len(modules) != 16 || len(regions) != 168 || err1 != nil || err2 != nil {
			t.Errorf("%d bytes: %d are there, %d missing, %v, %v", n, held, d.Memory().MissingBytes(), err1, err2)
		}
		if e := d.WithoutHeap(); (e != nil) != (n == len(b)-memory) {
			t.Errorf("%d bytes: %v", n, e)
		}
	}
}

// readUint reads a number of n bytes from memory.
func readUint(t *testing.T, d *minidump.Dump, at uint64, size int) (v uint64) {
	t.Helper()
	b := make([]byte, size)
	if _, err := d.Memory().ReadMemory(b, at); err != nil {
		t.Fatal(err)
	}
	for i, c := range b {
		v |= uint64(c) << (8 * i)
	}
	return v
}

// A dump of another writer with every optional list.
func TestWineDump(t *testing.T) {
	d := open(t, corpusFile(t, "wine", "wine_mkdump_leak2.dmp.zst"))
	threads, _ := d.Threads()
	var names []string
	for _, thread := range threads {
		names = append(names, thread.Name)
	}
	if strings.Join(names, " ") != "main waiter-1 waiter-2" {
		t.Errorf("threads %q", names)
	}
	handles, _ := d.Handles()
	types := map[string]int{}
	for _, h := range handles {
		types[h.Type]++
	}
	if types["Key"] == 0 || types["File"] == 0 ||
		handles[0].Name != `\REGISTRY\User\S-1-5-21-0-0-0-1000\Software\Wine\DllOverrides` {
		t.Errorf("types %v, first %+v", types, handles[0])
	}
	if c := d.Comments(); len(c) != 1 || !strings.HasPrefix(c[0], "mkdump: ") {
		t.Errorf("comments %q", c)
	}
	// The id of leak2.exe is that of leak2.pdb, which has the GUID as it is stored.
	module := first(d.Modules())
	pdb := corpusFile(t, "wine", "leak2.pdb")
	guid := []byte("\x91\x97\xA0\x85\xB4\xF8\xEE\x3BLLD PDB.")
	if module.DebugID != "85A09791F8B43BEE4C4C44205044422E1" || !bytes.Contains(pdb, guid) {
		t.Errorf("module %+v", module)
	}
	// Its image in memory says the same.
	var head [2]byte
	if _, err := d.Memory().ReadMemory(head[:], module.Base); err != nil || string(head[:]) != "MZ" {
		t.Errorf("%q, %v", head, err)
	}
	// Blocks whose addresses the program printed are in memory, also far into the file.
	truth, err := os.ReadFile(corpus.Path(t, "dumps", "wine", "leak2.truth.txt"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	for line := range strings.Lines(string(truth)) {
		fields := strings.Fields(line)
		if len(fields) != 3 || len(fields[0]) != 1 {
			continue
		}
		at, size := parseUint(t, fields[1], 16), parseUint(t, fields[2], 10)
		if n, err := d.Memory().ReadMemory(make([]byte, size), at); err != nil {
			t.Fatalf("block %#x: %d of %d bytes, %v", at, n, size, err)
		}
		blocks++
	}
	if blocks < 100 {
		t.Errorf("%d blocks", blocks)
	}
}

// Streams that only newer writers have, from real dumps.
func TestNewerStreams(t *testing.T) {
	d := open(t, corpusFile(t, "breakpad", "thread_name_list.dmp"))
	if thread := first(d.Threads()); thread.Name != "main thread" {
		t.Errorf("thread %+v", thread)
	}
	process, err := d.Process()
	if err != nil || process.PID != 6040 || process.BuildString != "17763.1.x86fre.rs5_release.180914-1434" ||
		process.DebugBuild != "dbgcore.i386,10.0.17763.1" {
		t.Errorf("%v, %+v", err, process)
	}
	c, err := d.Counters()
	if err != nil || c.Revision != 2 || c.WorkingSet != 9801728 || c.PeakWorkingSet != 9805824 ||
		c.PrivateUsage != 6778880 || c.PrivateUsage != c.PagefileUsage ||
		c.VirtualSize != 40390656 || c.PrivateWorkingSet != 4501504 || c.SharedCommit != 360448 {
		t.Errorf("%v, counters %+v", err, c)
	}
	m, err := d.SystemMemory()
	if err != nil || m.PageSize != 4096 || m.Physical != 17056059392 || m.Available != 8419938304 ||
		m.Committed > m.PeakCommitted || m.PeakCommitted > m.CommitLimit {
		t.Errorf("%v, system memory %+v", err, m)
	}
	tiny := open(t, corpusFile(t, "breakpad", "tiny-exe-with-cet-xsave.dmp"))
	unloaded, _ := tiny.Unloaded()
	if len(unloaded) != 1 || unloaded[0].Name != "shcore.dll" || unloaded[0].Size != 0xEA000 {
		t.Errorf("unloaded %+v", unloaded)
	}
	free := uint64(0)
	regions, _ := tiny.Regions()
	for _, r := range regions {
		if r.State == minidump.MemFree {
			free++
		}
	}
	if free == 0 || regions[0].State != minidump.MemFree || regions[0].Size != 0x7FFE0000 {
		t.Errorf("%d free regions, first %+v", free, regions[0])
	}
	if r, err := tiny.Registers(first(tiny.Threads())); err != nil || r.Flags != 0x10005F ||
		r.IP != 0x7FF9111E39E4 || r.SP != 0xCBC82FF448 {
		t.Errorf("%v, registers %+v", err, r)
	}
}

// A writer that Windows tells that the version is 6.2 records that as the version of Windows' own libraries.
func TestVersionOfWindowsLibraries(t *testing.T) {
	for name, file := range map[string]string{"tiny-exe-with-cet-xsave-x86.dmp": "6.2.22621.2506",
		"write_av_non_canonical.dmp": "6.2.19041.1949"} {
		modules, err := open(t, corpusFile(t, "breakpad", name)).Modules()
		if err != nil || modules[1].FileVersion != file || modules[1].ProductVersion != "10.0."+file[len("6.2."):] {
			t.Errorf("%s: %v, %+v", name, err, modules[1])
		}
	}
}

// A thread has no WOW64 registers if a 32-bit writer made the dump under 64-bit Windows.
func TestNoOtherSide(t *testing.T) {
	d := open(t, corpusFile(t, "syzygy", "notepad-larger-32bit.dmp"))
	if _, err := d.WOW64Registers(first(d.Threads())); code(err) != minidump.CodeNoRegisters {
		t.Errorf("got %v", err)
	}
	e, err := d.Exception()
	if err != nil || e == nil || e.Code != 0x80000003 && e.Code != 0x4000001F {
		t.Errorf("%v, exception %+v", err, e)
	}
	if process, err := d.Process(); err != nil || process.Created.Before(time.Date(2015, 6, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%v, %+v", err, process)
	}
}

// Real dumps survive damage to their beginnings, which hold everything except memory.
func TestBitFlipsOfRealDumps(t *testing.T) {
	for _, name := range []string{"breakpad/minidump2.dmp", "breakpad/tiny-exe-with-cet-xsave.dmp",
		"breakpad/thread_name_list.dmp", "rust-minidump/invalid-record-count.dmp",
		"rust-minidump/invalid-range.dmp", "syzygy/use-after-free.dmp", "llvm/fizzbuzz_no_heap.dmp"} {
		whole := corpusFile(t, filepath.FromSlash(name))
		r := rand.New(rand.NewPCG(uint64(len(whole)), 3))
		for range 60 {
			b := bytes.Clone(whole)
			for range 1 + r.IntN(200) {
				b[r.IntN(min(len(b), 40000))] ^= 1 << r.IntN(8)
			}
			survive(t, b)
			survive(t, b[:r.IntN(len(b))])
		}
	}
}

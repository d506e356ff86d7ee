package shopd

import "time"

// snapshots is how many logs each build has, one every so often: enough for a leak to be certain.
const (
	snapshots = 11
	apart     = 6 * time.Minute
)

// A build says how many blocks of each site are outstanding at snapshot k.
type build struct {
	name  string
	at    time.Time // of the first snapshot
	pid   int
	sites []site
}

// A site is one stack of the process: the size of its blocks, and how many there are at each snapshot. Frames are
// written module!function+offset, with the file and line of the call where the module's symbols are private.
type site struct {
	id     int
	size   int
	stack  string // innermost first, by spaces; ~ stands for a space in a name
	blocks func(k int) int
}

func always(n int) func(int) int { return func(int) int { return n } }
func leak(start, step int) func(int) int {
	return func(k int) int { return start + step*k }
}
func fills(start, step, limit int) func(int) int {
	return func(k int) int { return min(limit, start+step*k) }
}

const (
	allocator = "ntdll!RtlpAllocateHeap+0x00000A1C ntdll!RtlAllocateHeap+0x000002F4 ucrtbase!_malloc_base+0x00000036 "
	newed     = allocator + "shopd!operator~new+0x0000001F "
	threads   = " kernel32!BaseThreadInitThunk+0x0000000E ntdll!__RtlUserThreadStart+0x00000070 ntdll!_RtlUserThreadStart+0x0000001B"
	request   = " shopd!Http::Worker::Serve+0x0000021C~(c:\\src\\shopd\\http\\worker.cpp,~142) shopd!Http::Worker::Run+0x0000004A~(c:\\src\\shopd\\http\\worker.cpp,~88)" + threads
	start     = " shopd!main+0x00000132~(c:\\src\\shopd\\main.cpp,~61) shopd!__scrt_common_main_seh+0x000000FA" + threads
)

// steady are the sites that every build has: start-up data, a session cache that fills, buffers of the workers.
func steady() []site {
	return []site{
		{0x1001, 0x58, newed + `shopd!Config::Load+0x000000A1~(c:\src\shopd\config.cpp,~37)` + start, always(412)},
		{0x1002, 0x4000, newed + `shopd!Catalog::Preload+0x0000006E~(c:\src\shopd\catalog\catalog.cpp,~93)` + start,
			always(96)},
		{0x1003, 0x1000, newed +
			`shopd!Net::BufferPool::Acquire+0x00000052~(c:\src\shopd\net\buffer_pool.cpp,~40) shopd!Http::Worker::Read+0x00000033~(c:\src\shopd\http\worker.cpp,~101)` + request, always(64)},
		{0x1004, 0x240, newed +
			`shopd!std::make_unique<Session>+0x0000001C shopd!SessionCache::Add+0x0000007B~(c:\src\shopd\session\session_cache.cpp,~58)` + request, fills(512, 256, 2048)},
		{0x1005, 0x30, allocator + `ucrtbase!_strdup+0x0000001A shopd!Log::Rotate+0x00000044~(c:\src\shopd\log.cpp,~71)` +
			start, always(7)},
		{0x1006, 0x20, newed +
			"shopd!std::_Tree<int>::_Insert+0x00000029 shopd!Metrics::`anonymous~namespace'::Register+0x00000017~(c:\\src\\shopd\\metrics.cpp,~22)" + start, always(188)},
	}
}

// quiet are the sites of builds that do not leak: everything has settled before the first snapshot.
func quiet() []site {
	sites := steady()
	sites[3].blocks = always(2048)
	return sites
}

// mended is a site that keeps what it held when it began.
func mended(s site) site {
	s.blocks = always(s.blocks(0))
	return s
}

var (
	receipt = site{0x2001, 0x180, newed +
		`shopd!Receipt::AppendLine+0x000000C4~(c:\src\shopd\order\receipt.cpp,~118) shopd!Order::Commit+0x000001D2~(c:\src\shopd\order\order.cpp,~207)` + request, leak(140, 565)}
	audit = site{0x2002, 0x68, allocator +
		`ucrtbase!_wcsdup+0x00000020 audit!AuditLog::Note+0x0000003B~(c:\src\audit\audit_log.cpp,~29) shopd!Order::Commit+0x00000210~(c:\src\shopd\order\order.cpp,~213)` + request, leak(140, 565)}
	index = site{0x2003, 0x900, newed +
		`shopd!SearchIndex::Rebuild+0x00000166~(c:\src\shopd\search\search_index.cpp,~74) shopd!Scheduler::Tick+0x0000005D~(c:\src\shopd\scheduler.cpp,~46)` + threads, leak(3, 6)}
)

var day = time.Date(2025, 3, 3, 9, 0, 0, 0, time.UTC)

// modules are what the process loads. The team has the symbols of its program, a symbol server has those of Windows,
// and nobody has uploaded those of the audit library.
var modules = []module{
	{`C:\Program Files (x86)\Shop\shopd.exe`, 0x400000, "shopd.pdb", private},
	{`C:\Program Files (x86)\Shop\audit.dll`, 0x10000000, "audit.pdb", missing},
	{`C:\Windows\SysWOW64\kernel32.dll`, 0x76F20000, "wkernel32.pdb", public},
	{`C:\Windows\SysWOW64\ntdll.dll`, 0x77650000, "wntdll.pdb", public},
	{`C:\Windows\SysWOW64\ucrtbase.dll`, 0x5FA10000, "ucrtbase.pdb", public},
}

// builds are the versions under test, oldest first: the search index leaks until 4810, 4811 is clean, and 4812 brings
// two leaks that grow together.
var builds = []build{
	{"4809", day, 5120, append(quiet(), index)},
	{"4810", day.AddDate(0, 0, 1), 4416, append(quiet(), index)},
	{"4811", day.AddDate(0, 0, 2), 6204, append(quiet(), mended(index))},
	{"4812", day.AddDate(0, 0, 3), 4242, append(steady(), receipt, audit, mended(index))},
}

// allSites are the sites of all builds.
func allSites() []site {
	return append(steady(), receipt, audit, index, parse, page, rebuild, arena)
}

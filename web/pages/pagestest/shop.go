package pagestest

import (
	"fmt"
	"time"

	"heapdrift/ingest/capture"
)

// A Sample is one site of the process that tests show: its stack, innermost first, and its blocks at each snapshot.
type Sample struct {
	Heap        int32 // index
	Size        int64 // bytes of each block
	Stack       []string
	AliasStacks [][]string
	Blocks      func(k int) int64 // how many blocks it has at snapshot k, from 0
}

// ConstantBlocks is the same number of blocks at each snapshot.
func ConstantBlocks(n int64) func(int) int64 { return func(int) int64 { return n } }

// RisingBlocks is a number of blocks that grows by step from snapshot to snapshot.
func RisingBlocks(start, step int64) func(int) int64 {
	return func(k int) int64 { return start + step*int64(k) }
}

var (
	allocate = []string{"ntdll!RtlpAllocateHeapInternal+0xa1c", "ntdll!RtlAllocateHeap+0x2f4",
		"ucrtbase!_malloc_base+0x36"}
	// NewFrames are the frames of operator new and below, innermost first.
	NewFrames = append(append([]string{}, allocate...), "shopd!operator new+0x1f")
	// ThreadFrames begin every thread.
	ThreadFrames = []string{"kernel32!BaseThreadInitThunk+0x1d", "ntdll!RtlUserThreadStart+0x28"}
	// RequestFrames are those of the thread that serves requests.
	RequestFrames = append([]string{`shopd!Http::Worker::Serve+0x21c@c:\src\shopd\http\worker.cpp:142`,
		`shopd!Http::Worker::Run+0x4a@c:\src\shopd\http\worker.cpp:88`}, ThreadFrames...)
	start = append([]string{`shopd!main+0x132@c:\src\shopd\main.cpp:61`,
		"shopd!__scrt_common_main_seh+0xfa"}, ThreadFrames...)
)

// Hostile is a function name that tries to be markup.
const Hostile = `<script>alert("x")</script>&amp;'"`

// Join puts the parts of a stack together, innermost first.
func Join(parts ...[]string) (all []string) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// Shop is a process with a leak, a cache, steady memory, and stacks of every kind that the pages show.
var Shop = []Sample{
	{0, 384, Join(NewFrames,
		[]string{`shopd!Shop::Orders::Receipts::Receipt::AppendLine+0xc4@c:\src\shopd\order\receipt.cpp:118`,
			`shopd!Shop::Orders::Order::Commit+0x1d2@c:\src\shopd\order\order.cpp:207`}, RequestFrames), nil, RisingBlocks(140, 565)},
	{0, 104, Join(allocate, []string{"ucrtbase!_wcsdup+0x20", `audit!AuditLog::Note+0x3b@c:\src\audit\audit_log.cpp:29`,
		`shopd!Shop::Orders::Order::Commit+0x210@c:\src\shopd\order\order.cpp:213`}, RequestFrames), nil, RisingBlocks(140, 565)},
	{0, 2304, Join(NewFrames, []string{`shopd!SearchIndex::Rebuild+0x166@c:\src\shopd\search\search_index.cpp:74`,
		`shopd!Scheduler::Tick+0x5d@c:\src\shopd\scheduler.cpp:46`}, ThreadFrames), nil, RisingBlocks(3, 6)},
	{0, 576,
		Join(NewFrames, []string{`shopd!std::make_unique<Session,std::basic_string<char,std::char_traits<char>>>+0x1c`,
			`shopd!SessionCache::Add+0x7b@c:\src\shopd\session\session_cache.cpp:58`}, RequestFrames), nil,
		func(k int) int64 { return min(2048, 512+256*int64(k)) }},
	{0, 16384, Join(NewFrames, []string{`shopd!Catalog::Preload+0x6e@c:\src\shopd\catalog\catalog.cpp:93`}, start), nil,
		ConstantBlocks(96)},
	{1, 4096, Join(NewFrames, []string{`shopd!Net::BufferPool::Acquire+0x52@c:\src\shopd\net\buffer_pool.cpp:40`},
		RequestFrames),
		nil, ConstantBlocks(64)},
	{0, 88, Join(NewFrames, []string{`shopd!Config::Load+0xa1@c:\src\shopd\config.cpp:37`}, start), nil, ConstantBlocks(412)},
	{0, 48, Join(allocate, []string{`shopd!Log::Rotate+0x44@c:\src\shopd\log.cpp:71`}, start), nil,
		func(k int) int64 { return 70 - 7*int64(k/2) }},
	{0, 32, Join(NewFrames, []string{"shopd!std::_Tree<std::pair<int const ,std::basic_string<char>>>::_Insert+0x29",
		"shopd!Metrics::`anonymous namespace'::Register+0x17@c:\\src\\shopd\\metrics.cpp:22"}, start), nil, ConstantBlocks(188)},
	{1, 24, Join(allocate, []string{"plugin+0x2a40", "plugin+0x1177"}, ThreadFrames), nil, RisingBlocks(9, 20)},
	{0, 16, Join(allocate, []string{"shopd!" + Hostile + "+0x1"}, ThreadFrames), nil, ConstantBlocks(5)},
	{0, 64, Join(NewFrames, []string{`shopd!Xml::Node::Clone+0x10@c:\src\shopd\xml.cpp:9`}, ThreadFrames),
		[][]string{Join(NewFrames, []string{`shopd!Json::Node::Clone+0x12@c:\src\shopd\json.cpp:11`}, ThreadFrames)}, RisingBlocks(20, 1)},
	{0, 40, nil, nil, ConstantBlocks(33)},
}

// ShopAnd is the shop with n sites more.
func ShopAnd(n int) []Sample {
	list := append([]Sample{}, Shop...)
	for i := range n {
		name := fmt.Sprintf("gen!Space%d::Class%d::Function%d+0x1@gen.cpp:%d", i%5, i%30, i, i)
		list = append(list, Sample{0, 8, Join(NewFrames, []string{name}, start), nil, RisingBlocks(int64(i), int64(i%7))})
	}
	return list
}

// CapturesOf is what a reader makes of the process, one capture for each of n snapshots five minutes apart.
func CapturesOf(samples []Sample, n int) []*capture.Capture {
	list := make([]*capture.Capture, n)
	for k := range list {
		c := &capture.Capture{
			Kind: capture.KindUMDHSnapshot, Process: capture.Process{Name: "shopd.exe", PID: 4242, Bits: 64},
			Snapshots: []capture.Snapshot{{TakenAt: time.Date(2025, 3, 6, 9, 5*k, 0, 0, time.UTC)}},
			Heaps:     []capture.Heap{{Handle: 0x1d147000000}, {Handle: 0x1d148a20000}},
			Modules: []capture.Module{
				{Path: `C:\Shop\shopd.exe`, Base: 0x7ff65480000, Size: 0x2a6000, Symbols: capture.SymbolsPrivate, PDB: "shopd.pdb"},
				{Path: `C:\Shop\audit.dll`, Base: 0x7ff70000000, Size: 0x31000, Symbols: capture.SymbolsPublic},
				{Path: `C:\Shop\plugin.dll`, Base: 0x7ff71000000, Size: 0x9000, Symbols: capture.SymbolsNone, PDB: "plugin.pdb",
					DebugID: "5E0A4B5C9F1D4E3A8B6C7D8E9FA0B1C21"},
				{Path: `C:\Windows\System32\ntdll.dll`, Base: 0x7ffa0000000, Size: 0x1f0000, Symbols: capture.SymbolsPublic},
			},
		}
		for i, s := range samples {
			site := capture.Site{Heap: s.Heap, Trace: uint64(0x2001 + i),
				Usage: []capture.Usage{{Count: s.Blocks(k), Bytes: s.Blocks(k) * s.Size}}}
			site.Stack = addStack(c, s.Stack)
			for _, alias := range s.AliasStacks {
				site.AliasStacks = append(site.AliasStacks, addStack(c, alias))
			}
			c.Sites = append(c.Sites, site)
			for b := range s.Blocks(k) { // blocks keep their addresses
				c.Blocks.Add(capture.Block{Site: uint32(i), Address: uint64(i+1)<<32 + uint64(b)<<16, Size: uint64(s.Size)})
			}
		}
		list[k] = c
	}
	return list
}

// addStack interns frames written as module!function+0xoffset@file:line or module+0xoffset.
func addStack(c *capture.Capture, frames []string) capture.StackID {
	ids := make([]capture.FrameID, len(frames))
	for i, f := range frames {
		ids[i] = c.Stacks.AddText(parseFrame(f), 0)
	}
	return c.Stacks.AddStack(ids)
}

func parseFrame(s string) capture.FrameText {
	var t capture.FrameText
	if at := lastIndex(s, '@'); at >= 0 {
		place := s[at+1:]
		colon := lastIndex(place, ':')
		t.File = place[:colon]
		_, _ = fmt.Sscan(place[colon+1:], &t.Line)
		s = s[:at]
	}
	plus := lastIndex(s, '+')
	_, _ = fmt.Sscanf(s[plus:], "+0x%x", &t.Offset)
	t.Module = s[:plus]
	for i := range t.Module {
		if t.Module[i] == '!' {
			t.Module, t.Function = t.Module[:i], t.Module[i+1:]
			break
		}
	}
	return t
}

func lastIndex(s string, b byte) int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == b {
			return i
		}
	}
	return -1
}

package run_test

import (
	"fmt"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/web/pages/pagestest"
)

var (
	heapAllocate = []string{"ntdll!RtlpAllocateHeapInternal+0xa1c", "ntdll!RtlAllocateHeap+0x2f4",
		"ucrtbase!_malloc_base+0x36", "memtest!operator new+0x1f"}
	virtualAlloc = []string{"ntdll!NtAllocateVirtualMemory+0x14", "KERNELBASE!VirtualAlloc+0x5a"}
	heapGrowth   = []string{"ntdll!NtAllocateVirtualMemory+0x14", "ntdll!RtlpFindAndCommitPages+0x1b7",
		"ntdll!RtlpExtendHeap+0x41", "ntdll!RtlAllocateHeap+0x2f4"}
	testMain = append([]string{`memtest!main+0x1d2@c:\src\memtest\main.cpp:88`,
		"memtest!__scrt_common_main_seh+0xfa"}, pagestest.ThreadFrames...)
	background = append([]string{`memtest!Worker::Run+0x4a@c:\src\memtest\worker.cpp:31`}, pagestest.ThreadFrames...)
)

// memtest does what Microsoft's exercise on native memory has as its example: 10 MB of virtual memory more in the
// middle, four spikes of 10 MB, small blocks that pile up, and frees all of it as it exits.
func memtest() pagestest.TracedProcess {
	p := pagestest.TracedProcess{Name: "memtest.exe", End: 60 * pagestest.Second, Exited: 57500 * pagestest.Millisecond,
		Heaps: 3}
	const mb = 1 << 20
	atExit := func(list []pagestest.Life) []pagestest.Life {
		for i := range list {
			if list[i].To == 0 {
				list[i].To, list[i].End = p.Exited, allocations.EndExit
			}
		}
		return list
	}
	p.Sites = []pagestest.AllocationSite{
		{Kind: allocations.KindVirtual, Heap: -1,
			Stack: pagestest.Join(virtualAlloc, []string{`memtest!Buffers::Reserve+0x88@c:\src\memtest\buffers.cpp:19`},
				testMain),
			Lives: atExit([]pagestest.Life{{From: 2 * pagestest.Second, Size: 10 * mb},
				{From: 25 * pagestest.Second, Size: 10 * mb}})},
		{Kind: allocations.KindVirtual, Heap: -1,
			Stack: pagestest.Join(virtualAlloc, []string{`memtest!ManipulateTemporaryBuffer+0x6c@c:\src\memtest\buffers.cpp:54`},
				testMain),
			Lives: pagestest.RegularLives(30*pagestest.Second, 50*pagestest.Second, 5*pagestest.Second, 800*pagestest.Millisecond,
				10*mb)},
		{Kind: allocations.KindHeap, Heap: 0,
			Stack: pagestest.Join(heapAllocate, []string{`memtest!InnerLoopOperation+0x3e@c:\src\memtest\loop.cpp:12`,
				`memtest!OuterLoop+0x91@c:\src\memtest\loop.cpp:40`}, testMain),
			Lives: atExit(pagestest.RegularLives(10*pagestest.Second, 55*pagestest.Second, 31250*int64(time.Microsecond), 0, 40))},
		{Kind: allocations.KindHeap, Heap: 0, Stack: pagestest.Join(heapAllocate,
			[]string{`memtest!Cache::Insert+0x77@c:\src\memtest\cache.cpp:61`},
			background), Lives: atExit(pagestest.RegularLives(1*pagestest.Second, 12*pagestest.Second, 20*pagestest.Millisecond, 0,
			6144))},
		{Kind: allocations.KindHeap, Heap: 0,
			Stack: pagestest.Join(heapAllocate,
				[]string{`memtest!Shop::Orders::Receipt::AppendLine+0xc4@c:\src\memtest\receipt.cpp:118`},
				background), Lives: atExit(pagestest.RegularLives(5*pagestest.Second, 56*pagestest.Second, 12*pagestest.Millisecond, 0,
				384))},
		{Kind: allocations.KindHeap, Heap: 1, Stack: pagestest.Join(heapAllocate,
			[]string{`memtest!Parser::Tokenize+0x1aa@c:\src\memtest\parser.cpp:203`},
			background),
			Lives: pagestest.RegularLives(3*pagestest.Second, 56*pagestest.Second, 9*pagestest.Millisecond, 45*pagestest.Millisecond,
				2048)},
		{Kind: allocations.KindHeap, Heap: 1, Stack: pagestest.Join(heapAllocate,
			[]string{`memtest!Parser::Document+0x20@c:\src\memtest\parser.cpp:77`},
			background),
			Lives: pagestest.RegularLives(4*pagestest.Second, 52*pagestest.Second, 10*pagestest.Second, 4*pagestest.Second, 1200<<10)},
		{Kind: allocations.KindHeap, Heap: 2, Stack: pagestest.Join([]string{"ntdll!RtlAllocateHeap+0x2f4"},
			[]string{"plugin+0x2a40", "plugin+0x1177"},
			pagestest.ThreadFrames), Lives: atExit(pagestest.RegularLives(6*pagestest.Second, 50*pagestest.Second,
			500*pagestest.Millisecond, 0, 4096))},
		{Kind: allocations.KindHeapVirtual, Heap: 0,
			Stack: pagestest.Join(heapGrowth, []string{`memtest!Cache::Insert+0x77@c:\src\memtest\cache.cpp:61`},
				background), Lives: atExit(pagestest.RegularLives(1*pagestest.Second, 12*pagestest.Second, 600*pagestest.Millisecond, 0,
				192<<10))},
		{Kind: allocations.KindHeap, Heap: 0, Lives: atExit(pagestest.RegularLives(0, 3*pagestest.Second, 300*pagestest.Millisecond,
			0, 96))},
	}
	return p
}

// crowd is a process with many heaps and many lost events, whose end is not in the trace.
func crowd(heaps int) pagestest.TracedProcess {
	p := pagestest.TracedProcess{Name: "crowd.exe", End: 600 * pagestest.Second, Heaps: heaps, Warnings: []capture.Warning{
		{Code: capture.EventsLost, Count: 12_408,
			Message: "12,408 events were lost: the session's buffers were full. Blocks whose free is among them look like leaks; record again with more or larger buffers"},
		{Code: capture.BuffersLost, Count: 3, Message: "3 buffers were lost between 41.2 s and 44.9 s"},
		{Code: capture.UnknownFree, Count: 811, Message: "811 frees of blocks that were allocated before the trace began"},
		{Code: capture.StackMissing, Count: 96, Message: "96 allocations have no stack"},
	}}
	for i := range heaps {
		stack := pagestest.Join(heapAllocate,
			[]string{fmt.Sprintf(`crowd!Pool%d::Take+0x2a@c:\src\crowd\pool.cpp:%d`, i, 10+i)}, background)
		n := int64(i)
		p.Sites = append(p.Sites,
			pagestest.AllocationSite{Kind: allocations.KindHeap, Heap: i, Stack: stack,
				Lives: pagestest.RegularLives(n*pagestest.Second, 590*pagestest.Second, (3+n)*pagestest.Second, 0,
					uint64(2000*(heaps-i)))},
			pagestest.AllocationSite{Kind: allocations.KindHeap, Heap: i,
				Stack: pagestest.Join(heapAllocate, []string{fmt.Sprintf(`crowd!Pool%d::Scratch+0x11@c:\src\crowd\pool.cpp:%d`, i,
					80+i)},
					background),
				Lives: pagestest.RegularLives(n*pagestest.Second, 580*pagestest.Second, 17*pagestest.Second, 40*pagestest.Millisecond,
					300_000)})
	}
	return p
}

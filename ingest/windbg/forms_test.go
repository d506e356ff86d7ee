package windbg_test

import "maps"

// forms are outputs as people paste them: without headers, wrapped, mixed, or of rarer commands. They have the layout
// of cases.
var forms = map[string]string{
	"a list of heaps, and the segments of one": `
windbg-log: WinDbg !heap "" pid 0, 64 bits, machine "", at ?, lower bound false
heap 0x145a3fd0000 heap 64 bits 0  reserved 1105920 committed 1105920 virtual 0 free 0 in 0 ucr 0 blocks 0 in 0 lock 0 
heap 0x145a3000000 heap 64 bits 0  reserved 0 committed 0
no unsupported
=
0:038> !heap
Index   Address  Name      Debugging options enabled
  1:   145a3fd0000
  2:   145a3000000                 tail checking free checking
0:038> !heap -f 00000145a3fd0000
Failed to read heap keySEGMENT HEAP ERROR: failed to initialize the extention
Index   Address  Name      Debugging options enabled
  1:   145a3fd0000
    Segment at 00000145a3fd0000 to 00000145a3fdf000 (0000f000 bytes committed)
    Segment at 00000145a4340000 to 00000145a443f000 (000ff000 bytes committed)
`,
	"the list of the newest debugger": `
heap 0x1e8e4a60000 NT heap 64 bits
heap 0x1e8e4d00000 segment heap 64 bits
=
0:000> !heap
        Heap Address      NT/Segment Heap

         1e8e4a60000              NT Heap
         1e8e4d00000         Segment Heap
`,
	"all blocks of a heap": `
heap 0x2b0a3b90000 heap 64 bits 1002  reserved 61440 committed 8192 virtual 0 free 6000 in 0 ucr 0 blocks 1048576 in 1 lock 0 
group size of 0x2b0a3b90000 size 1048576: 1048576 in 1 example 0x2b0b0000060 
group size of 0x2b0a3b90000 size 1855: 1855 in 1 example 0x2b0a3b90000 
group size of 0x2b0a3b90000 size 61: 122 in 2 example 0x2b0a3b91fc0 
note method: !heap lists the blocks of the low-fragmentation heap
no malformed
=
0:000> !heap -a 2b0a3b90000
Index   Address  Name      Debugging options enabled
  4:   2b0a3b90000
    Segment at 000002b0a3b90000 to 000002b0a3b9f000 (00002000 bytes committed)
    Flags:                00001002
    ForceFlags:           00000000
    Granularity:          16 bytes
    Segment Reserve:      00100000
    Total Free Size:      00000177
    Virtual Alloc List:   2b0a3b90110
        000002b0b0000060: 00100000 [commited 101000, unused 1000] - busy (b), tail fill
    Uncommitted ranges:   2b0a3b900f0
            2b0a3b92000: 0000d000  (53248 bytes)
    FreeList[ 00 ] at 000002b0a3b90150: 000002b0a3b90860 . 000002b0a3b90860
        000002b0a3b90850: 00110 . 01770 [100] - free

    Segment00 at a3b90000:
        Flags:           00000000
        Base:            2b0a3b90000

    Heap entries for Segment00 in Heap 000002b0a3b90000
                 address: psize . size  flags   state (requested size)
        000002b0a3b90000: 00000 . 00740 [101] - busy (73f)
        000002b0a3b90740: 00740 . 00110 [101] - busy (10f) Internal
        000002b0a3b90850: 00110 . 01770 [100]
        000002b0a3b91fc0: 01770 . 00040 [111] - busy (3d)
        000002b0a3b92000: 00040 . 00040 [111] - busy (3d), tail fill
        000002b0a3b92040:      0000d000      - uncommitted bytes.
0:000> k
`,
	"segments that are listed again are another instant": `
heap 0x150000 heap 32 bits 0  reserved 65536 committed 4096
windbg-log: WinDbg !heap "" pid 0, 32 bits
heap 0x150000 heap 32 bits 0  reserved 131072 committed 8192
=
0:000> !heap 0
  1:   00150000
Index   Address  Name      Debugging options enabled
  1:   00150000
    Segment at 00150000 to 00160000 (00001000 bytes committed)
0:000> g
0:000> !heap 0
Index   Address  Name      Debugging options enabled
  1:   00150000
    Segment at 00150000 to 00170000 (00002000 bytes committed)
`,
	"-stat of all heaps, as since Windows 2000": `
windbg-log: WinDbg !heap -stat "" pid 0, 32 bits
heap 0x150000 NT heap 32 bits 0  reserved 1114112 committed 483328 virtual 0 free 0 in 0 ucr 0 blocks 56557568 in 1 lock 0 
heap 0x250000 NT heap 32 bits 0  reserved 65536 committed 32768 virtual 0 free 0 in 0 ucr 0 blocks 0 in 0 lock 0 
=
0:001> !heap -stat
_HEAP 00150000
     Segments            00000002
         Reserved  bytes 00110000
         Committed bytes 00076000
     VirtAllocBlocks     00000001
         VirtAlloc bytes 035f0000
_HEAP 00250000
     Segments            00000001
         Reserved  bytes 00010000
         Committed bytes 00008000
     VirtAllocBlocks     00000000
         VirtAlloc bytes 00000000
`,
	"one heap, line by line": `
heap 0x140000 NT heap 32 bits 0  reserved 1048576 committed 917504 virtual 917504 free 6144 in 1 ucr 0 blocks 46137344 in 11 lock 3 
no malformed
=
0:000> !heap -s -h 00140000
Walking the heap 00140000 ..................
 0: Heap 00140000
   Flags          00000002 - HEAP_GROWABLE
   Reserved memory in segments              1024 (k)
   Commited memory in segments              896 (k)
   Virtual bytes (correction for large UCR) 896 (k)
   Free space                               6 (k) (1 blocks)
   External fragmentation          0% (1 free blocks)
   Virtual blocks  11 - total 45056 KBytes
   Lock contention 3
   Segments        1
`,
	"a heap that has met with an error": `
windbg-log: WinDbg heap error, !heap -s
heap 0x470000 NT heap 64 bits
note error: the heap has met with an error, HEAP_FAILURE_FREELISTS_CORRUPTION at 000000001b622e60 in heap 0000000000470000: The heap detected a corrupt free list. These are usually the result of a use-after-free error. It was noticed in ntdll!RtlpAllocateHeap < app!operator new[]
no malformed
=
0:000> !heap -s
SEGMENT HEAP ERROR: failed to initialize the extention
**************************************************************
*                                                            *
*                  HEAP ERROR DETECTED                       *
*                                                            *
**************************************************************

Details:

Heap address:  0000000000470000
Error address: 000000001b622e60
Error type:    HEAP_FAILURE_FREELISTS_CORRUPTION
Details:       The heap detected a corrupt free list. These are
               usually the result of a use-after-free error.
Follow-up:     Enable pageheap.

Stack trace:
Stack trace at 0x00000000779c7cd8
    0000000077973871: ntdll!RtlpAllocateHeap+0xa11
    000007fee6864c4f: app!operator new[]+0x27

LFH Key                   : 0x000000c61f1a5a70
Termination on corruption : ENABLED
          Heap     Flags   Reserv  Commit  Virt   Free  List   UCR  Virt  Lock  Fast
                            (k)     (k)    (k)     (k) length      blocks cont. heap
-------------------------------------------------------------------------------------
0000000000470000 00000002    1024    400   1024      5    10     1    0      0   LFH
-------------------------------------------------------------------------------------
`,
	"rows without their headers": `
windbg-log: WinDbg !heap -s, !heap -stat, !heap -flt, !heap -l
heap 0x520000 NT heap 32 bits 2 LFH reserved 633970688
heap 0x340000 NT heap 32 bits 1002  reserved 65536
group size of 0x0 size 8036: 244342616 in 30406 example 0x0 of a heap that the log does not name
group size of 0x150000 size 500: 1000 in 2 (+24) example 0x0 unreachable blocks only
group size of 0x0 size 280: 560 in 2 example 0x19819e0
no malformed
=
00520000 00000002  619112 617928 619112   1712  2165    95    1      0   LFH
and there is also
00340000 00001002      64     12     64      1     2     1    0      0
the sizes:
    1f64 76c6 - e905f58  (99.99)
and two blocks
        019819d0 0012 0000  [00]   019819e0    00118 - (busy)
        01981b50 0012 0012  [00]   01981b60    00118 - (busy)
unreachable:
00154640  00154648  00150000  00150000       200       200         c  busy
00154840  00154848  00150000  00150000       200       200         c  busy
`,
	"-stat without its heap line": `
group size of 0x510000 size 1402368: 760083456 in 542
no windbg-log
=
0:000> !heap -stat -h 510000
group-by: TOTSIZE max-display: 20
    size     #blocks     total     ( %) (percent of total busy bytes)
    156600 21e - 2d4df400  (94.45)
`,
	"a table of a mail, which has broken its lines": `
heap 0x1980000 NT heap 64 bits 2 LFH reserved 33333248 committed 20910080
heap 0x10000 NT heap 64 bits 8000  reserved 65536
heap 0x320000 NT heap 64 bits 1002 LFH reserved 7389184
truncated (1, line 11): rows of !heap -s are left out in the log
no malformed
=
> 0:000> !heap -s
> LFH Key                   : 0x311c1eaa657dc8ce
>           Heap     Flags   Reserv  Commit  Virt   Free  List   UCR  Virt
> Lock  Fast
>                             (k)     (k)    (k)     (k) length      blocks
> cont. heap
> -------------------------------------------------------------------------
> ------------
> 0000000001980000 00000002   32552  20420  32552    479   896     6    0
>     2   LFH
> ...
> 0000000000010000 00008000      64      4     64      2     1     1    0      0
> 0000000000320000 00001002    7216   3236   7216     37     6     4    0      6
> LFH
> -------------------------------------------------------------------------------------
`,
	"a process whose id comes with the second look": `
windbg-log: WinDbg !heap -s "" pid 6700, 32 bits
heap 0x33f0000 NT heap 32 bits 2 LFH reserved 1101824 committed 73728
windbg-log: WinDbg !heap -s "" pid 6700, 32 bits
heap 0x33f0000 NT heap 32 bits 2 LFH reserved 4173824 committed 3145728
=
0:000> !heap -s
  Heap     Flags   Reserv  Commit  Virt   Free  List   UCR  Virt  Lock  Fast
                    (k)     (k)    (k)     (k) length      blocks cont. heap
-----------------------------------------------------------------------------
033f0000 00000002    1076     72   1020      1     9     1   11      1   LFH
-----------------------------------------------------------------------------
(1a2c.1b00): Break instruction exception - code 80000003 (first chance)
0:003> !heap -s
  Heap     Flags   Reserv  Commit  Virt   Free  List   UCR  Virt  Lock  Fast
                    (k)     (k)    (k)     (k) length      blocks cont. heap
-----------------------------------------------------------------------------
033f0000 00000002    4076   3072   4020      1     9     1   11      1   LFH
-----------------------------------------------------------------------------
`,
	"what the library of symbols prints between": `
sample !heap -p -a 0aed3f58: 0xaed3f58, 164 bytes, unreachable false, note "": 6f13ab70 verifier!AVrfDebugPageHeapAllocate+240 < 411a2f app!Leak+1f (c:\app\leak.cpp:12)
no malformed
=
0:000> !heap -p -a 0AED3F58
DBGHELP: C:\symbols\ntdll.pdb\30976ECFD26B45E08E1E7607DC63100E2\ntdll.pdb - mismatched pdb
SYMSRV:  UNC: C:\symbols\verifier.pdb not found
    address 0aed3f58 found in
DBGHELP: verifier - public symbols
    _DPH_HEAP_ROOT @ 4fd1000
    in busy allocation (  DPH_HEAP_BLOCK:         UserAddr         UserSize -         VirtAddr         VirtSize)
                                 4fd22d8:          aed3f58               a4 -          aed3000             2000
DBGHELP: app - private symbols & lines
    6f13ab70 verifier!AVrfDebugPageHeapAllocate+0x00000240
*** WARNING: Unable to verify checksum for app.exe
    00411a2f app!Leak+0x0000001f [c:\app\leak.cpp @ 12]
`,
	"blocks of a page heap": `
group size of 0x297e9ed1000 size 40000000: 40000000 in 1 example 0x297ec170600 
no malformed
=
kd> !heap -flt s 2625a00
    _DPH_HEAP_ROOT @ 297e9ed1000
    Freed and decommitted blocks
      DPH_HEAP_BLOCK : VirtAddr VirtSize
    Busy allocations
      DPH_HEAP_BLOCK : UserAddr  UserSize - VirtAddr VirtSize
        00000297e9edb068 : 00000297ec170600 0000000002625a00 - 00000297ec170000 0000000002627000
    _HEAP @ 297eaf60000
`,
	"a block without the line of its address": `
group size of 0x510000 size 1402368: 1402368 in 1 example 0xac49030
sample !heap -p -a ac49030: 0xac49030, 1402368 bytes, unreachable false, note "": 77db2f4e ntdll!RtlAllocateHeap+3e < 6a4adb4e plugin!Load+1
=
    _HEAP @ 510000
      HEAP_ENTRY Size Prev Flags    UserPtr UserSize - state
        0ac49018 2ae00 0000  [00]   0ac49030    156600 - (busy VirtualAlloc)
        77db2f4e ntdll!RtlAllocateHeap+0x0000003e
        6a4adb4e plugin!Load+0x00000001
`,
	"the block of !heap -x is not unreachable": `
sample !heap -x: 0x18b1e2b6a40, 56 bytes, unreachable false, note "busy extra fill":
no reach
=
0:000> !heap -x 0000018b1e2b6a40
Entry             User              Heap              Segment               Size  PrevSize  Unused    Flags
-------------------------------------------------------------------------------------------------------------
0000018b1e2b6a30  0000018b1e2b6a40  0000018b1e280000  0000018b1e280000        50        50        18  busy extra fill
`,
	"a leak that Application Verifier reports, and its block": `
sample VERIFIER STOP 900: 0x6edcc030, 100 bytes, unreachable false, note "Application Verifier says (stop 900): A heap allocation was leaked.": 77db2f4e ntdll!RtlAllocateHeap+3e
sample !heap -p -a 6edcc030
=
VERIFIER STOP 00000900: pid 0x4E4C: A heap allocation was leaked.
	6EDCC030 : Address of the leaked allocation. Run !heap -p -a <address> to get additional information about the allocation.
=======================================
(4e4c.1234): Break instruction exception - code 80000003 (first chance)
0:000> !heap -p -a 6edcc030
    address 6edcc030 found in
    _HEAP @ 510000
      HEAP_ENTRY Size Prev Flags    UserPtr UserSize - state
        6edcc018 2a200 0000  [00]   6edcc030    64 - (busy)
        77db2f4e ntdll!RtlAllocateHeap+0x0000003e
`,
	"sizes that cannot be": `
group size of 0x33f0000 size 14680064: 3848290697216 in 262144 example 0x0 
implausible-size (1, ): 1 size cannot be right: the heaps of the log are smaller.
=
0:000> !heap -s
  Heap     Flags   Reserv  Commit  Virt   Free  List   UCR  Virt  Lock  Fast
                    (k)     (k)    (k)     (k) length      blocks cont. heap
-----------------------------------------------------------------------------
033f0000 00000002   65536  60000  65536      1     9     1    0      1   LFH
-----------------------------------------------------------------------------
0:000> !heap -stat -h 033f0000
 heap @ 033f0000
group-by: TOTSIZE max-display: 20
    size     #blocks     total     ( %) (percent of total busy bytes)
    e00000 40000 - 38000000000  (99.90)
    100 40 - 4000 (0.10)
`,
	"a free column that has wrapped around": `
heap 0x1330000 NT heap 32 bits 2 LFH reserved 67108864 committed 62914560 virtual 67108864 free 3848290697216
implausible-size (1, ): 1 size cannot be
=
  Heap     Flags   Reserv  Commit  Virt   Free  List   UCR  Virt  Lock  Fast
                    (k)     (k)    (k)     (k) length      blocks cont. heap
-----------------------------------------------------------------------------
01330000 00000002   65536  61440  65536 3758096384     9     1    0      1   LFH
-----------------------------------------------------------------------------
`,
	"a command whose output is not there": `
heap 0x10000 NT heap 32 bits
unsupported (1, line 1): the log shows the command !heap -s and no output of it that is read: the debugger had no symbols of ntdll (set them with .symfix and .reload, and ask again)
=
0:000> !heap -s
***    Your debugger is not using the correct symbols                 ***
***    Type referenced: ntdll!_PEB                                    ***
0:000> !heap -s
00010000 00000002      64      4     64      2     1     1    0      0
`,
	"parts of the new summary, by what their rows name": `
use virtual: 912 regions, 2199023255552 bytes
use heap: 82 regions, 79765504 bytes
share MEM_COMMIT: 1831 regions, 5368709120 bytes
share PAGE_READWRITE | PAGE_GUARD: 38 regions, 524288 bytes
no malformed
=
<unknown>                               912      200` + "`" + `00000000 (   2.000 TB)  99.99%    1.56%
Heap                                     82        0` + "`" + `04c12000 (  76.070 MB)   0.00%    0.00%
MEM_COMMIT                             1831        1` + "`" + `40000000 (   5.000 GB)   0.21%    0.00%
PAGE_READWRITE | PAGE_GUARD              38        0` + "`" + `00080000 ( 512.000 kB)   0.00%    0.00%
`,
	"a header of heaps, and nothing below": `
use heap: 82 regions, 79765504 bytes
truncated (1, line 3): the list of !heap names no heap: the log is cut short or an excerpt
=
Heap                                     82        0` + "`" + `04c12000 (  76.070 MB)   0.00%    0.00%
0:000> !heap
Index   Address  Name      Debugging options enabled
`,
	"a header of heaps, and one below": `
heap 0x150000 heap 32 bits
no truncated
=
0:000> !heap
Index   Address  Name      Debugging options enabled
  1:   00150000
`,
	"a header of heaps, and a block below": `
sample !heap -p -a: 0xaed3f58, 164 bytes
truncated (1, line 2): the list of !heap names no heap: the log is cut short or an excerpt
=
0:000> !heap
Index   Address  Name      Debugging options enabled
    in busy allocation (  DPH_HEAP_BLOCK:         UserAddr         UserSize -         VirtAddr         VirtSize)
                                 4fd22d8:          aed3f58               a4 -          aed3000             2000
    6f13ab70 verifier!AVrfDebugPageHeapAllocate+0x00000240
    00411a2f app!Leak+0x0000001f [c:\app\leak.cpp @ 12]
`,
	"segments of the collector that lack an address": `
managed GC heap: 12288 bytes, small 12288, large 0, pinned 0, 1 segments
malformed (2, line 6): 2 lines inside an output not understood, and not in the numbers
=
0:003> !eeheap -gc
Number of GC Heaps: 1
generation 0 starts at 0x014025ec
 segment    begin allocated     size
0019f2d0 10010000 10013000  0x00003000(12.288)
01400000 01401000  0x00001800(6.144)
01400000  0x00001800(6.144)
GC Heap Size   0x3000(12.288)
`,
	"a header of heaps behind heaps, and nothing below": `
heap 0x150000 heap 32 bits
no truncated
=
0:000> !heap
Index   Address  Name      Debugging options enabled
  1:   00150000
0:000> !heap
Index   Address  Name      Debugging options enabled
`,
	"a header of segment heaps, and nothing below": `
heap 0x10000 NT heap 32 bits
truncated (1, line 2): the table of segment heaps of !heap -s names no heap
=
0:000> !heap -s
    Heap Address  Signature    Flags     List    Bytes      Bytes
0:000> !heap -s
00010000 00000002      64      4     64      2     1     1    0      0
`,
	"parts of the old summary, by what their rows name": `
use heap: 0 regions, 805306368 bytes
share MEM_IMAGE: 0 regions, 4194304 bytes
share MEM_COMMIT: 0 regions, 824193024 bytes
no malformed
=
# 30000000 (  786432) : 37.08%    97.01%    : RegionUsageHeap
#   400000 (    4096) : 00.18%   : MEM_IMAGE
# 31203000 (  804876) : 36.95%   : MEM_COMMIT
`,
}

func init() { maps.Copy(cases, forms) }

package windbg_test

import (
	"strings"
	"testing"
)

// Each case is a log below what must be read from it: lines of render, of which all must be there, in this order. A
// line that begins with "no " must not be there. "=" begins the log.
var cases = map[string]string{
	"heaps of a 64-bit process, in KiB, with what is said below them": `
windbg-log: WinDbg !heap -s "" pid 0, 64 bits, machine "", at ?, lower bound false
heap 0x1f710000000 NT heap 64 bits 8000002 LFH reserved 71827456 committed 20971520 virtual 71303168 free 6144000 in 175 ucr 18 blocks 0 in 2 lock 13 External fragmentation  41 % (175 free blocks); Virtual address fragmentation  60 % (16 ranges)
heap 0x1f711000000 NT heap 64 bits 8000  reserved 65536 committed 4096 virtual 65536 free 2048 in 1 ucr 1 blocks 0 in 0 lock 0 
no truncated
=
0:000> !heap -s


************************************************************************************************************************
                                              NT HEAP STATS BELOW
************************************************************************************************************************
NtGlobalFlag enables following debugging aids for new heaps:
    stack back traces
LFH Key                   : 0x1122334455667788
Termination on corruption : ENABLED
          Heap     Flags   Reserv  Commit  Virt   Free  List   UCR  Virt  Lock  Fast
                            (k)     (k)    (k)     (k) length      blocks cont. heap
-------------------------------------------------------------------------------------
000001f710000000 08000002   70144  20480  69632   6000   175    18    2      d   LFH
    External fragmentation  41 % (175 free blocks)
    Virtual address fragmentation  60 % (16 ranges)
000001f711000000 00008000      64      4     64      2     1     1    0      0
-------------------------------------------------------------------------------------
0:000> k
`,
	"the older table, without a prompt, with lists of virtual blocks and a heap without a lock": `
heap 0x140000 NT heap 32 bits 2 lookaside lists reserved 33554432 committed 30720000 virtual 30720000 free 3072 in 0 ucr 1 blocks 3145728 in 2 lock 0 
heap 0x250000 NT heap 32 bits 1  reserved 65536 committed 12288 virtual 12288 free 10240 in 1 ucr 1 blocks 0 in 0 lock 0 
=
  Heap     Flags   Reserv  Commit  Virt   Free  List   UCR  Virt  Lock  Fast
                    (k)     (k)    (k)     (k) length      blocks cont. heap
-----------------------------------------------------------------------------
Virtual block: 07cc0000 - 07cc0000 (size 00100000)
Virtual block: 08dc0000 - 08dc0000 (size 00200000)
00140000 00000002   32768  30000  30000      3     0     1    2      0   L
00250000 00000001      64     12     12     10     1     1    0    N/A
-----------------------------------------------------------------------------
`,
	"outputs one behind the other, without prompts between them": `
windbg-log: WinDbg !heap -s, !address -summary, !heap -stat ""
heap 0x10000 NT heap 32 bits 2  reserved 65536 committed 4096
group size of 0x10000 size 16: 32 in 2
use virtual: 0 regions, 18874368 bytes
no truncated
=
  Heap     Flags   Reserv  Commit  Virt   Free  List   UCR  Virt  Lock  Fast
                    (k)     (k)    (k)     (k) length      blocks cont. heap
-----------------------------------------------------------------------------
00010000 00000002      64      4     64      2     1     1    0      0
-----------------------------------------------------------------------------
-------------------- Usage SUMMARY --------------------------
    TotSize (      KB)   Pct(Tots) Pct(Busy)   Usage
   1200000 (   18432) : 00.87%    02.27%    : RegionUsageIsVAD
heap @ 00010000
    10 2 - 20  (100.00)
`,
	"segment heaps stand before the NT heaps": `
heap 0x1a31eb90000 segment heap 64 bits 0  reserved 9216000 committed 7168000 virtual 0 free 0 in 0 ucr 0 blocks 0 in 0 lock 0 
heap 0x1a31e980000 NT heap 64 bits 8000  reserved 65536 committed 4096 virtual 65536 free 2048 in 1 ucr 1 blocks 0 in 0 lock 0 
=
0:033> !heap -s
        Heap     Signature  Flags  List     Reserved    Committed
                                   Index   Bytes (K)    Bytes (K)
  1a31eb90000    ddeeddee      0      1         9000         7000

                                              NT HEAP STATS BELOW
LFH Key                   : 0x0102030405060708
          Heap     Flags   Reserv  Commit  Virt   Free  List   UCR  Virt  Lock  Fast
                            (k)     (k)    (k)     (k) length      blocks cont. heap
-------------------------------------------------------------------------------------
000001a31e980000 00008000      64      4     64      2     1     1    0      0
-------------------------------------------------------------------------------------
`,
	"a table that is damaged and not closed": `
windbg-log: WinDbg !heap -s "" pid 0, 32 bits, machine "", at ?, lower bound true
heap 0x10000 NT heap 32 bits 2  reserved 65536 committed 4096 virtual 65536 free 2048 in 1 ucr 1 blocks 0 in 0 lock 0 
heap 0x40000 NT heap 32 bits 2  reserved 65536 committed 1048576 virtual 65536 free 2048 in 1 ucr 1 blocks 0 in 0 lock 0 
note warning: WinDbg says of the heaps: HEAPEXT: invalid heap list
gap heap 0x50000: WinDbg says: ERROR: unable to read heap 00050000
malformed (2, line 5): 2 lines inside an output not understood, and not in the numbers
inconsistent (1, line 6): !heap -s lists a heap twice; the first row counts
inconsistent (1, line 7): !heap -s has a heap with more committed than reserved
truncated (1, line 1): the table of !heap -s is not closed: the log is cut short or an excerpt, and heaps may be missing
=
  Heap     Flags   Reserv  Commit  Virt   Free  List   UCR  Virt  Lock  Fast
                    (k)     (k)    (k)     (k) length      blocks cont. heap
-----------------------------------------------------------------------------
00010000 00000002      64      4     64      2     1     1    0      0
00020000 00000002      64      4     6x      2     1     1    0      0
00010000 00000002      64      4     64      2     1     1    0      0
00040000 00000002      64   1024     64      2     1     1    0      0
ERROR: unable to read heap 00050000
HEAPEXT: invalid heap list
00030000 00000002      64      4     64      2`,
	"two summaries are two instants, and what lets the process run ends one": `
windbg-log: WinDbg !heap -s "app.exe" pid 6700, 32 bits, machine "", at 2024-03-05T10:20:30, lower bound false
heap 0x10000 NT heap 32 bits 2  reserved 65536 committed 4096
windbg-log: WinDbg !heap -s, !heap -stat "app.exe" pid 6700, 32 bits, machine "", at 2024-03-05T10:20:30, lower bound false
heap 0x10000 NT heap 32 bits 2  reserved 131072 committed 8192
group size of 0x10000 size 16: 32 in 2
windbg-log: WinDbg !heap -stat "app.exe" pid 6700, 32 bits, machine "", at 2024-03-05T10:25:00, lower bound false
group size of 0x20000 size 16: 48 in 3
=
Debug session time: Tue Mar  5 10:20:30.123 2024 (UTC + 1:00)
0:000> |
.  0	id: 1a2c	attach	name: C:\app\app.exe
0:000> !heap -s
  Heap     Flags   Reserv  Commit  Virt   Free  List   UCR  Virt  Lock  Fast
                    (k)     (k)    (k)     (k) length      blocks cont. heap
-----------------------------------------------------------------------------
00010000 00000002      64      4     64      2     1     1    0      0
-----------------------------------------------------------------------------
0:000> !heap -s
  Heap     Flags   Reserv  Commit  Virt   Free  List   UCR  Virt  Lock  Fast
                    (k)     (k)    (k)     (k) length      blocks cont. heap
-----------------------------------------------------------------------------
00010000 00000002     128      8    128      2     1     1    0      0
-----------------------------------------------------------------------------
0:000> !heap -stat -h 10000
 heap @ 00010000
group-by: TOTSIZE max-display: 20
    size     #blocks     total     ( %) (percent of total busy bytes)
    10 2 - 20  (100.00)
0:000> g
(1a2c.1b00): Break instruction exception - code 80000003 (first chance)
0:003> .time
Debug session time: Tue Mar  5 10:25:00.000 2024 (UTC + 1:00)
0:003> !heap -stat -h 20000
 heap @ 00020000
group-by: TOTSIZE max-display: 20
    size     #blocks     total     ( %) (percent of total busy bytes)
    10 3 - 30  (100.00)
`,
	"sizes of a heap: hexadecimal, the largest first, contradictions said": `
group size of 0x510000 size 1376256: 704643072 in 512
group size of 0x510000 size 294912: 37748736 in 128
group size of 0x510000 size 2048: 65536 in 16
note method: !heap -stat lists the 3 largest sizes of a heap: its other blocks are in no group
malformed (1, line 7): 1 line inside an output not understood, and not in the numbers
inconsistent (1, line 6): !heap -stat has a size whose blocks do not make its total; the total counts
=
0:000> !heap -stat -h 510000
heap @ 00510000
group-by: TOTSIZE max-display: 3
    size     #blocks     total     ( %) (percent of total busy bytes)
    48000 80 - 2400000  (5.28)
    800 10 - 10000  (0.04)
    1000 2c - 2c000  0.02)
    150000 200 - 2a000000  (94.45)
`,
	"blocks of one size count, and give an example to what -stat has": `
windbg-log: WinDbg !heap -stat, !heap -flt "" pid 0
group size of 0x510000 size 1376256: 704643072 in 512 example 0xbc49030 
group size of 0x520000 size 1376256: 1376256 in 1 example 0x3000 
group size of 0x510000 size 32: 64 in 2 example 0x2000 
malformed (1, line 9): 1 line
=
 heap @ 00510000
group-by: TOTSIZE max-display: 20
    150000 200 - 2a000000  (94.45)
0:000> !heap -flt r 20 200000
    _HEAP @ 510000
      HEAP_ENTRY Size Prev Flags    UserPtr UserSize - state
        0bc49018 2a200 0000  [00]   0bc49030    150000 - (busy VirtualAlloc)
          unknown!printable
        0e786018 2a200 a200  [00]   0e786030    1566
        00001ff8 00005 00005  [00]   00002000    00020 - (busy)
        00001ff8 00005 00005  [00]   00002040    00020 - (free)
        00001ff8 00005 00005  [00]   00002080    00020 - (busy)
    _HEAP @ 520000
        00001ff8 2a200 00005  [00]   00003000    150000 - (busy)
`,
	"unreachable blocks": `
group size of 0x360000 size 512: 1536 in 3 (+48) example 0x0 unreachable blocks only unreachable 1536 in 3 (+48)
group size of 0x360000 size 16: 16 in 1 (+16) example 0x0 unreachable blocks only unreachable 16 in 1 (+16)
reach: of 16777216 in 41000 unreachable 1552 in 4 (+64): as !heap -l found them: it searches what it takes for memory in use
sample !heap -l: 0x3f41a0, 512 bytes, unreachable true
sample !heap -l: 0x3f43a0, 512 bytes, unreachable true
sample !heap -l: 0x3f45a0, 16 bytes, unreachable true
sample !heap -l: 0x3f47a0, 512 bytes, unreachable true
no truncated
=
0:000> !heap -l
Searching the memory for potential unreachable busy blocks.
Heap 0000000000360000
Scanning VM ...
Scanning references from 41000 busy blocks (16 MBytes) ...
Entry             User              Heap              Segment               Size  PrevSize  Unused    Flags
-------------------------------------------------------------------------------------------------------------
00000000003f4190  00000000003f41a0  0000000000360000  0000000000360000       210       210        10  busy
00000000003f4390  00000000003f43a0  0000000000360000  0000000000360000       210       210        10  LFH;busy  stack_trace
00000000003f4590  00000000003f45a0  0000000000360000  0000000000360000        20       210        10  busy
00000000003f4790  00000000003f47a0  0000000000360000  0000000000360000       210       210        10  busy
4 potential unreachable blocks were detected.
`,
	"a list of unreachable blocks with most left out, and a group that -stat has": `
group size of 0x150000 size 500: 50000 in 100 example 0x0  unreachable 500 in 1 (+12)
reach: of 0 in 0 unreachable 500 in 1 (+12): !heap -l detected 31000 blocks; 1 of them are in the log
truncated (1, line 4): !heap -l detected 31000 blocks and lists 1 of them: the bytes of listed blocks count
=
heap @ 00150000
group-by: TOTSIZE max-display: 20
    1f4 64 - c350  (94.45)
Entry     User      Heap      Segment       Size  PrevSize  Unused    Flags
-----------------------------------------------------------------------------
00164640  00164648  00150000  00150000       200       200         c  busy
...
31000 potential unreachable blocks were detected.
`,
	"a block with its stack, of which one was asked for twice": `
windbg-log: WinDbg !heap -p -a "" pid 0
sample !heap -p -a 6edcc018: 0x6edcc030, 1376256 bytes, unreachable false, note "its content looks like unknown!printable; frames are left out in the log": 77db2f4e ntdll!RtlAllocateHeap+3e < 6a4e9bf3 app!operator new[]+1a (c:\src\a [b] @ c.cpp:34) < 6a4adb4e plugin!+1db4e < 77dd772d < 76bd1529 kernel32!BaseThreadInitThunk+19
note info: the block at 0xf948000 is free: !heap -p -a shows who freed it
no windbg-log
=
0:000> !heap -p -a 6edcc018
    address 6edcc018 found in
    _HEAP @ 510000
      HEAP_ENTRY Size Prev Flags    UserPtr UserSize - state
        6edcc018 2a200 0000  [00]   6edcc030    150000 - (busy VirtualAlloc)
          unknown!printable
        77db2f4e ntdll!RtlAllocateHeap+0x0000003e
        6a4e9bf3 app!operator new[]+0x1a [c:\src\a [b] @ c.cpp @ 34]
        6a4adb4e plugin+0x0001db4e
        77dd772d
        ...
        76bd1529 kernel32!BaseThreadInitThunk+0x00000019

0:000> !heap -p -a 6edcc018
    address 6edcc018 found in
    _HEAP @ 510000
      HEAP_ENTRY Size Prev Flags    UserPtr UserSize - state
        6edcc018 2a200 0000  [00]   6edcc030    150000 - (busy VirtualAlloc)
        77db2f4e ntdll!RtlAllocateHeap+0x0000003e
0:000> !heap -p -a 0f948ffc
    address 0f948ffc found in
    _DPH_HEAP_ROOT @ 49b1000
    in free-ed allocation (  DPH_HEAP_BLOCK:         VirtAddr         VirtSize)
                                    f9f08bc:          f948000             2000
    6d00acd2 verifier!AVrfDebugPageHeapFree+0x000000c2
`,
	"a block in a page heap, as a link of the markup": `
sample !heap -p -a 000002a56fbd8ff0: 0x2a56fbd8ff0, 4 bytes, unreachable false, note "": 7ff8bab9e82c ntdll!RtlAllocateHeap+abc < 7ff67bdf1591 app!Calculator<int>::History+71 (...\calculator.cpp:68)
=
0:000> !ext.heap -p -a 000002A56FBD8FF0
    address <exec cmd="!address 2a56fbd8ff0">000002a56fbd8ff0</exec> found in
    _DPH_HEAP_ROOT @ 2a56b381000
    in busy allocation (  DPH_HEAP_BLOCK:         UserAddr         UserSize -         VirtAddr         VirtSize)
                             2a56b3abeb0:      2a56fbd8ff0                4 -      2a56fbd8000             2000
    00007ff8bab9e82c ntdll!RtlAllocateHeap+0xabc
    00007ff67bdf1591 app!Calculator&lt;int&gt;::History+0x71 [...\calculator.cpp @ 68]
`,
	"the address space, newer generation": `
use virtual: 919 regions, 2226513625088 bytes, largest 2161887510528
use heap: 82 regions, 79765504 bytes, largest 15728640
use image: 972 regions, 128983040 bytes, largest 0
use mapped: 2 regions, 8192 bytes, largest 0
use system: 9 regions, 2097152 bytes, largest 0
use free: 579 regions, 138512616919040 bytes, largest 136159398150144
share MEM_PRIVATE: 935 regions, 111589449728 bytes
share MEM_COMMIT: 1831 regions, 5368709120 bytes
share PAGE_READWRITE | PAGE_GUARD: 38 regions, 524288 bytes
largest free: 136159398150144 at 0x21e6c05c000
note method: !address -summary has one size for each use: reserved and committed memory together
malformed (1, line 9): 1 line inside
inconsistent (1, line 14): !address -summary rounds a size to another one; the exact one counts
inconsistent (1, line 25): the uses of !address -summary make 140,739,341,398,016 bytes and the states 5,368,709,120: rows are missing
=
--- Usage Summary ---------------- RgnCount ----------- Total Size -------- %ofBusy %ofTotal
Free                                    579     7df9` + "`" + `fb541000 ( 125.976 TB)           98.42%
<unknown>                               912      206` + "`" + `667dc000 (   2.025 TB)  99.99%    1.58%
                                          7        0` + "`" + `00100000 (   1.000 MB)   0.00%    0.00%
Image                                   972        0` + "`" + `07b02000 ( 123.008 MB)   0.00%    0.00%
Heap64                                   81        0` + "`" + `04c11000 (  76.066 MB)   0.00%    0.00%
Heap32                                    1        0` + "`" + `00001000 (   4.000 kB)   0.00%    0.00%
MappedFile                                2        0` + "`" + `00002000 (   8.000 kB)   0.00%    0.00%
TEB                                      3x        0` + "`" + `0004c000 ( 304.000 kB)   0.00%    0.00%
Other                                     9        0` + "`" + `00200000 (   2.000 MB)   0.00%    0.00%

--- Type Summary (for busy) ------ RgnCount ----------- Total Size -------- %ofBusy %ofTotal
MEM_PRIVATE                             935       19` + "`" + `fb3fe000 (  103.925 GB)   1.25%    0.02%
MEM_IMAGE                               935       19` + "`" + `fb3fe000 (  3.925 GB)   1.25%    0.02%

--- State Summary ---------------- RgnCount ----------- Total Size -------- %ofBusy %ofTotal
MEM_COMMIT                             1831        1` + "`" + `40000000 (   5.000 GB)   0.21%    0.00%

--- Protect Summary (for commit) - RgnCount ----------- Total Size -------- %ofBusy %ofTotal
PAGE_READWRITE | PAGE_GUARD              38        0` + "`" + `00080000 ( 512.000 kB)   0.00%    0.00%

--- Largest Region by Usage ----------- Base Address -------- Region Size ----------
Free                                    21e` + "`" + `6c05c000     7bd6` + "`" + `148f4000 ( 123.836 TB)
<unknown>                              7dfd` + "`" + `d8ac0000      1f7` + "`" + `5a898000 (   1.966 TB)
Heap                                    218` + "`" + `83c71000        0` + "`" + `00f00000 (  15.000 MB)
`,
	"the address space, older generation, wrapped by a mail, and the last line joined": `
use virtual: 0 regions, 18874368 bytes, largest 0
use heap: 0 regions, 805306368 bytes, largest 0
use free: 0 regions, 1073741824 bytes, largest 536870912
share MEM_RESERVE: 0 regions, 4194304 bytes
share MEM_COMMIT: 0 regions, 1893728256 bytes
largest free: 536870912 at 0x31000000
malformed (1, line 7): 1 line inside an output not understood
no inconsistent
=
0:000> !address -summary
-------------------- Usage SUMMARY --------------------------
    TotSize (      KB)   Pct(Tots) Pct(Busy)   Usage
   1200000 (   18432) : 00.87%    02.27%    :
RegionUsageIsVAD
  30000000 (  786432) : 36.57%    97.73%    :
  40000000 ( 1048576) : 48.76%    00.00%    :
RegionUsageFree
  30000000 (  786432) : 36.57%    97.73%    : RegionUsageHeap
------------------- State SUMMARY --------------------------
    TotSize (      KB)   Pct(Tots)  Usage
  400000 ( 4096) : 10.00% : MEM_RESERVE Largest free region: Base 31000000 - Size 20000000 (524288 KB) *
  70E00000 ( 1849344) : 86.00% : MEM_COMMIT
`,
	"Markdown's escapes, and a zero-width space as an entity": `
group size of 0x9b0000 size 6144: 6144 in 1
group size of 0x9b0000 size 64: 64 in 1
=
0&#8203;:000> !heap \-h 0x9b0000
Index   Address  Name      Debugging options enabled
  6&#8203;:   009b0000
    Segment at 009b0000 to 009c0000 \(00005000 bytes committed\)
    Heap entries for Segment00 in Heap 009b0000
        009b0640&#x200B;: 00640 . 00040 \[01\] \- busy \(40\)
        009b0680&ZeroWidthSpace;: 00040 . 01808 \[01\] \- busy \(1800\)
`,
	"the address space, older generation": `
use virtual: 0 regions, 18874368 bytes, largest 0
use heap: 0 regions, 805306368 bytes, largest 0
use page-heap: 0 regions, 4096 bytes, largest 0
use system: 0 regions, 8192 bytes, largest 0
use free: 0 regions, 1073741824 bytes, largest 536870912
share MEM_IMAGE: 0 regions, 4194304 bytes
share MEM_COMMIT: 0 regions, 824193024 bytes
largest free: 536870912 at 0x31000000
inconsistent (1, line 8): !address -summary gives one size in bytes and another in KiB; the bytes count
=
0:000> !address -summary
-------------------- Usage SUMMARY --------------------------
    TotSize (      KB)   Pct(Tots) Pct(Busy)   Usage
   1200000 (   18432) : 00.87%    02.27%    : RegionUsageIsVAD
  40000000 ( 1048576) : 61.78%    00.00%    : RegionUsageFree
  30000000 (  786432) : 37.08%    97.01%    : RegionUsageHeap
      1000 (       4) : 00.00%    00.00%    : RegionUsagePageHeap
      2000 (       7) : 00.00%    00.00%    : RegionUsageEnvironmentBlock
       Tot: 7fff0000 (2097088 KB) Busy: 30ebe000 (801528 KB)

-------------------- Type SUMMARY --------------------------
    TotSize (      KB)   Pct(Tots)  Usage
  40000000 ( 1048576) : 61.78%   : <free>
    400000 (    4096) : 00.18%   : MEM_IMAGE

-------------------- State SUMMARY --------------------------
    TotSize (      KB)   Pct(Tots)  Usage
  31203000 (  804876) : 36.95%   : MEM_COMMIT
  40000000 ( 1048576) : 61.78%   : MEM_FREE

Largest free region: Base 31000000 - Size 20000000 (524288 KB)
`,
	"a workstation collector, digits grouped by points": `
managed GC heap: 5265424 bytes, small 18432, large 5246992, pinned 0, 5 segments
no inconsistent
no truncated
=
0:003> !eeheap -gc
Number of GC Heaps: 1
generation 0 starts at 0x014025ec
ephemeral segment allocation context: none
 segment    begin allocated     size
0019f2d0 10010000 10013000  0x00003000(12.288)
01400000 01401000 01402800  0x00001800(6.144)
Large object heap starts at 0x02401000
 segment    begin allocated     size
02400000 02401000  02801000 0x00400000(4.194.304)
03400000 03401000  03501010 0x00100010(1.048.592)
04400000 04401000  04402000 0x00001000(4.096)
Total Size   0x505810(5.265.424)
------------------------------
GC Heap Size   0x505810(5.265.424)
`,
	"regions, with pinned and frozen objects and sizes that are blank": `
managed GC heap: 2125832 bytes, small 2097152, large 0, pinned 8200, 5 segments
note managed: the garbage collector has committed 2.25 MB for 2.03 MB that are allocated
note managed: the loader heaps of the runtime, for types and code, hold 6.00 MB
no inconsistent
=
> eeheap -gc
Number of GC Heaps: 1
----------------------------------------
Small object heap
         segment            begin        allocated        committed allocated size     committed size
generation 0:
    7f104ad7e250     7f106ac00028     7f106ae00028     7f106ae10000 0x200000 (2097152) 0x210000 (2162688)
generation 1:
    7f104ad7e1a8     7f106a800028     7f106a800028     7f106a801000                    0x1000 (4096)
NonGC heap
         segment            begin        allocated        committed allocated size     committed size
    55008234d110     7f20991e2008     7f20991e7008     7f20991f2000 0x5000 (20480)     0x10000 (65536)
Large object heap
    7f104ad7e2f8     7f106b000028     7f106b000028     7f106b001000                    0x1000 (4096)
Pinned object heap
    7f104ad7dbc0     7f1068400028     7f1068402030     7f1068411000 0x2008 (8200)      0x11000 (69632)
------------------------------
GC Allocated Heap Size:    Size: 0x207008 (2125832) bytes.
GC Committed Heap Size:    Size: 0x240000 (2359296) bytes.
0:000> !eeheap -loader
Total LoaderHeap size:   Size: 0x600000 (6291456) bytes total, 0x10000 (65536) bytes wasted.
`,
	"collector heaps that do not add up, and one that is missing": `
managed Heap 0: 4096 bytes, small 4096, large 0, pinned 0, 1 segments
managed Heap 1: 8192 bytes, small 8192, large 0, pinned 0, 1 segments
malformed (1, line 11): 1 line inside
inconsistent (1, line 6): Heap 0 of !eeheap -gc is 4,096 bytes by its segments and 8,192 by its total
inconsistent (1, line 10): !eeheap -gc has a segment whose addresses do not make its size; the addresses count
truncated (1, line 1): !eeheap -gc is incomplete, 2 of 4 heaps are there
=
Number of GC Heaps: 4
------------------------------
Heap 0 (0x000dfaf0)
segment    begin       allocated     size
0x10000000 0x10000000  0x10001000 0x1000(4,096)
Heap Size  0x2000(8,192)
------------------------------
Heap 1 (0x000dfee8)
segment    begin       allocated     size
0x20000000 0x20000000  0x20002000 0x1000(4,096)
0x30000000 0x20000000  0x20002000 0x1000(4,097)
`,
	"what Application Verifier says": `
windbg-log: WinDbg Application Verifier stops "" pid 14892
sample VERIFIER STOP 900: 0xbed3f48, 0 bytes, unreachable false, note "Application Verifier says (stop 900): A heap allocation was leaked. The debugger prints its stack with dps 0x58230d4.":
sample VERIFIER STOP 901: 0x0, 0 bytes, unreachable false, note "Application Verifier says (stop 901): A handle was leaked. Its value is 0x1c4.":
note error: Application Verifier says (stop 13): First chance access violation for current stack trace.
=
=======================================
VERIFIER STOP 00000900: pid 0x3A2C: A heap allocation was leaked.

	0BED3F48 : Address of the leaked allocation. Run !heap -p -a <address> to get additional information about the allocation.
	058230D4 : Address to the allocation stack trace. Run dps <address> to view the allocation stack.
	0918EFE2 : Address of the owner dll name. Run du <address> to read the dll name.
	60AB0000 : Base of the owner dll.

=======================================
This verifier stop is continuable.
After debugging it use 'go' to continue.
=======================================
VERIFIER STOP 00000901: pid 0x3A2C: A handle was leaked.

	000001C4 : Value of the handle. Run !htrace <handle> to get additional information about the handle if handle tracing is enabled.
	0 : Address to the allocation stack trace.
=======================================
VERIFIER STOP 00000013: pid 0x3A2C: First chance access violation for current stack trace.

	0BED3F48 : Invalid address causing the exception.
=======================================
`,
	"what the log says of the process": `
windbg-log: WinDbg !heap -stat "w3wp.exe" pid 4660, 64 bits, machine "WEB01", at 2022-01-25T11:24:37, lower bound false
note process: the debugger read the dump C:\dumps\w3wp.dmp
note process: Windows 10 Version 17763 MP (4 procs) Free x64
=
Microsoft (R) Windows Debugger Version 10.0.19041.685 AMD64
Loading Dump File [C:\dumps\w3wp.dmp]
User Mini Dump File with Full Memory: Only application data is available
Windows 10 Version 17763 MP (4 procs) Free x64
Machine Name: WEB01
Debug session time: Tue Jan 25 11:24:37.000 2022 (UTC + 8:00)
(1234.5678): Unknown exception - code 00000000 (first/second chance not available)
PROCESS_NAME:  w3wp.exe
*** ERROR: Symbol file could not be found.  Defaulted to export symbols for wow64cpu.dll -
0:000> !heap -stat -h 0
Allocations statistics for
 heap @ 0000021a6eb40000
group-by: TOTSIZE max-display: 20
    size     #blocks     total     ( %) (percent of total busy bytes)
    1000 3 - 3000  (27.66)
`,
	"a dump that is opened after another one": `
windbg-log: WinDbg !heap -stat "" pid 0, 0 bits, machine "", at ?, lower bound false
group size of 0x10000 size 16: 32 in 2
note process: the debugger read the dump a.dmp
windbg-log: WinDbg !heap -stat "" pid 0, 0 bits, machine "", at ?, lower bound false
group size of 0x20000 size 16: 32 in 2
note process: the debugger read the dump b.dmp
=
Loading Dump File [a.dmp]
heap @ 00010000
    10 2 - 20  (100.00)
Loading Dump File [b.dmp]
heap @ 00020000
    10 2 - 20  (100.00)
`,
}

func TestCases(t *testing.T) {
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			want, log, _ := strings.Cut(text, "\n=\n")
			var got strings.Builder
			for _, c := range read(t, log) {
				got.WriteString(render(c))
			}
			rest := got.String()
			for line := range strings.Lines(want[1:] + "\n") {
				line = strings.TrimSuffix(line, "\n")
				if absent, ok := strings.CutPrefix(line, "no "); ok {
					if strings.Contains("\n"+rest, "\n"+absent) {
						t.Errorf("%q is there\n%s", absent, got.String())
					}
					continue
				}
				at := strings.Index("\n"+rest, "\n"+line)
				if at < 0 {
					t.Fatalf("%q is missing, or not in its place; all:\n%s", line, got.String())
				}
				rest = rest[at:]
				if end := strings.IndexByte(rest, '\n'); end >= 0 {
					rest = rest[end:]
				}
			}
		})
	}
}

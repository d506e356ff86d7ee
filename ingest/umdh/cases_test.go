package umdh_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"heapdrift/ingest/umdh"
)

// Each case is a log, in which "|" stands for a tab, below what must be read from it: lines of render, of which all
// must be there, in this order. "=" begins the log.
var cases = map[string]string{
	"a block, its stack, and the same stack again": `
umdh-snapshot "" pid 0, 32 bits, machine ""
snapshot ?: 2 blocks, 202 + 54 bytes
heap 3F0000
site 18D0 heap 3F0000
  2 blocks, 202 + 54 bytes
  776CDD82 < 40C8EE
block 3F0880 100 of 18D0
block 3F0900 102 of 18D0
=
*- - - - - - - - - - Start of data for heap @ 3F0000 - - - - - - - - - -

REQUESTED bytes + OVERHEAD at ADDRESS by BackTraceID
     STACK if not already dumped.

*- - - - - - - - - - Heap 3F0000 Hogs - - - - - - - - - -

64 bytes + 1C at 3F0880 by BackTrace18D0
|776CDD82
|40C8EE

66 bytes + 1A at 3F0900 by BackTrace18D0

*- - - - - - - - - - End of data for heap @ 3F0000 - - - - - - - - - -
`,
	"a frame above 4 GB makes a process of 64 bits, wherever its blocks are": `
umdh-snapshot "" pid 0, 64 bits, machine ""
=
*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -
1 bytes + 2 at 10010 by BackTraceA
|7FF776CDD82
*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -
`,
	"an id in two heaps is two sites, and a heap that comes again is the same": `
heap 10000
heap 20000
site A heap 10000
  2 blocks, 3 + 4 bytes
  1234
site A heap 20000
  1 blocks, 4 + 2 bytes
  1234
=
*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -
1 bytes + 2 at 10010 by BackTraceA
|1234
*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -
*- - - - - - - - - - Start of data for heap @ 20000 - - - - - - - - - -
4 bytes + 2 at 20010 by BackTraceA
|1234
*- - - - - - - - - - End of data for heap @ 20000 - - - - - - - - - -
*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -
2 bytes + 2 at 10020 by BackTrace0000A
*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -
`,
	"a stack that is listed again and differs": `
  1234
! inconsistent x1 at line 2: another stack is listed later for 1 id; the first is used
=
*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -
1 bytes + 2 at 10010 by BackTraceA
|1234
*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -
*- - - - - - - - - - Start of data for heap @ 20000 - - - - - - - - - -
4 bytes + 2 at 20010 by BackTraceA
|1235
*- - - - - - - - - - End of data for heap @ 20000 - - - - - - - - - -
`,
	"aliases": `
site 5D9C heap 10000
  2 blocks, 3 + 4 bytes
  1 < 2
  or 1 < 3
  or 4
! ambiguous-stack x2 at line 2: BackTrace5D9C is ambiguous: 3 stacks share the id, so 2 allocations (3 B) may belong to any of them. They are shown under the first.
=
*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -
1 bytes + 2 at 10010 by BackTrace5D9C
|1
|2
|Alias
|1
|3
|Alias
|4
2 bytes + 2 at 10020 by BackTrace5D9C
*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -
`,
	"no stack was recorded for some": `
site 0 heap 10000
  2 blocks, 48 + 16 bytes
  no stack
! no-stacks x2 at line 4: Enlarge the full stack trace database (gflags /i IMAGE +ust /tracedb 512) and restart the process: no stack was recorded for 2 entries (48 B, BackTrace0).
=
*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -
1 bytes + 2 at 10010 by BackTrace7
|1
20 bytes + 8 at 10020 by BackTrace0
10 bytes + 8 at 10040 by BackTrace0
*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -
`,
	"no stack was recorded for any": `
! no-stacks x1
! umdh-broken-sdk x1: Use umdh.exe of a Windows 10 SDK, or of SDK 10.0.28000 or later: no entry has a stack, a known fault of UMDH of the Windows 11 SDK.
=
*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -
20 bytes + 8 at 10020 by BackTrace0
*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -
`,
	"stacks that were never listed": `
! stack-missing x5 at line 2: The log has no stack for BackTrace1, BackTrace2, BackTrace3, and 1 more of 4 ids: 5 allocations (5 B) belong to no function.
=
*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -
1 bytes + 8 at 10020 by BackTrace1
1 bytes + 8 at 10030 by BackTrace2
1 bytes + 8 at 10040 by BackTrace3
1 bytes + 8 at 10050 by BackTrace4
1 bytes + 8 at 10060 by BackTrace4
*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -
`,
	"header and modules": `
umdh-snapshot "app.exe" pid 7696, 64 bits, machine "HCE - 2"
snapshot 2012-04-30T12:09Z: 0 blocks, 0 + 0 bytes
module 74560000+19E000 C:\Windows\COMCTL32 (old).dll   (none)
module 7FF654800000+6000 C:\Program Files (x86)\app.exe   (none)
module 77650000+180000 C:\Windows\SysWOW64\ntdll.dll wntdll.pdb B193CACD9AB340E7BF3434EA1ABBE0482 (none)
heap 10000
=
// 
// UMDH: version 6.1.7650.0: Logtime 2012-04-30 12:09 - Machine=HCE - 2 - PID=7696
// 
// Preparing to dump heap allocations.
// Loaded modules: 
//     Base Size Module
//            74560000   19E000 C:\Windows\COMCTL32 (old).dll
//        7FF654800000     6000 C:\Program Files (x86)\app.exe
//            77650000   180000 C:\Windows\SysWOW64\ntdll.dll
//
// Process modules enumerated.
// Debug library initialized ...
DBGHELP: ntdll - public symbols  
         d:\websymbols\wntdll.pdb\b193cacd9ab340e7bf3434ea1abbe0482\wntdll.pdb
*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -
*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -
// Memory={"WorkingSet":1}
`,
	"two modules of one name: the banner's base decides": `
module 77650000+180000 C:\Windows\SysWOW64\ntdll.dll   (none)
module 7FF8D87D0000+1AA000 C:\Windows\System32\ntdll.dll ntdll.pdb 4A252F11C9FF495DBA896EE81DFBE40B1A (none)
=
//     Base Size Module
//            77650000   180000 C:\Windows\SysWOW64\ntdll.dll
//        7FF8D87D0000   1AA000 C:\Windows\System32\ntdll.dll
// Process modules enumerated.
7FF8D87D0000-7FF8D8979FFF DBGHELP: ntdll - public symbols  
        c:\sym\ntdll.pdb\4A252F11C9FF495DBA896EE81DFBE40B1A\ntdll.pdb
*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -
*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -
`,
	"an excerpt without a heap, with blanks for tabs": `
umdh-snapshot "" pid 0, 64 bits, machine ""
snapshot ? lower bound: 1 blocks, 48 + 48 bytes
site EDD4EEA6 heap -
  1 blocks, 48 + 48 bytes
  7FFE82352933 < 7FFE8226DA74
! truncated x1 at line 2: 1 block outside the data of any heap. This is an excerpt, so its totals are lower bounds.
=
This is what I see:
30 bytes + 30 at 206EDDA8BA0 by BackTraceEDD4EEA6
    7FFE82352933
    7FFE8226DA74
And so on!
`,
	"a heap that does not end": `
snapshot ? lower bound: 1 blocks, 1 + 2 bytes
heap 10000 partial
! truncated x1 at line 3: Take the log again, or upload the whole file: it ends inside the data of heap 10000, so all totals are lower bounds.
! partial-heap x1: the data of 1 heap is not whole: 10000
=
*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -
1 bytes + 2 at 10010 by BackTraceA
|1234
`,
	"a heap that does not end before the next begins": `
snapshot ? lower bound: 1 blocks, 1 + 2 bytes
heap 10000 partial
heap 20000
! partial-heap x1: the data of 1 heap is not whole: 10000
=
*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -
1 bytes + 2 at 10010 by BackTraceA
|1234
*- - - - - - - - - - Start of data for heap @ 20000 - - - - - - - - - -
*- - - - - - - - - - End of data for heap @ 20000 - - - - - - - - - -
`,
	"a heap whose beginning is missing": `
heap 10000 partial
! truncated x1
! partial-heap x1
=
1 bytes + 2 at 10010 by BackTraceA
|1234
*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -
`,
	"lines that are damaged, and words beside the data": `
snapshot ?: 1 blocks, 1 + 2 bytes
! malformed x6 at line 4: 6 lines not understood and not counted.
=
Please look at this.
*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -
1 bytes + 2 at 10010 by BackTraceA
1 bytes + 2 at 1O010 by BackTraceA
1 bytes + 2 at 10010 by BackTraceX
FFFFFFFFFFFFFFFF bytes + 2 at 10010 by BackTraceA
|1234
|12x4
12345678901234567 bytes + 2 at 10010 by BackTraceA
hello
*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -
Thanks!
`,
	"lower case, short and long ids, odd blanks": `
site 94C4 heap 10000
  2 blocks, 20 + 32 bytes
site 123456789A heap 10000
  1 blocks, 10 + 16 bytes
block 1001F 10 of 94C4
block 1002F 10 of 94C4
block 1003F 10 of 123456789A
! stack-missing x3
=
*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -
a bytes + 10 at 1001f by BackTrace94c4
0A  bytes +  010 at 0001002F  by BackTrace 94C4 
A bytes + 10 at 1003F by BackTrace123456789A
*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -
`,
	"Windows 2000: names at capture, blocks counted": `
umdh-snapshot "" pid 0, 0 bits, machine ""
snapshot ? lower bound: 20 blocks, 21280 + 0 bytes
module 0+0 ntdll   (text)
module 0+0 MyApp   (text)
site B53 heap -
  20 blocks, 21280 + 0 bytes
  ntdll!RtlDebugAllocateHeap+FD < MyApp!operator new+E
! truncated x20
=
00005320 bytes in 0x14 allocations (@ 0x00000428) by: BackTrace00B53
ntdll!RtlDebugAllocateHeap+0x000000FD
MyApp!operator new+0x0000000E
`,
	"Windows 2000: the sum is wrong": `
! truncated x20
! stack-missing x20
! inconsistent x1 at line 1: 1 entry: count times size is not the number of bytes
=
00005321 bytes in 0x14 allocations (@ 0x00000428) by: BackTrace00B53
`,
	"names at capture of modules that are listed": `
module 10000+20000 C:\app.exe   (text)
module 77650000+180000 C:\Windows\ntdll.dll   (none)
module 0+0 other   (text)
! truncated x20
=
//     Base Size Module
//            10000   20000 C:\app.exe
//            77650000   180000 C:\Windows\ntdll.dll
// Process modules enumerated.
00005320 bytes in 0x14 allocations (@ 0x00000428) by: BackTrace00B53
app!operator new+0x0000000E
other!main+0x0000000E
`,
	"the complaint of the Windows 11 SDK": `
umdh-snapshot "" pid 0, 0 bits, machine ""
snapshot ? lower bound: 0 blocks, 0 + 0 bytes
! umdh-broken-sdk x2 at line 2
=
Warning:
Warning: UMDH didn't find any allocations that have stacks collected.
Warning: Traces could not be collected because the Stack Trace Database is full.
Warning: Increase the size of the Stack Trace Database using GFLAGS.
Warning:
`,
	"a difference": `
umdh-diff "app" pid 0, 64 bits, machine ""
snapshot ?: 1 blocks, 8216 + 0 bytes
snapshot ?: 89332 blocks, 44666000 + 0 bytes
module 7FF72A880000+65A7000 app app.pdb  (private)
module 0+0 ntdll   (text)
site 74050 heap -
  0 blocks, 0 + 0 bytes
  89332 blocks, 44666000 + 0 bytes
  ntdll!RtlAllocateHeap+274 < app!Leak+83 (c:\Program Files (x86)\a, b.cpp:228)
site 73F28 heap -
  1 blocks, 8216 + 0 bytes
  0 blocks, 0 + 0 bytes
  ntdll!RtlAllocateHeap+274
=
// Debug library initialized ...
7FF72A880000-7FF730E26FFF DBGHELP: app - private symbols & lines 
         .\app.pdb
// Each log entry has the following syntax:                    

+ 2a98c90 ( 2a98c90 -     0)  15cf4 allocs|BackTrace74050
+   15cf4 ( 15cf4 -     0)|BackTrace74050|allocations

|ntdll!RtlAllocateHeap+00000274
|app!Leak+00000083 (c:\Program Files (x86)\a, b.cpp, 228)
|
-    2018 (     0 -  2018)      0 allocs|BackTrace73F28
-       1 (     0 -     1)|BackTrace73F28|allocations

|ntdll!RtlAllocateHeap+00000274

Total increase == 2a96c78 requested +  2b9e80 overhead = 2d50af8
`,
	"a difference whose symbols are poor": `
module 7FF8D87D0000+1AA000 ntdll   (export)
module 0+0 KERNELBASE   (none)
module 0+0 app   (text)
  7FF97251C4F2 KERNELBASE!+0 < ntdll!RtlpGuess+12C0 < app!main+1 < 7FF6000012F4
! no-symbols x2: Compare again with the PDBs on the symbol path: UMDH had no PDB for 2 modules. Names there are guesses or missing: ntdll (symbols: export; 16 B of change), KERNELBASE (symbols: none; 16 B of change).
=
7FF8D87D0000-7FF8D8979FFF DBGHELP: ntdll - export symbols
DBGHELP: KERNELBASE - no symbols loaded
DBGHELP: user32 - export symbols
+      16 (     16 -      0)      1 allocs|BackTrace74050
+       1 (      1 -      0)|BackTrace74050|allocations

|KERNELBASE!???+0 : 7FF97251C4F2
|ntdll!RtlpGuess+12C0
|app!main+1
|<no module>!???+0 : 7FF6000012F4

Total increase ==     16 requested +     32 overhead =     48
`,
	"entries without the words, without the second line, without a stack, numbers that touch": `
snapshot ?: 3000000008 blocks, 12346 + 0 bytes
snapshot ?: 3000000010 blocks, 87654324 + 0 bytes
site A heap -
  8 blocks, 1 + 0 bytes
  10 blocks, 87654322 + 0 bytes
  a!b+1
site B heap -
  3000000000 blocks, 12345 + 0 bytes
  3000000000 blocks, 2 + 0 bytes
  no stack
! truncated x1 at line 6: the second line is missing from 1 entry: how many blocks there were before is not known
! stack-missing x3000000000 at line 6
=
+87654321 (87654322 - 1) 10 BackTraceA
+2 (10 - 8) BackTraceA

a!b+1

-12343 (2 - 12345) 3000000000 allocs BackTraceB
Total increase == 87641978
`,
	"thousands are set apart": `
snapshot ?: 1 blocks, 4096 + 0 bytes
snapshot ?: 3 blocks, 12288 + 0 bytes
=
+ 8,192 ( 12,288 - 4,096) 3 allocs BackTraceA
+ 2 ( 3 - 1) BackTraceA allocations
|a!b+1
Total increase == 8,192 requested + 1,000 overhead = 9,192
`,
	"an entry that contradicts itself": `
! inconsistent x3 at line 1: 3 entries with inconsistent numbers (change, new and old, or the two lines). New and old are used.
=
+      20 (     50 -      0)      1 allocs|BackTrace1
+       1 (      1 -      0)|BackTrace1|allocations
|a!b+1
-      20 (     20 -      0)      1 allocs|BackTrace2
+       1 (      1 -      0)|BackTrace2|allocations
|a!b+1
+      20 (     20 -      0)      1 allocs|BackTrace3
+       2 (      2 -      0)|BackTrace3|allocations
|a!b+1
Total increase ==     90 requested +      0 overhead =     90
`,
	"a total with nothing above": `
umdh-diff "" pid 0, 0 bits, machine ""
! base-assumed x3 at line 1
! unattributed-overhead x262976 at line 1: The total counts 262,976 bytes of overhead and 1,568 requested, and no entry has them.
! inconsistent x1 at line 1: The total has 1,568 requested bytes, the entries have 0: entries are missing or wrong.
=
Total increase ==    620 requested +  40340 overhead =  40960
`,
	"nothing changed": `
umdh-diff "" pid 0, 0 bits, machine ""
snapshot ?: 0 blocks, 0 + 0 bytes
snapshot ?: 0 blocks, 0 + 0 bytes
=
Total decrease ==      0 requested +      0 overhead =      0
`,
	"a path that a console broke in two": `
  a!b+1 (c:\my files\x.cpp:12) < a!c+2 (c:\d.cpp:3) < a!d+4 < a!e+5
! malformed x1
=
+      20 (     20 -      0)      1 allocs|BackTrace1
+       1 (      1 -      0)|BackTrace1|allocations

|a!b+1 (c:\my 
files\x.cpp, 12)
|a!c+2 (c:\d
.cp
p, 3)
|a!d+4 (c:\neverends
|a!e+5

Total increase ==     20 requested +      0 overhead =     20
`,
	"a second line without its first, and words among the entries": `
snapshot ?: 1 blocks, 20 + 0 bytes
! malformed x2 at line 1
=
+       1 (      1 -      0)|BackTrace2|allocations
+      20 (     20 -      0)      1 allocs|BackTrace1
+       1 (      1 -      0)|BackTrace1|allocations
|a!b+1
and so on
Total increase ==     20 requested +      0 overhead =     20
the end
`,
	"aliases and BackTrace0 in a difference": `
site 5 heap -
  0 blocks, 0 + 0 bytes
  1 blocks, 20 + 0 bytes
  a!b+1
  or a!c+2
site 0 heap -
  0 blocks, 0 + 0 bytes
  2 blocks, 30 + 0 bytes
  no stack
! no-stacks x1 at line 6
! ambiguous-stack x1 at line 1: BackTrace5 is ambiguous: 2 stacks share the id, so 1 allocation (20 B) may belong to any of them. They are shown under the first.
=
+      20 (     20 -      0)      1 allocs|BackTrace5
+       1 (      1 -      0)|BackTrace5|allocations
|a!b+1
|Alias
|a!c+2
+      30 (     30 -      0)      2 allocs|BackTrace0
+       2 (      2 -      0)|BackTrace0|allocations
Total increase ==     50 requested +      0 overhead =     50
`,
	"a new entry without its second line: nothing was there before": `
site A heap -
  0 blocks, 0 + 0 bytes
  3 blocks, 48 + 0 bytes
  a!b+1
! truncated x1 at line 1: the second line is missing from 1 entry: how many blocks there were before is not known
=
+      48 (     48 -      0)      3 allocs|BackTraceA
|a!b+1
Total increase ==     48 requested +      0 overhead =     48
`,
	"a second line of another BackTrace is not the entry's": `
site A heap -
  0 blocks, 0 + 0 bytes
  3 blocks, 48 + 0 bytes
! truncated x1 at line 1: the second line is missing from 1 entry: how many blocks there were before is not known
! malformed x1 at line 2: 1 line not understood and not counted.
=
+      48 (     48 -      0)      3 allocs|BackTraceA
+       2 (      7 -      5)|BackTraceB|allocations
|a!b+1
Total increase ==     48 requested +      0 overhead =     48
`,
	"of two second lines the first counts": `
site A heap -
  0 blocks, 0 + 0 bytes
  3 blocks, 48 + 0 bytes
! malformed x1 at line 3: 1 line not understood and not counted.
=
+      48 (     48 -      0)      3 allocs|BackTraceA
+       3 (      3 -      0)|BackTraceA|allocations
+       2 (      3 -      1)|BackTraceA|allocations
|a!b+1
Total increase ==     48 requested +      0 overhead =     48
`,
	"a frame behind the total is of no entry": `
site A heap -
  0 blocks, 0 + 0 bytes
  3 blocks, 48 + 0 bytes
  a!b+1
=
+      48 (     48 -      0)      3 allocs|BackTraceA
+       3 (      3 -      0)|BackTraceA|allocations
|a!b+1
Total increase ==     48 requested +      0 overhead =     48
|a!c+2
`,
	"a total that is signed against its entries": `
! inconsistent x1 at line 4: The total has −48 requested bytes, the entries have 48: entries are missing or wrong.
=
+      48 (     48 -      0)      3 allocs|BackTraceA
+       3 (      3 -      0)|BackTraceA|allocations
|a!b+1
Total increase ==    -48 requested +      0 overhead =    -48
`,
	"padding says decimal and sums say hexadecimal: sums are right": `
site A heap -
  1 blocks, 144 + 0 bytes
  2 blocks, 256 + 0 bytes
=
+      70 (    100 -     90)      2 allocs|BackTraceA
+       1 (      2 -      1)|BackTraceA|allocations
|a!b+1
Total increase ==     70 requested +      0 overhead =     70
`,
	"six digits without padding prove nothing": `
site A heap -
  0 blocks, 0 + 0 bytes
  1 blocks, 1193046 + 0 bytes
! base-assumed x
=
+123456 (123456 - 0) 1 allocs BackTraceA
+1 (1 - 0) BackTraceA allocations
|a!b+1
Total increase == 123456
`,
	"a block is as large as a process can address at most": `
snapshot ?: 2 blocks, 140737488355328 + 16 bytes
! malformed x2 at line 4: 2 lines not understood and not counted.
=
*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -
7FFFFFFFFFFF bytes + 8 at 10020 by BackTrace1
|1
800000000000 bytes + 8 at 10030 by BackTrace1
1 bytes + 8 at 10040 by BackTrace1
1 bytes + 8 at 10050 by BackTrace1 2
*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -
`,
	"the end of another heap leaves the open one without its end": `
snapshot ? lower bound: 1 blocks, 1 + 2 bytes
heap 10000 partial
heap 20000 partial
! partial-heap x2
=
*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -
1 bytes + 2 at 10010 by BackTraceA
|1234
*- - - - - - - - - - End of data for heap @ 20000 - - - - - - - - - -
`,
	"an end that comes twice": `
snapshot ?: 1 blocks, 1 + 2 bytes
heap 10000
site
=
*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -
1 bytes + 2 at 10010 by BackTraceA
|1234
*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -
*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -
`,
	"the hogs of another heap, whose start is missing": `
heap 10000 partial
heap 20000
site A heap 10000
  1 blocks, 1 + 2 bytes
site A heap 20000
  1 blocks, 4 + 2 bytes
! partial-heap x1
=
*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -
1 bytes + 2 at 10010 by BackTraceA
|1234
*- - - - - - - - - - Heap 20000 Hogs - - - - - - - - - -
4 bytes + 2 at 20010 by BackTraceA
*- - - - - - - - - - End of data for heap @ 20000 - - - - - - - - - -
`,
	"frames behind the start of a heap are of no entry before it": `
site A heap 10000
  1 blocks, 1 + 2 bytes
  no stack
! stack-missing x1
! malformed x1 at line 5
=
*- - - - - - - - - - Start of data for heap @ 10000 - - - - - - - - - -
1 bytes + 2 at 10010 by BackTraceA
*- - - - - - - - - - End of data for heap @ 10000 - - - - - - - - - -
*- - - - - - - - - - Start of data for heap @ 20000 - - - - - - - - - -
|1234
*- - - - - - - - - - End of data for heap @ 20000 - - - - - - - - - -
`,
	"a decrease is printed without its sign": `
snapshot ?: 3 blocks, 48 + 0 bytes
snapshot ?: 0 blocks, 0 + 0 bytes
=
-      48 (      0 -     48)      0 allocs|BackTraceA
-       3 (      0 -      3)|BackTraceA|allocations
|a!b+1
Total decrease ==     48 requested +      0 overhead =     48
`,
}

func TestCases(t *testing.T) {
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			want, log, _ := strings.Cut(text[1:], "\n=\n")
			log = strings.ReplaceAll(log, "|", "\t")
			captures := read(t, []byte(log), umdh.BaseAuto)
			if len(captures) != 1 {
				t.Fatalf("%d captures", len(captures))
			}
			got := render(captures[0])
			rest := got
			expected := 0
			for line := range strings.Lines(want + "\n") {
				line = strings.TrimSuffix(line, "\n")
				at := strings.Index("\n"+rest, "\n"+line)
				if at < 0 {
					t.Fatalf("missing, or not in this place: %s\n%s", line, got)
				}
				rest = rest[at+len(line):]
				if strings.HasPrefix(line, "!") {
					expected++
				}
			}
			if found := len(captures[0].Warnings); found != expected {
				t.Errorf("%d warnings, want %d\n%s", found, expected, got)
			}
		})
	}
}

func TestNothingOfUMDH(t *testing.T) {
	for name, log := range map[string]string{
		"empty":          "",
		"prose":          "We saw the leak on Tuesday.\nIt was large.\n",
		"a cut header":   "// \r\n// UMDH: vers",
		"usage":          "  umdh {-p:Process-id|-pn:ProcessName} [-f:Filename] [-g]\n",
		"binary":         "\x00\x01\x02\xff\xfe\xfd\n\x00",
		"a mark, no log": "\xff\xfe",
	} {
		captures, err := umdh.Read(context.Background(), bytes.NewReader([]byte(log)), umdh.Options{})
		if len(captures) != 0 || code(err) != umdh.CodeNoData {
			t.Errorf("%s: %d captures, %v", name, len(captures), err)
		}
	}
}

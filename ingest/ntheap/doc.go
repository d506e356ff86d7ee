// Package ntheap walks the heaps of a Windows process in the memory that a caller gives. It knows no file format.
//
// Open finds the heaps by the process environment block, and recognises their kind. Heap.Walk hands out the busy blocks
// of one heap. Where gflags +ust or page heap recorded it, a block comes with the address of the stack that made it.
// Heaps.Stack reads such a stack.
//
//	NT heap       Windows XP to 11: segments with their entries, the low-fragmentation heap (Vista and later), virtual blocks
//	page heap     gflags +hpa: a tree of blocks, or where that is damaged the marks before them
//	segment heap  Windows 10 1511 and later: segments with blocks of variable and of one size, large allocations; of others its counters
//
// Microsoft documents none of these structures. The types of public PDBs say where their fields lie: those of ntdll's
// own PDB if the caller has it (Process.Types), otherwise an embedded table of 51 builds (layouts.txt). The table's
// entry for the build is tried first, then its neighbours until the content of the heap is plausible. HeapFacts.Layout
// says which one was taken.
//
// The meaning of the fields is known from open programs that read them, DbgHelpUtils and HeapStat above all. It is
// checked against what a heap says twice: checks over entries, sizes of neighbours, counters against sums, bitmaps
// against blocks. It is also checked block by block against memory that ntdll of Windows XP to 11 24H2 wrote for a
// program with known requests.
//
// # Damage
//
// A dump is taken while the process runs. Pages may be missing, and the program may have overwritten its heap. An entry
// that fails its checks costs the memory up to the next entries that follow each other. A broken list is followed from
// its other end. Containers of the low-fragmentation heap are found by their zones as well as in their segments. What
// could not be read is a capture.Gap with its bytes; what contradicts itself is a capture.Warning.
//
// Every list and tree must lead back where it came from, so none is followed in a circle. No size is believed beyond
// the memory that is there. A walk holds windows of 0.3 MB, and 24 bytes for each container of the low-fragmentation
// heap.
package ntheap

// Package ntheap walks the heaps of a Windows process, in whatever holds its memory: it knows no file format.
//
// Open finds the heaps by the process environment block, and recognises them; Heap.Walk hands out the busy blocks of
// one, with the address of the stack that made each where gflags +ust or page heap kept it; Heaps.Stack reads such a
// stack.
//
//	NT heap       Windows XP to 11: segments with their entries, the low-fragmentation heap (Vista and later), virtual blocks
//	page heap     gflags +hpa: a tree of blocks, or where that is damaged the marks before them
//	segment heap  Windows 10 1511 and later: segments with blocks of variable and of one size, large allocations; of others its counters
//
// Nothing here is documented by Microsoft. Where fields lie is in the types of public PDBs: of ntdll's own where the
// caller has it (Process.Types), otherwise of an embedded table of 51 builds (layouts.txt). The table's entry for the
// build is tried first, then its neighbours until what the heap holds is plausible; HeapFacts.Layout says which it was.
// What the fields mean is known from open programs that read them, DbgHelpUtils and HeapStat above all, and is checked
// against what the heap says twice: checks over entries, sizes of neighbours, counters against sums, bitmaps against
// blocks; and block by block against memory that ntdll of Windows XP to 11 24H2 wrote for a program whose requests are
// known.
//
// # Damage
//
// A dump is taken while the process runs, pages may be missing, and a heap may be what the program has destroyed. An
// entry that fails its checks costs what lies up to the next entries that follow each other; a list that breaks is
// followed from its other end; containers of the low-fragmentation heap are found by their zones as well as in their
// segments. What could not be looked into is a capture.Gap with its bytes, and what contradicts itself a
// capture.Warning.
//
// Every list and tree must lead back where it came from, so none is followed in a circle; no size is believed beyond
// the memory that is there. A walk holds windows of 0.3 MB, and 24 bytes for each container of the low-fragmentation
// heap.
package ntheap

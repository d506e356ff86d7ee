// Package lifetimes follows memory from its allocation to its end: heap blocks by (process instance, heap, address),
// and committed virtual memory as intervals of addresses by the call that committed them. It takes events in time order
// and knows no file format.
//
// A Tracker keeps what is alive. Its memory follows the number of living blocks, distinct sites and heaps. Each
// allocation leaves the Tracker as a Row when it ends, or at Finish. One scan over the rows gives the numbers of any
// window of time (Window, Samples, Peaks).
//
// # Rules
//
// Semantics are those of Windows Performance Analyzer and of the event classes' documentation (HeapTrace MOF classes,
// PageFault_VirtualAlloc, "Opening a summary table"), and where those are silent:
//
//   - A resize in place keeps the block, its first stack and its allocation time; its size is the last one it had.
//   - A reallocation that moves ends the old block and starts a new one that belongs to the reallocating stack. Windows
//     logs Alloc(new), Free(old), ReAlloc; the last alone has the same effect where the first two are missing.
//   - HeapDestroy and the end of a process end what they hold. The row says so (EndDestroy, EndExit), because a verdict
//     is taken as of the instant before a process tears down.
//   - An allocation onto a live address ends the older block: its free was lost (EndLost).
//   - A free of an unknown address is a row without a size: the allocation is not in the trace.
//   - A commit counts the bytes that were not committed before. Freed in parts, it gives several rows; all but the last
//     are marked Part and do not count as allocations, so that bytes and counts both add up.
//   - Memory that a heap takes from the system to serve its blocks is KindHeapVirtual: its bytes are the blocks'.
//   - Memory that a rundown or a resize shows to be older than the trace is allocated at BeforeTrace.
package lifetimes

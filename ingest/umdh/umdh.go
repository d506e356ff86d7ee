// Package umdh reads what umdh.exe, the user-mode dump heap utility of Windows, writes: raw logs of a process's
// heaps, and the symbolised differences of two logs, or of one against nothing. Each log or difference in a file
// becomes a Capture. There is no specification; the layouts are those of real logs from Windows 2000 to 11.
//
// A raw log lists every block whose allocation stack was recorded. All its numbers are hexadecimal:
//
//	// UMDH: version 6.1.7650.0: Logtime 2012-04-30 12:09 - Machine=HCE - PID=7696
//	// Loaded modules:
//	//     Base Size Module
//	//              400000   11D000 D:\app\app.exe
//	// Process modules enumerated.
//	*- - - - - - - - - - Start of data for heap @ 2E60000 - - - - - - - - - -
//	REQUESTED bytes + OVERHEAD at ADDRESS by BackTraceID
//	     STACK if not already dumped.
//	*- - - - - - - - - - Heap 2E60000 Hogs - - - - - - - - - -
//	64 bytes + 1C at 2E9FA20 by BackTrace18D0A0D0      ← requested, overhead, address, id of the stack
//		776CDD82                                       ← return addresses, innermost first, at the id's first block
//		7768EC66
//		Alias                                          ← another stack with the same id: either made the block
//		77929B07
//	66 bytes + 1A at 2E9FBA0 by BackTrace18D0A0D0
//	*- - - - - - - - - - End of data for heap @ 2E60000 - - - - - - - - - -
//
// A difference lists the stacks that changed; its counters are hexadecimal, or decimal where umdh ran with -d:
//
//	// Each log entry has the following syntax:
//	// + BYTES_DELTA (NEW_BYTES - OLD_BYTES) NEW_COUNT allocs BackTrace TRACEID
//	// + COUNT_DELTA (NEW_COUNT - OLD_COUNT) BackTrace TRACEID allocations
//	+ 2a98c90 ( 2a98c90 -     0)  15cf4 allocs	BackTrace74050
//	+   15cf4 (   15cf4 -     0)	BackTrace74050	allocations
//
//		ntdll!RtlAllocateHeap+00000274
//		app!Leak+00000083 (d:\app\leak.cpp, 228)
//
//	Total increase == 2a98c90 requested +  2b9e80 overhead = 2d52b10
//
// Logs arrive cut short, pasted, re-encoded and joined, so no part is required. Read takes what is there. What is
// missing or was not understood becomes a warning of the Capture.
package umdh

import (
	"context"
	"io"

	"heapdrift/ingest/capture"
)

// The kinds of captures that logs give.
const (
	KindSnapshot   capture.Kind = "umdh-snapshot"
	KindDifference capture.Kind = "umdh-diff"
)

// Options tune Read. The zero value is right for logs that come with nothing but themselves.
type Options struct {
	Base Base // of the counters of differences
}

// Read reads a log: one capture for each snapshot or difference in it, in their order. It holds one buffer of the
// log and what the captures hold.
//
// Damage gives warnings, not an error. The error is an *evidence.Error if r holds nothing of UMDH's or cannot be read,
// and the context's if that ends. The captures read until then are returned beside it.
func Read(ctx context.Context, r io.Reader, opt Options) ([]*capture.Capture, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return newReader(ctx, r, opt).read()
}

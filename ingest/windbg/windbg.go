// Package windbg reads what WinDbg, cdb and ntsd print about memory: logs of .logopen, and text that was pasted from a
// command window. There is no specification; the layouts are those of published outputs from Windows XP to 11.
//
//	!heap, 0, -m, -f, -a, -h the heaps, their segments, all their blocks                 Memory.Heaps, Groups
//	!heap -s                 the heaps: reserved, committed, free                        Memory.Heaps
//	!heap -stat              the heaps: segments and virtual blocks                      Memory.Heaps
//	!heap -stat -h H         busy blocks of a heap by their size                         Memory.Groups
//	!heap -flt s N, -flt r   the blocks of one size, or of a range of sizes              Memory.Groups
//	!heap -l                 busy blocks that nothing points to                          Memory.Reach, Samples
//	!heap -p -a ADDRESS, -x  one block with the stack that allocated it, page heap too   Memory.Samples
//	!heap -p -all            blocks of page heaps                                        Memory.Groups
//	HEAP ERROR DETECTED      what a heap has met with                                    Memory.Notes
//	!address -summary        the address space by use, both generations                  Memory.Space
//	!eeheap -gc, -loader     what the .NET runtime holds, segments and regions           Memory.Managed, Notes
//	VERIFIER STOP            what Application Verifier tells the debugger                Memory.Samples, Notes
//
// All other output is passed over. A log is a sequence of instants. Outputs belong to one instant until one of its
// commands is repeated or the process runs on. Each instant becomes a capture. Asking for one block twice makes no new
// instant.
//
// Logs arrive cut short, quoted, commented, as pages, re-encoded and without their headers, so no part is required.
// Marks of pasting are removed and rows that are whole are read. What is missing or was not understood becomes a
// warning of the capture.
package windbg

import (
	"context"
	"io"

	"heapdrift/ingest/capture"
)

// Kind is that of captures of logs of WinDbg.
const Kind capture.Kind = "windbg-log"

// Read reads a log: one capture for each instant in it, in their order. It holds one buffer of the log and what the
// captures hold, which is bounded.
//
// Damage gives warnings, not an error. The error is an *evidence.Error if r holds no known output or r fails, and the
// context's if ctx ends. What was read until then is returned beside it.
func Read(ctx context.Context, r io.Reader) ([]*capture.Capture, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return newReader(ctx, r).read()
}

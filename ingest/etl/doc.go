// Package etl reads event trace logs (.etl), as Event Tracing for Windows writes them: their buffers, their events in
// the order of time, the payloads that matter to memory, and what belongs together: stacks, processes and images.
//
// There is no specification of the file. The layouts are those of evntrace.h, evntcons.h, ntwmi.h and wmicore.mof (WDK
// 10.0.16299), checked against real traces of Windows 7 to 11; what each field is stands beside the code that reads it.
// All numbers are little-endian.
//
//	file    = buffer…                                 the first holds the log-file header event (see LogFile)
//	buffer  = WMI_BUFFER_HEADER, 0x48 bytes           BufferSize 0x00 is the distance to the next
//	          event… up to Offset 0x30, each on 8 bytes, none across buffers; behind them 0xFF
//	          compressed, where flag 0x40 is set: one XPRESS stream (package xpress)
//	event   = header by its type, byte 2              SYSTEM, PERFINFO, FULL, INSTANCE, EVENT, … (see HeaderType)
//	          payload                                 pointers as wide as the header type says
//
// # Three layers
//
// Buffers and events know no process: Open indexes the buffers of one or more files, reading little more than their
// headers, and goroutines decode the buffers ahead of who uses them. The merge knows only time: every buffer is opened
// when the first of its events is due, so neither the order of buffers in the file matters nor which CPU or session
// they are of, and what is open at once is about one buffer for each. Joining alone remembers processes, images and
// stacks: Trace.OperationBatches gives what changes memory with its process and its stack.
//
// # Stacks
//
// A stack is an event of its own behind the one it belongs to, and names that by time stamp and thread. It comes in two
// parts, of the kernel and of the process, either of which may be only a key, which a later event defines and after
// which it is used again. Operations therefore wait until their stack has come, at most 5 seconds of the trace; a key
// is a stack whose addresses come later. Where keys are defined while the trace goes on, as the session's cache of
// stacks is full, a pass of its own finds out what each stands for at any time, so that memory is bounded by distinct
// stacks. A cut file lacks definitions at its end: keys whose definition may be missing stand for nothing.
//
// # Goroutines
//
// Buffers are read, decompressed and framed, their stacks compared and their most frequent events decoded by as many
// goroutines as there are processors, up to 4; merging and joining is one more; what OperationBatches calls runs
// beside it, on the caller's.
//
// # Damage
//
// A lost event makes a freed block look leaked, so what is missing is counted, by place and kind: Losses, and Warnings
// in words. Damage costs the buffer it is in: files that are cut, unfinished, wrapped or hit by wrong bits are read as
// far as they go, and the buffers behind the damage are found again. What is read of a cut file is what is read of the
// whole one up to the time of the first event that is missing, but for stacks that came behind that. Nothing is
// allocated from a size in the file beyond 16 MB, the largest buffer that Windows writes.
package etl

// Package etl reads event trace logs (.etl), as Event Tracing for Windows writes them. It reads their buffers, orders
// their events by time, and decodes the payloads that matter to memory. It joins each event with its stack, its process
// and its images.
//
// Microsoft has published no specification of the file. The layouts are those of evntrace.h, evntcons.h, ntwmi.h and
// wmicore.mof (WDK 10.0.16299), checked against real traces of Windows 7 to 11. The code that reads a field names it.
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
// The first layer, buffers and events, knows no process. Open indexes the buffers of one or more files and reads little
// more than their headers. Goroutines decode the buffers ahead of their use.
//
// The second layer, the merge, knows only time. It opens a buffer when the first of its events is due. So the order of
// buffers in the file does not matter, nor their CPU or session. About one buffer of each CPU and session is open at
// once.
//
// The third layer, joining, is the only one that remembers processes, images and stacks. Trace.OperationBatches gives
// each event that changes memory, with its process and its stack.
//
// # Stacks
//
// A stack is an event of its own. It follows the event that it belongs to, and names that event by time stamp and
// thread. A stack comes in two parts, one of the kernel and one of the process. Either part may be only a key. A later
// event defines the key; after that, Windows may use the key again.
//
// An operation waits until its stack has come, for at most 5 seconds of the trace. A key counts as a stack whose
// addresses come later. Windows defines keys in the middle of a trace where the session's cache of stacks is full. Then
// a pass of its own finds out what each key stands for at any time, so that memory is bounded by the number of distinct
// stacks. A cut file lacks the definitions at its end: a key whose definition may be missing stands for nothing.
//
// # Goroutines
//
// As many goroutines as there are processors, up to 4, read, decompress and frame buffers. They also compare stacks and
// decode the most frequent events. One more goroutine merges and joins. The function given to OperationBatches runs on
// the caller's goroutine, at the same time.
//
// # Damage
//
// A lost event makes a freed block look leaked. So what is missing is counted by place and kind in Losses, and Warnings
// says it in words.
//
// Damage costs the buffer it is in. Files that are cut, unfinished, wrapped or damaged are read as far as possible, and
// the buffers behind the damage are found again. A cut file gives the same events as the whole file, up to the time of
// the first missing event. Only stacks that came after that event are missing. Nothing is allocated from a size in the
// file beyond 16 MB, the largest buffer that Windows writes.
package etl

// Package dump makes a capture of a Windows process from a full user dump. In comes the dump file; out goes one
// Capture, or an *evidence.Error where the file is no dump that tells about heaps. What cannot be read of a damaged
// dump is recorded in the capture.
//
// Package ingest/minidump reads the file, package ingest/ntheap walks the heaps in its memory. This package itself
// computes the address space by use, busy blocks by size, by what their first word points to and by what they begin
// with, and the blocks that nothing points to. It needs no symbols.
package dump

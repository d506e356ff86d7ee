// Package dump makes a capture of a Windows process from a full user dump. In comes the dump file. Out goes one
// Capture, or an *evidence.Error if the file is no dump with heaps. What cannot be read of a damaged dump is recorded
// in the capture.
//
// Package ingest/minidump reads the file, and package ingest/ntheap walks the heaps in its memory. This package
// computes the rest: the address space by use, the busy blocks by size, by the target of their first word and by their
// first bytes, and the blocks that nothing points to. It needs no symbols.
package dump

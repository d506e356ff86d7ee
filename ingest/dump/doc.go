// Package dump makes a capture of a Windows process from a full user dump: it joins the container, which ingest/minidump reads,
// with the heaps in it, which ingest/ntheap walks.
//
// What it adds of its own: the address space by use, busy blocks by size, by what their first word points to and by what they
// begin with, and the blocks that nothing points to. Nothing here needs symbols.
package dump

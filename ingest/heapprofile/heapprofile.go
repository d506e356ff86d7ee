// Package heapprofile reads the heap profiles of allocators: the blocks that are held at one moment, by call stack.
// Most profilers record a sample of the allocations; sampling.go estimates the whole from it.
//
// The text of jemalloc (text.go). Addresses are return addresses, innermost first; t* sums the threads:
//
//	heap_v2/524288
//	  t*: 28: 1368 [0: 0]
//	  t0: 28: 1368 [0: 0]
//	@ 0x55d0c0de1f06 0x55d0c0de2a10
//	  t*: 28: 1368 [0: 0]
//	  t0: 28: 1368 [0: 0]
//
//	MAPPED_LIBRARIES:
//	55d0c0de0000-55d0c0e40000 r-xp 00000000 08:01 1234       /srv/app
//
// The text of gperftools and tcmalloc, which other allocators write too. The word behind @ tells the sampling:
// heapprofile is all blocks, heap_v2/524288 one allocation in 524288 bytes on average:
//
//	heap profile:     28:     1368 [    91:     4444] @ heap_v2/524288
//	    28:     1368 [    91:     4444] @ 0x55d0c0de1f06 0x55d0c0de2a10
//
// The layouts are those of the tools' own sources: jemalloc (prof_data.c, prof_sys.c, jeprof; BSD), gperftools
// (heap-profile-table.cc, proc_maps_iterator.cc, pprof; BSD), mimalloc (pprof.c, stats.c; MIT) and google/pprof
// (profile.proto, legacy_profile.go; Apache). proto.go reads profile.proto, maps.go the list of modules, symbols.go the
// names that pprof --raw puts in front, and mimalloc.go the statistics of mimalloc, which have no stacks.
package heapprofile

import (
	"bytes"
	"context"
	"errors"
	"io"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/evidence"
	"heapdrift/ingest/plaintext"
)

// The kinds of captures, by who wrote the profile.
const (
	KindJemalloc   capture.Kind = "jemalloc-heap"
	KindGperftools capture.Kind = "gperftools-heap"
	KindPprof      capture.Kind = "pprof-heap"
)

// The codes of errors.
const (
	CodeNoData     = "no-heap-profile"    // the file has no header of a profile, or ends in it
	CodeNotLive    = "not-a-live-profile" // the profile is of something else than live blocks
	CodeTooLarge   = "profile-too-large"  // a profile in binary form exceeds what is read at once
	CodeReadFailed = evidence.CodeReadFailed
)

// Sniff reports whether a file begins as a heap profile, as text or as profile.proto.
func Sniff(head []byte) bool { return sniffText(head) || sniffProto(head) }

func sniffText(head []byte) bool {
	text, _ := io.ReadAll(plaintext.NewDecoder(bytes.NewReader(head))) // reading from memory does not fail
	text = bytes.TrimLeft(text, " \t\r\n")
	line, _, _ := bytes.Cut(text, newline)
	if bytes.HasPrefix(line, []byte("--- symbol")) {
		return true
	}
	_, ok := parseHeader(trim(line))
	return ok
}

var newline = []byte{'\n'}

// Read reads a profile: one capture. The name of the file tells which process wrote it, and whether that was at its
// exit (name.go). Read holds one buffer of a text and what the capture holds; of a binary profile it holds all bytes.
//
// Damage gives warnings, not an error. The error is an *evidence.Error if r holds no profile of held blocks or cannot
// be read, and the context's if that ends; what was read until then is returned beside it.
func Read(ctx context.Context, r io.Reader, name string) ([]*capture.Capture, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	buffered, head, err := peek(r)
	if err != nil {
		return nil, failure(ctx, err, 0)
	}
	if sniffProto(head) {
		return readProto(ctx, buffered, name)
	}
	p := newProfile(ctx, buffered)
	c, refused := p.read()
	switch {
	case p.in.err != nil:
		return list(p, c, name), failure(ctx, p.in.err, p.in.number)
	case refused != nil:
		refused.Line = p.in.number
		return nil, refused
	}
	return list(p, c, name), nil
}

// list is what was read of a text; nothing where its header was not reached.
func list(p *profile, c *capture.Capture, name string) []*capture.Capture {
	if !p.begun {
		return nil
	}
	nameProcess(c, name)
	return []*capture.Capture{c}
}

// peek reads the beginning, and gives a reader of all.
func peek(r io.Reader) (io.Reader, []byte, error) {
	head := make([]byte, 0, sniffed)
	for len(head) < cap(head) {
		n, err := r.Read(head[len(head):cap(head)])
		head = head[:len(head)+n]
		if errors.Is(err, io.EOF) {
			return bytes.NewReader(head), head, nil
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return io.MultiReader(bytes.NewReader(head), r), head, nil
}

// sniffed is how much of a file decides about its form.
const sniffed = 64 << 10

// failure says why a source could not be read to its end.
func failure(ctx context.Context, err error, line int64) error {
	var packed *evidence.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &packed): // an archive that cannot be unpacked further
		return err
	}
	return &evidence.Error{Code: CodeReadFailed, Message: "reading the profile failed", Line: line, Err: err}
}

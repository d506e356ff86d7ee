package ingest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"heapdrift/ingest/evidence"
)

// A Member is a file out of an archive or a compressed file, or the source itself.
type Member struct {
	io.Reader
	Name   string // with the names of the archives that it was in before it
	Head   []byte // its first bytes, up to HeadBytes; valid until the Reader is read
	Packed bool   // it came out of an archive or a compressed file

	w *walker
}

// Unpacking returns r, which must unpack this member, with its bytes counted towards the limits of the source. It is
// for wrappings that Unpack does not know.
func (m Member) Unpacking(r io.Reader) io.Reader { return &unpacking{w: m.w, r: r, name: m.Name} }

// Unpack visits the files in a source: the source itself, the content of a gz or zst, the files of a zip in the order
// of their names, or the files of a 7z in their order in the archive. refuse gets the name and error of a file that
// cannot be read, and of one for which visit returns an *evidence.Error. An archive that unpacks to too much ends the
// visit, and so does any other error.
func Unpack(ctx context.Context, src Source, visit func(Member) error,
	refuse func(name string, e *evidence.Error)) error {
	w := walker{visit: visit, pass: func(name string, e *evidence.Error) bool {
		if e.Code == evidence.CodeArchiveBomb {
			return false
		}
		refuse(name, e)
		return true
	}}
	return w.walk(ctx, src)
}

// A walker visits every file in a source.
type walker struct {
	visit    func(Member) error
	pass     func(name string, e *evidence.Error) bool // reports whether a file of an archive may be refused and the others taken
	progress func(done, total int64)                   // may be nil

	ctx     context.Context //nolint:containedctx // lives as long as one call of walk
	src     Source
	in      *meter
	out     int64 // bytes unpacked so far
	free    int64 // bytes that may come out at any ratio
	entries int   // of the archive, folders included
}

func (w *walker) walk(ctx context.Context, src Source) error {
	w.ctx, w.src, w.in, w.free = ctx, src, &meter{src: src, progress: w.progress}, freeRatio
	return w.open(src.Name, io.NewSectionReader(w.in, 0, src.Size), 0)
}

// open recognises what r begins with and takes it apart.
func (w *walker) open(name string, r io.Reader, depth int) error {
	buffered := bufio.NewReaderSize(&cancellableReader{w.ctx, r}, HeadBytes)
	head, err := buffered.Peek(HeadBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return w.damaged(name, err)
	}
	wrap := wrappingOf(head)
	archive := wrap == wrapZip || wrap == wrap7z
	switch {
	case wrap == plain:
		return w.visit(Member{Reader: buffered, Name: name, Head: head, Packed: depth > 0, w: w})
	case depth == maxDepth || archive && depth > 0:
		return &evidence.Error{Code: evidence.CodeUnsupportedFormat, File: name,
			Message: "this is an archive inside an archive",
			Do:      "unpack the outer one first"}
	}
	switch wrap {
	case wrapGzip:
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return w.damaged(name, err)
		}
		return w.open(name, &unpacking{w: w, r: z, name: name}, depth+1)
	case wrapZstd:
		z, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxWindow),
			zstd.WithDecoderLowmem(true))
		if err != nil {
			return w.damaged(name, err)
		}
		defer z.Close()
		return w.open(name, &unpacking{w: w, r: z, name: name}, depth+1)
	case wrap7z:
		return w.open7z(name)
	default:
		return w.openZip(name)
	}
}

// taken takes a file of an archive out of the way of the others: it returns err, unless that refuses only the file and
// the walk may pass it over.
func (w *walker) taken(entry string, err error) error {
	if refused := evidence.Refusal(err); refused != nil && w.pass(entry, refused) {
		return nil
	}
	return err
}

// damaged says that unpacking failed, unless the cause is the context, a limit, or that the source cannot be read.
func (w *walker) damaged(name string, err error) error {
	// Only what this package says itself passes: how some way of packing calls its damage is the cause.
	if r := evidence.Refusal(err); r != nil && (isOfArchive(r.Code) || r.Code == evidence.CodeUnsupportedFormat) ||
		w.ctx.Err() != nil {
		return err
	}
	if failed := w.in.failure(); failed != nil {
		return fmt.Errorf("ingest: read %s: %w", w.src.Name, failed)
	}
	return &evidence.Error{Code: evidence.CodeDamagedArchive, File: name, Message: "the archive is damaged or cut short",
		Do: "pack and upload it again", Err: err}
}

package ingest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zip"
	"github.com/klauspost/compress/zstd"
)

// Limits of what is unpacked. They count bytes that come out, never what an archive's headers claim.
const (
	maxUnpacked = 64 << 30 // bytes in all
	maxRatio    = 200      // bytes out per byte in …
	freeRatio   = 16 << 20 // … after this many bytes out
	maxEntries  = 10_000   // files in an archive
	maxDepth    = 2        // wrappings around a file
	maxWindow   = 128 << 20
)

// A Member is a file as it comes out of its wrappings.
type Member struct {
	io.Reader
	Name   string // with the name of what it was packed in before it
	Head   []byte // its first bytes; valid until the Reader is read
	Packed bool   // it is not the source itself

	w *walker
}

// Unpacking returns r, which unpacks this member in a way that is not known here, with what comes out of it counted
// towards the limits of the source.
func (m Member) Unpacking(r io.Reader) io.Reader { return &unpacking{w: m.w, r: r, name: m.Name} }

// Unpack visits the files in a source, whatever they are: the source itself, what a gz or zst holds, or those of a zip in
// the order of their names. What it cannot read of a zip, and files for which visit returns an *Error, go to refuse, by
// their names in the zip; a zip that unpacks to too much ends everything, and so does any other error.
func Unpack(ctx context.Context, src Source, visit func(Member) error, refuse func(name string, e *Error)) error {
	w := walker{visit: visit, pass: func(name string, e *Error) bool {
		if e.Code == CodeBomb {
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
	pass     func(name string, e *Error) bool // reports whether a file of an archive may be refused and the others taken
	progress func(done, total int64)          // may be nil

	ctx     context.Context //nolint:containedctx // lives as long as one call of walk
	src     Source
	in      *meter
	out     int64 // bytes unpacked so far
	entries int   // of the zip, folders included
}

func (w *walker) walk(ctx context.Context, src Source) error {
	w.ctx, w.src, w.in = ctx, src, &meter{src: src, progress: w.progress}
	return w.open(src.Name, io.NewSectionReader(w.in, 0, src.Size), 0)
}

// open recognises what r begins with and takes it apart.
func (w *walker) open(name string, r io.Reader, depth int) error {
	buffered := bufio.NewReaderSize(&cancellable{w.ctx, r}, sniffBytes)
	head, err := buffered.Peek(sniffBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return w.damaged(name, err)
	}
	wrap := wrappingOf(head)
	switch {
	case wrap == plain:
		return w.visit(Member{Reader: buffered, Name: name, Head: head, Packed: depth > 0, w: w})
	case depth == maxDepth || wrap == wrapZip && depth > 0:
		return &Error{Code: CodeUnsupported, File: name, Message: "this is an archive inside an archive; unpack the outer one first"}
	}
	switch wrap {
	case wrapGzip:
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return w.damaged(name, err)
		}
		return w.open(name, &unpacking{w: w, r: z, name: name}, depth+1)
	case wrapZstd:
		z, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return w.damaged(name, err)
		}
		defer z.Close()
		return w.open(name, &unpacking{w: w, r: z, name: name}, depth+1)
	default:
		return w.openZip(name, depth)
	}
}

// openZip takes the files of a zip apart in the order of their names, which is the order of a series.
func (w *walker) openZip(name string, depth int) error {
	z, err := zip.NewReader(w.in, w.src.Size)
	if err != nil {
		return w.damaged(name, err)
	}
	if len(z.File) > maxEntries {
		return &Error{Code: CodeBomb, File: name, Message: fmt.Sprintf("the archive holds %d files; at most %d are taken", len(z.File), maxEntries)}
	}
	w.entries = len(z.File)
	slices.SortStableFunc(z.File, func(a, b *zip.File) int { return NaturalOrder(a.Name, b.Name) })
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		err := w.openEntry(name, f, depth)
		var refused *Error
		if errors.As(err, &refused) && w.pass(f.Name, refused) {
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) openEntry(name string, f *zip.File, depth int) error {
	r, err := f.Open()
	if err != nil {
		return w.damaged(f.Name, err)
	}
	defer func() { _ = r.Close() }() // read only
	return w.open(name+"/"+f.Name, &unpacking{w: w, r: r, name: name}, depth+1)
}

// damaged says that unpacking failed, unless the cause is the context or a limit.
func (w *walker) damaged(name string, err error) error {
	var ours *Error
	if errors.As(err, &ours) || w.ctx.Err() != nil {
		return err
	}
	return &Error{Code: CodeDamaged, File: name, Message: "the archive is damaged or cut short; pack and upload it again", Err: err}
}

// unpacking counts what comes out of a wrapping and stops at the limits.
type unpacking struct {
	w    *walker
	r    io.Reader
	name string
}

func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	u.w.out += int64(n)
	if out := u.w.out; out > maxUnpacked || out > freeRatio && out/maxRatio > u.w.in.done.Load() {
		return n, &Error{Code: CodeBomb, File: u.name, Message: fmt.Sprintf("the archive unpacks to more than %d times its size; it is refused", maxRatio)}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = u.w.damaged(u.name, err)
	}
	return n, err
}

// A meter counts the bytes that are read from the source.
type meter struct {
	src      Source
	done     atomic.Int64
	progress func(done, total int64)
}

func (m *meter) ReadAt(p []byte, off int64) (int, error) {
	n, err := m.src.ReadAt(p, off)
	done := m.done.Add(int64(n))
	if m.progress != nil {
		m.progress(min(done, m.src.Size), m.src.Size)
	}
	return n, err
}

// cancellable ends with the context.
type cancellable struct {
	ctx context.Context //nolint:containedctx // an io.Reader has no other way to be told
	r   io.Reader
}

func (c *cancellable) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}

package ingest

import (
	"archive/zip"
	"errors"
	"fmt"
	"slices"

	"github.com/klauspost/compress/flate"

	"heapdrift/ingest/evidence"
)

// openZip takes the files of a zip apart in the order of their names, which is the order of a series.
func (w *walker) openZip(name string) error {
	z, err := zip.NewReader(w.in, w.src.Size)
	if err != nil {
		return w.damaged(name, err)
	}
	z.RegisterDecompressor(zip.Deflate, flate.NewReader) // faster than that of the standard library
	if err := w.count(name, len(z.File)); err != nil {
		return err
	}
	slices.SortStableFunc(z.File, func(a, b *zip.File) int { return NaturalOrder(a.Name, b.Name) })
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		if err := w.taken(f.Name, w.openZipped(name, f)); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) openZipped(archive string, f *zip.File) error {
	const encrypted = 0x1 // general purpose bit flag, APPNOTE 4.4.4
	if f.Flags&encrypted != 0 {
		return &evidence.Error{Code: evidence.CodeUnsupportedFormat, File: archive + "/" + f.Name,
			Message: "it is packed with a password", Do: "pack it without one"}
	}
	r, err := f.Open()
	if errors.Is(err, zip.ErrAlgorithm) { // 9 is Deflate64, which the Windows Explorer takes above 2 GB
		return &evidence.Error{Code: evidence.CodeUnsupportedFormat, File: archive + "/" + f.Name,
			Message: fmt.Sprintf("it is packed by a method of zip that is not read (%d)", f.Method),
			Do:      "pack it as 7z, gz or zst"}
	}
	if err != nil {
		return w.damaged(f.Name, err)
	}
	defer func() { _ = r.Close() }() // read only
	return w.open(archive+"/"+f.Name, &unpacking{w: w, r: r, name: archive}, 1)
}

// count notes how many files an archive holds, and refuses too many.
func (w *walker) count(name string, files int) error {
	if files > maxEntries {
		return &evidence.Error{Code: evidence.CodeArchiveBomb, File: name,
			Message: fmt.Sprintf("the archive holds %d files; at most %d are taken", files, maxEntries)}
	}
	w.entries = files
	return nil
}

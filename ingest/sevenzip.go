package ingest

import (
	"cmp"
	"errors"
	"hash"
	"hash/crc32"
	"io"

	"github.com/bodgit/sevenzip"

	"heapdrift/ingest/evidence"
)

// open7z takes the files of a 7z apart in the order in which they lie in it: several make one stream, a folder, which
// can only be unpacked from its beginning.
func (w *walker) open7z(name string) error {
	files, err := list7z(w.in, w.src.Size)
	if err != nil {
		return w.damaged7z(name, err)
	}
	if err := w.count(name, len(files)); err != nil {
		return err
	}
	last := map[int]int{} // file of each folder
	for i, f := range files {
		if f.UncompressedSize > 0 {
			last[f.Stream] = i
		}
	}
	broken := -1 // the folder that cannot be unpacked any further
	for i, f := range files {
		if f.FileInfo().IsDir() {
			continue
		}
		var err error
		if f.Stream == broken && f.UncompressedSize > 0 {
			err = w.damaged7z(name+"/"+f.Name, errors.New("it lies behind damage"))
		} else {
			var whole bool
			if whole, err = w.open7zFile(name, f, i < last[f.Stream]); !whole {
				broken = f.Stream
			}
		}
		if err := w.taken(f.Name, err); err != nil {
			return err
		}
	}
	return nil
}

// open7zFile opens a file; what is behind it in the folder can be opened where it is whole.
func (w *walker) open7zFile(archive string, f *sevenzip.File, more bool) (whole bool, err error) {
	name := archive + "/" + f.Name
	r, err := openFile7z(f)
	if err != nil {
		return false, w.damaged7z(name, err)
	}
	defer func() { _ = r.Close() }()
	counted := &unpacking{w: w, r: r, name: archive}
	if err = w.open(name, counted, 1); err != nil {
		if refused := evidence.Refusal(err); refused == nil || refused.Code == evidence.CodeArchiveBomb {
			return false, err
		}
	}
	if !more {
		return true, err
	}
	// The library would pass over what was not read without counting it.
	if _, rest := io.Copy(io.Discard, &cancellableReader{w.ctx, counted}); rest != nil {
		if err == nil || isRefused(rest, evidence.CodeArchiveBomb) || w.ctx.Err() != nil {
			err = rest
		}
		return false, err
	}
	return true, err
}

// damaged7z is damaged, for errors that do not know the archive's name.
func (w *walker) damaged7z(name string, err error) error {
	if ours := evidence.Refusal(err); ours != nil {
		ours.File = cmp.Or(ours.File, name)
	}
	return w.damaged(name, err)
}

// openFile7z opens a file of a 7z.
func openFile7z(f *sevenzip.File) (_ io.ReadCloser, err error) {
	defer func() { err = notPanic(recover(), err) }()
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	return &file7z{r: r, left: f.UncompressedSize, want: f.CRC32, sum: crc32.NewIEEE()}, nil
}

// A file7z is a file as it comes out of a 7z, checked as the library does not: for its size, its checksum, and that it
// goes forward at all.
type file7z struct {
	r    io.ReadCloser
	left uint64
	want uint32 // 0 where the archive has none
	sum  hash.Hash32
	idle int
}

func (f *file7z) Read(p []byte) (n int, err error) {
	defer func() { err = notPanic(recover(), err) }()
	n, err = f.r.Read(p)
	_, _ = f.sum.Write(p[:n])
	f.left -= min(uint64(n), f.left)
	switch {
	case n > 0:
		f.idle = 0
	case err == nil && len(p) > 0:
		if f.idle++; f.idle > 100 {
			return 0, io.ErrNoProgress
		}
	}
	if errors.Is(err, io.EOF) {
		switch {
		case f.left > 0:
			err = io.ErrUnexpectedEOF
		case f.want != 0 && f.sum.Sum32() != f.want:
			err = errors.New("its checksum is wrong")
		}
	}
	return n, err
}

func (f *file7z) Close() (err error) {
	defer func() { err = notPanic(recover(), err) }()
	return f.r.Close()
}

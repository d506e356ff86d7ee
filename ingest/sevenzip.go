package ingest

import (
	"cmp"
	"errors"
	"io"

	"heapdrift/ingest/evidence"
	"heapdrift/ingest/sevenzip"
)

// open7z takes the files of a 7z apart in the order in which they lie in it: several make one stream, a folder, which
// can only be unpacked from its beginning.
func (w *walker) open7z(name string) error {
	a, err := sevenzip.Open(w.in, w.src.Size, maxEntries)
	if err != nil {
		return w.damaged7z(name, err)
	}
	if err := w.count(name, len(a.Files)); err != nil {
		return err
	}
	last := map[int]int{} // file of each folder
	for i := range a.Files {
		if f := &a.Files[i]; f.Size() > 0 {
			last[f.Folder()] = i
		}
	}
	broken := -1 // the folder that cannot be unpacked any further
	for i := range a.Files {
		f := &a.Files[i]
		if f.IsDir {
			continue
		}
		var err error
		if f.Folder() == broken && f.Size() > 0 {
			err = w.damaged7z(name+"/"+f.Name, errors.New("it lies behind damage"))
		} else {
			var whole bool
			if whole, err = w.open7zFile(name, a, i, i < last[f.Folder()]); !whole {
				broken = f.Folder()
			}
		}
		if err := w.taken(f.Name, err); err != nil {
			return err
		}
	}
	return nil
}

// open7zFile opens file number i; what is behind it in the folder can be opened where it is whole.
func (w *walker) open7zFile(archive string, a *sevenzip.Archive, i int, more bool) (whole bool, err error) {
	name := archive + "/" + a.Files[i].Name
	r, err := a.Content(i)
	if err != nil {
		return false, w.damaged7z(name, err)
	}
	counted := &unpacking{w: w, r: r, name: archive}
	if err = w.open(name, counted, 1); err != nil {
		if refused := evidence.Refusal(err); refused == nil || refused.Code == evidence.CodeArchiveBomb {
			return false, err
		}
	}
	if !more {
		return true, err
	}
	// What lies before the next file is unpacked in any case: here it is counted, as bytes that the archive unpacks to.
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

package symsrv

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

// abandoned is the age at which a file in a staging folder cannot be under way any more: its process was killed.
const abandoned = 24 * time.Hour

// keep copies a candidate, decompressed and checked, to the leftmost store that can be written to. It copies the file
// as received to the stores between that one and its origin. It returns the file's path.
//
// Symsrv skips a store that it cannot write to; so does keep. Where none is left, a compressed file goes to the
// default downstream store, because nobody could open it where it is.
func (s *search) keep(ctx context.Context, c candidate, form Form, from origin) (string, error) {
	homes := from.stores
	if form == FormCompressed {
		homes = append(homes[:len(homes):len(homes)], from.own, s.path.opt.Cache)
	}
	if c.home != "" {
		homes = []string{c.home}
	}
	unwritable := errNoStore
	for _, home := range homes {
		if home == "" {
			continue
		}
		kept, err := s.keepIn(ctx, home, c, form, from)
		var blocked *blockedError
		if !errors.As(err, &blocked) {
			return kept, err
		}
		unwritable = err
	}
	return "", unwritable
}

// keepIn is keep for one store.
func (s *search) keepIn(ctx context.Context, home string, c candidate, form Form, from origin) (string, error) {
	work, err := s.stage(ctx, c, form, home)
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(work) }() // gone after the rename
	if err := s.check(ctx, work); err != nil {
		return "", err
	}
	file := []string{s.want.Name}
	if f, err := FormOf(work); err == nil && f == FormMSFZ {
		file = []string{msfzName, s.want.Name}
	}
	kept, err := s.settle(work, home, file)
	if err != nil {
		return "", err
	}
	s.passOn(ctx, c, form, kept, file, from.stores, home)
	return kept, nil
}

var errNoStore = errors.New("there is no store to keep it in: configure the default downstream store")

// A blockedError says that a store cannot be written to.
type blockedError struct{ err error }

func (e *blockedError) Error() string { return e.err.Error() }
func (e *blockedError) Unwrap() error { return e.err }

// stage brings the candidate's content, decompressed, into the staging folder of a store.
func (s *search) stage(ctx context.Context, c candidate, form Form, home string) (string, error) {
	if form != FormCompressed && c.home == home {
		return c.path, nil
	}
	work, err := newWork(home)
	if err != nil {
		return "", err
	}
	if form == FormCompressed {
		err = expand(ctx, c.path, s.want.Name, s.path.opt.Limits.MaxBytes, work)
	} else {
		err = s.copyTo(ctx, work, c.path)
	}
	return work.Name(), finish(work, err)
}

// newWork makes a file in the staging folder of a store, where no debugger looks for symbols. It is on the file system
// of the store, so that it can be renamed to its path there.
func newWork(root string) (*os.File, error) {
	staging := filepath.Join(root, stagingName)
	if err := os.MkdirAll(staging, 0o755); err != nil {
		return nil, &blockedError{err}
	}
	sweep(staging)
	work, err := os.CreateTemp(staging, "*.part")
	if err != nil {
		return nil, &blockedError{err}
	}
	return work, nil
}

// sweep removes what killed processes left behind.
func sweep(staging string) {
	entries, err := os.ReadDir(staging)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > abandoned {
			_ = os.Remove(filepath.Join(staging, entry.Name()))
		}
	}
}

// finish makes a file that was written durable and readable to others, or removes it where err says that it is not
// whole.
func finish(work *os.File, err error) error {
	if err == nil {
		err = work.Chmod(0o644) // stores are shared; CreateTemp's files are not
	}
	if err == nil {
		err = work.Sync() // a rename that survives a power cut must not name an empty file
	}
	if closeErr := work.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(work.Name())
	}
	return err
}

// settle gives a whole file its name in the store. Renaming replaces a damaged file that is there already.
func (s *search) settle(work, root string, file []string) (string, error) {
	final := s.inStore(root, file...)
	err := os.MkdirAll(filepath.Dir(final), 0o755)
	if err == nil {
		err = os.Rename(work, final)
	}
	if err != nil {
		return "", &blockedError{err}
	}
	return final, nil
}

// passOn fills the stores between the one that keeps the file and its origin. Symsrv leaves a compressed file
// compressed there. The file is found whether this succeeds or not.
func (s *search) passOn(ctx context.Context, c candidate, form Form, kept string, file, stores []string, home string) {
	source := kept
	if form == FormCompressed {
		source, file = c.path, []string{CompressedName(s.want.Name)}
	}
	right := false
	for _, root := range stores {
		if root == home {
			right = true
			continue
		}
		if !right {
			continue // it could not be written to a moment ago
		}
		if err := s.copyInto(ctx, root, source, file); err != nil {
			s.path.opt.Log.WarnContext(ctx, "symbol file not copied into a store on its way",
				"store", root, "file", s.want.Path(), "error", err)
		}
	}
}

func (s *search) copyInto(ctx context.Context, root, source string, file []string) error {
	work, err := newWork(root)
	if err != nil {
		return err
	}
	if err := finish(work, s.copyTo(ctx, work, source)); err != nil {
		return err
	}
	if _, err := s.settle(work.Name(), root, file); err != nil {
		_ = os.Remove(work.Name())
		return err
	}
	return nil
}

func (s *search) copyTo(ctx context.Context, w io.Writer, source string) error {
	f, err := os.Open(source)
	if err != nil {
		return err
	}
	defer f.Close()
	return copyBounded(ctx, w, f, s.path.opt.Limits.MaxBytes)
}

package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"syscall"
	"time"
)

const (
	// placeTries bounds how often a file is moved to a directory that others delete meanwhile. Each failure is
	// a deletion by another caller: so many in a row are no accident.
	placeTries = 100
	// tempDir holds blobs that are being written, in the file system of their place. No key starts with a dot.
	tempDir = ".incoming"
	// tempAge is when a file in tempDir that nobody writes to counts as left behind by a crash.
	tempAge = 24 * time.Hour
	// copyBytes is how much of a blob is in memory at once.
	copyBytes = 256 << 10
)

// disk keeps blobs as files below a folder, the key being the path. Dumps hold secrets: what it makes is its
// account's alone.
type disk struct {
	root *os.Root // no key leads out of it, through symbolic links neither
}

func openDisk(dir string) (Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("blob: folder of the store: %w; choose one that can be written", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("blob: folder of the store: %w", err)
	}
	d := &disk{root: root}
	if err := d.sweepTemp(); err != nil {
		return nil, errors.Join(fmt.Errorf("blob: folder of the store: %s: %w", dir, err), root.Close())
	}
	return d, nil
}

// sweepTemp makes tempDir and deletes what crashes have left there.
func (d *disk) sweepTemp() error {
	if err := d.root.MkdirAll(tempDir, 0o700); err != nil {
		return err //nolint:wrapcheck // the caller says where
	}
	files, err := d.readDir(tempDir)
	if err != nil {
		return err
	}
	for _, f := range files {
		info, err := f.Info()
		if err == nil && time.Since(info.ModTime()) > tempAge {
			err = d.root.Remove(path.Join(tempDir, f.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // its writer, or another process that sweeps, was faster
			return err //nolint:wrapcheck // the caller says where
		}
	}
	return nil
}

func (d *disk) Put(ctx context.Context, key string, r io.Reader) (int64, error) {
	if err := checkKey(key); err != nil {
		return 0, err
	}
	temp := path.Join(tempDir, rand.Text())
	n, err := d.write(temp, &source{ctx, r})
	if err == nil {
		err = d.place(temp, key)
	}
	if err != nil {
		if cleanup := d.root.Remove(temp); !errors.Is(cleanup, fs.ErrNotExist) {
			err = errors.Join(err, cleanup)
		}
		return 0, fmt.Errorf("blob: put %s: %w", key, err)
	}
	return n, nil
}

// write makes a file of what r holds; it is on the disk when write returns.
func (d *disk) write(name string, r io.Reader) (n int64, err error) {
	f, err := d.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err //nolint:wrapcheck // the caller says where
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// Only a Writer: File.ReadFrom would take 32 KiB at a time.
	if n, err = io.CopyBuffer(struct{ io.Writer }{f}, r, make([]byte, copyBytes)); err != nil {
		return 0, err //nolint:wrapcheck // the caller says where
	}
	return n, f.Sync() //nolint:wrapcheck // the caller says where
}

// place moves a file to its key and sees to it that it is there after a power cut too.
func (d *disk) place(from, to string) error {
	made := false
	for range placeTries {
		err := d.root.Rename(from, to)
		if err == nil {
			return d.syncDirs(to, made)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err //nolint:wrapcheck // the caller says where
		}
		if _, gone := d.root.Lstat(from); gone != nil {
			return gone //nolint:wrapcheck // the caller says where
		}
		// The directory is missing, or a Delete has just taken the empty one away. It may do so again between the steps
		// of MkdirAll: before the one (there is no such directory), or after mkdir has found it and before it is looked
		// at (it exists already).
		err = d.root.MkdirAll(path.Dir(to), 0o700)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			return err //nolint:wrapcheck // the caller says where
		}
		made = true
	}
	return errors.New("its directory is deleted again and again")
}

// syncDirs writes the directory of the key to the disk; where it was just made, those above it too.
func (d *disk) syncDirs(key string, made bool) error {
	if runtime.GOOS == "windows" {
		return nil // has no such call for directories
	}
	for dir := path.Dir(key); ; dir = path.Dir(dir) {
		f, err := d.root.Open(dir)
		if err == nil {
			err = errors.Join(f.Sync(), f.Close())
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // the blob may be deleted again, with its directory
			return err //nolint:wrapcheck // the caller says where
		}
		if !made || dir == "." {
			return nil
		}
	}
}

func (d *disk) Rename(ctx context.Context, from, to string) error {
	if err := errors.Join(checkKey(from), checkKey(to)); err != nil {
		return err
	}
	if _, err := d.Stat(ctx, from); err != nil || from == to {
		return err
	}
	if err := d.place(from, to); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = ErrNotFound
		}
		return fmt.Errorf("blob: rename %s to %s: %w", from, to, err)
	}
	d.prune(from)
	return nil
}

func (d *disk) Delete(ctx context.Context, key string) error {
	switch _, err := d.Stat(ctx, key); {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	if err := d.root.Remove(key); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("blob: delete %s: %w", key, err)
	}
	d.prune(key)
	return nil
}

// prune takes away the directories that are empty without the key: each upload has one.
func (d *disk) prune(key string) {
	for dir := path.Dir(key); dir != "."; dir = path.Dir(dir) {
		if d.root.Remove(dir) != nil {
			return // others are in it
		}
	}
}

func (d *disk) Stat(ctx context.Context, key string) (Info, error) {
	if err := checkKey(key); err != nil {
		return Info{}, err
	}
	info, err := d.root.Lstat(key)
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotFound // a directory: the start of other keys
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return Info{}, fmt.Errorf("blob: stat %s: %w", key, missing(err))
	}
	return Info{Key: key, Size: info.Size(), Modified: info.ModTime()}, nil
}

func (d *disk) Open(ctx context.Context, key string) (Reader, error) {
	if _, err := d.Stat(ctx, key); err != nil {
		return nil, err
	}
	f, err := d.root.Open(key)
	if err != nil {
		return nil, fmt.Errorf("blob: open %s: %w", key, missing(err))
	}
	now, err := f.Stat() // it may have been replaced in between
	if err != nil {
		return nil, errors.Join(fmt.Errorf("blob: open %s: %w", key, err), f.Close())
	}
	return &file{ctx, f, now.Size()}, nil
}

// missing turns the ways in which a file system says that there is no such file into ErrNotFound.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return ErrNotFound
	}
	return err
}

// A file is the Reader of a blob on disk.
type file struct {
	ctx  context.Context //nolint:containedctx // of Open: it bounds the reading too
	f    *os.File
	size int64
}

func (f *file) Size() int64 { return f.size }

// Descriptor implements LocalFile.
func (f *file) Descriptor() *os.File { return f.f }

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if f.ctx.Err() != nil {
		return 0, context.Cause(f.ctx) //nolint:wrapcheck // the caller's own
	}
	return f.f.ReadAt(p, off) //nolint:wrapcheck // a reader passes errors on as they are
}

func (f *file) Close() error { return f.f.Close() } //nolint:wrapcheck // says where

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"heapdrift/ingest/evidence"
)

// standardInput is the name that stands for the standard input.
const standardInput = "-"

// openFile opens what a name stands for as a file that may be read at any place: the standard input, pipes and devices are copied to a
// temporary one, which is in no folder any more.
func openFile(ctx context.Context, path string, in io.Reader) (*os.File, error) {
	if path == standardInput {
		return spool(ctx, func() (io.ReadCloser, error) { return io.NopCloser(in), nil })
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &evidence.Error{Code: "folder", File: path, Message: "this is a folder", Do: "give the files in it: analyze " + path + "/*"}
	case info.Mode().IsRegular():
		return os.Open(path)
	}
	return spool(ctx, func() (io.ReadCloser, error) { return os.Open(path) })
}

// spool copies a stream to a temporary file. To open a pipe and to read it may take for ever, and the context ends both: what is left
// behind ends with the process.
func spool(ctx context.Context, open func() (io.ReadCloser, error)) (*os.File, error) {
	file, err := os.CreateTemp("", "heapdrift-evidence-*")
	if err != nil {
		return nil, fmt.Errorf("temporary copy: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("temporary copy: %w", err), file.Close())
	}
	copied := make(chan error, 1)
	go func() {
		from, err := open()
		if err == nil {
			_, err = io.Copy(struct{ io.Writer }{file}, from)
			err = errors.Join(err, from.Close())
		}
		copied <- err
	}()
	select {
	case err = <-copied:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("temporary copy: %w", err), file.Close())
	}
	return file, nil
}

// checkInputs refuses lists in which the standard input stands twice: it can be read once.
func checkInputs(paths []string) error {
	seen := false
	for _, path := range paths {
		if path == standardInput {
			if seen {
				return &usageError{"the standard input (-) is given twice, and can be read once"}
			}
			seen = true
		}
	}
	return nil
}

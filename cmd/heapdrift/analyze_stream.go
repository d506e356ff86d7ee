package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/push"
	"heapdrift/internal/tempfile"
)

// standardInput is the name that stands for the standard input.
const standardInput = "-"

// openFile opens the file that a name stands for, for reading at any offset. It copies the standard input, pipes and
// devices to a temporary file.
func openFile(ctx context.Context, path string, in io.Reader) (*os.File, error) {
	if path == standardInput {
		return spool(ctx, func() (io.ReadCloser, error) { return io.NopCloser(in), nil })
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &evidence.Error{Code: "folder", File: path, Message: "this is a folder",
			Do: "give the files in it: heapdrift analyze " + quoted(filepath.Join(path, "*"))}
	case info.Mode().IsRegular():
		return os.Open(path)
	}
	return spool(ctx, func() (io.ReadCloser, error) { return os.Open(path) })
}

// spool copies a stream to a temporary file. Opening a pipe and reading it may block for ever. The context ends the
// waiting; the blocked goroutine ends with the process.
func spool(ctx context.Context, open func() (io.ReadCloser, error)) (*os.File, error) {
	file, err := tempfile.New("heapdrift-evidence-")
	if err != nil {
		return nil, err
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
				return &usageError{"the standard input (-) is given twice; it can be read only once"}
			}
			seen = true
		}
	}
	return nil
}

// expand replaces patterns by the files that match: cmd.exe and PowerShell pass patterns on as they are. A file that is
// named twice stays twice.
func expand(names []string) ([]string, error) {
	var files []string
	for _, name := range names {
		if !push.IsPattern(name) {
			files = append(files, name)
			continue
		}
		found, err := push.Expand([]string{name})
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}

// quoted is an argument as a command line takes it: in quotes if it has a space.
func quoted(argument string) string {
	if strings.Contains(argument, " ") {
		return `"` + argument + `"`
	}
	return argument
}

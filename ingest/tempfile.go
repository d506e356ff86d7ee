package ingest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// A tempFile is a file that no folder lists, where the system allows that: it is gone with the process.
type tempFile struct {
	*os.File
	listed bool
}

func newTempFile() (*tempFile, error) {
	f, err := os.CreateTemp("", "heapdrift-*.etl")
	if err != nil {
		return nil, fmt.Errorf("ingest: unpack: %w", err)
	}
	return &tempFile{f, os.Remove(f.Name()) != nil}, nil
}

// fill writes all of r to the file and returns how many bytes that are. Its error is r's own, or says that the file
// could not be written.
func (t *tempFile) fill(r io.Reader) (int64, error) {
	n, err := io.Copy(t.File, r)
	var failed *fs.PathError
	if errors.As(err, &failed) && failed.Path == t.Name() {
		err = fmt.Errorf("ingest: no space left to unpack in the folder for temporary files (TMPDIR) after %d bytes: %w",
			n, failed.Err)
	}
	return n, err
}

// Close deletes the file.
func (t *tempFile) Close() error {
	err := t.File.Close()
	if t.listed {
		err = errors.Join(err, os.Remove(t.Name()))
	}
	return err
}

package ingest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"heapdrift/internal/tempfile"
)

// unpack writes all of r to a temporary file and returns how many bytes that are. The error is r's own, or says that
// the file could not be written. The file is to be closed beside an error, too; without a file it is nil.
func unpack(r io.Reader) (*os.File, int64, error) {
	f, err := tempfile.New("heapdrift-unpacked-")
	if err != nil {
		return nil, 0, fmt.Errorf("ingest: unpack: %w", err)
	}
	n, err := io.Copy(f, r)
	var failed *fs.PathError
	if errors.As(err, &failed) && failed.Path == f.Name() {
		err = fmt.Errorf("ingest: unpack: after %d bytes the folder for temporary files (%s) takes no more: %w",
			n, filepath.Dir(f.Name()), failed.Err)
	}
	return f, n, err
}

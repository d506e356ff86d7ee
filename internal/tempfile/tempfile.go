// Package tempfile makes temporary files that vanish when they are closed, also when the program is killed: on Unix no
// folder lists them from the beginning, on Windows the system deletes them with their last handle.
package tempfile

import (
	"fmt"
	"os"
)

// New makes an empty file in the system's folder for temporary files, open for reading and writing. Its name begins
// with prefix. The file is deleted when it is closed.
func New(prefix string) (*os.File, error) {
	dir := os.TempDir()
	f, err := create(dir, prefix)
	if err != nil {
		return nil, fmt.Errorf("temporary file in %s: %w", dir, err)
	}
	return f, nil
}

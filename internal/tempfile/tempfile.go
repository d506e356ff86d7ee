// Package tempfile makes temporary files that vanish when they are closed, also when the program is killed: on Unix no
// folder lists them from the beginning, on Windows the system deletes them with their last handle.
package tempfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// attempts bounds the search for a name that no other file has.
const attempts = 100

// New makes an empty file in the system's folder for temporary files, open for reading and writing. Its name begins
// with prefix. The file is deleted when it is closed.
func New(prefix string) (*os.File, error) {
	dir := os.TempDir()
	for range attempts {
		f, err := create(filepath.Join(dir, prefix+strconv.FormatUint(rand.Uint64(), 36)))
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("temporary file in %s: %w", dir, err)
		}
	}
	return nil, fmt.Errorf("temporary file in %s: all names that were tried are taken", dir)
}

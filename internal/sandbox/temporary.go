package sandbox

import (
	"errors"
	"fmt"
	"os"
)

// Temporary is a new file that no folder lists: it is gone when both processes have closed it.
func Temporary() (*os.File, error) {
	f, err := os.CreateTemp("", "heapdrift-sandbox-*")
	if err != nil {
		return nil, fmt.Errorf("sandbox: temporary file: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("sandbox: temporary file: %w", err), f.Close())
	}
	return f, nil
}

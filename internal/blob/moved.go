package blob

import (
	"errors"
	"fmt"
	"os"
)

// CheckFolder returns an error where the folder of a store was renamed, replaced or deleted since it was opened: the
// store goes on with the folder that it opened, and whoever starts next finds another one, or none.
func CheckFolder(s Store) error {
	d, ok := s.(*disk)
	if !ok {
		return nil
	}
	opened, err := d.root.Stat(".")
	if err == nil {
		var now os.FileInfo
		if now, err = os.Stat(d.root.Name()); err == nil && os.SameFile(opened, now) {
			return nil
		}
	}
	if err == nil {
		err = errors.New("another folder has its name")
	}
	return fmt.Errorf("blob: the folder of the store %s was renamed or replaced under the program: move it back, or restart: %w",
		d.root.Name(), err)
}

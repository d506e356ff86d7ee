package tempfile

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/windows"
)

// attempts bounds the search for a name that no other file has.
const attempts = 100

// create tries names until no other file has one.
func create(dir, prefix string) (f *os.File, err error) {
	for range attempts {
		f, err = open(filepath.Join(dir, prefix+strconv.FormatUint(rand.Uint64(), 36)))
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return f, err
}

// open asks Windows to delete the file with its last handle: os.Remove fails while a file is open without
// FILE_SHARE_DELETE, which os.CreateTemp does not ask for.
func open(path string) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &os.PathError{Op: "create", Path: path, Err: err}
	}
	handle, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE|windows.DELETE,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil, windows.CREATE_NEW,
		windows.FILE_ATTRIBUTE_TEMPORARY|windows.FILE_FLAG_DELETE_ON_CLOSE, 0)
	if err != nil {
		return nil, &os.PathError{Op: "create", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), nil
}

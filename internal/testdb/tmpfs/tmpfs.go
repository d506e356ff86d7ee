// Package tmpfs makes directories for the clusters of PostgreSQL that tests start: in memory where enough is free,
// since copying databases waits for a disk that others keep busy. Out goes the path of a directory, which its owner
// deletes.
package tmpfs

import (
	"fmt"
	"os"
	"strconv"
)

// prefix starts the names of directories; the number of their process follows.
const prefix = "heapdrift-testdb-"

// MakeInMemoryOrOnDisk makes a directory that the account of a server may enter, and returns its path. It is on the
// disk, in the folder for temporary files, where too little memory is free, and on systems without /dev/shm. Its folder
// postgres is for the cluster: Sweep leaves the directory alone while a process holds the lock in it.
func MakeInMemoryOrOnDisk() (string, error) {
	dir, err := os.MkdirTemp(parent(), prefix+strconv.Itoa(os.Getpid())+"-")
	if err == nil {
		err = os.Chmod(dir, 0o755) // the server may run as another account
	}
	if err != nil {
		return "", fmt.Errorf("tmpfs: make a directory: %w", err)
	}
	return dir, nil
}

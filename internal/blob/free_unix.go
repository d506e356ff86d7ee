//go:build linux || darwin

package blob

import "golang.org/x/sys/unix"

// freeBelow is what the file system of a folder has left for accounts that are not root.
func freeBelow(dir string) (int64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true //nolint:unconvert // sizes of file systems; their types differ by system
}

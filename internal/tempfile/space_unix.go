//go:build linux || darwin

package tempfile

import "golang.org/x/sys/unix"

// Space is what the file system of a folder has left for accounts that are not root, and its size, in bytes; false
// where that is not known.
func Space(dir string) (free, size int64, known bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, false
	}
	block := int64(s.Bsize) //nolint:unconvert // its type differs by system
	return int64(s.Bavail) * block, int64(s.Blocks) * block, true
}

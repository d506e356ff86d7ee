package blob

import "heapdrift/internal/tempfile"

// FreeBytes is how many bytes can still be stored; false where that is unknown, as for S3.
func FreeBytes(s Store) (int64, bool) {
	free, _, known := Space(s)
	return free, known
}

// Space is how many bytes can still be stored, and the size of their disk; false where that is not known, as of S3.
func Space(s Store) (free, size int64, known bool) {
	d, ok := s.(*disk)
	if !ok {
		return 0, 0, false
	}
	return tempfile.Space(d.root.Name())
}

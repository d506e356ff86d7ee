//go:build !linux && !darwin

package tempfile

// Space is not known on this system.
func Space(string) (free, size int64, known bool) { return 0, 0, false }

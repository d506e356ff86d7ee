package memory

import (
	"math"

	"golang.org/x/sys/unix"
)

// available is the memory of the machine, or the largest number where it is not known.
func available() int64 {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil || bytes == 0 || bytes > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(bytes)
}

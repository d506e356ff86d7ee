package minidump

import "time"

// filetimeUnix is 1970-01-01 in FILETIME, which counts 100 ns since 1601.
const filetimeUnix = 116444736000000000

// filetime converts a FILETIME; 0, and what is before 1970, is the zero time.
func filetime(v uint64) time.Time {
	if v < filetimeUnix || v > 1<<63-1 {
		return time.Time{}
	}
	v -= filetimeUnix
	return time.Unix(int64(v/1e7), int64(v%1e7*100)).UTC()
}

// ticks converts a length of time in 100 ns.
func ticks(v uint64) time.Duration { return time.Duration(min(v, (1<<63-1)/100)) * 100 }

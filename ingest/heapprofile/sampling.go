package heapprofile

import (
	"math"

	"heapdrift/ingest/capture"
)

// mostHeld bounds the blocks and bytes of a site, which a damaged line may claim: sums of all sites do not overflow.
const mostHeld = 1 << 40

// estimate is how many blocks and bytes stand behind recorded ones. A profiler that records an allocation in every rate
// bytes on average sees a block of s bytes with the probability 1−e^(−s/rate). So each recorded block stands for the
// inverse of that, at the average size of the recorded blocks. jeprof and pprof estimate in the same way.
func estimate(count, size, rate int64) capture.Usage {
	if rate > 1 && count > 0 && size > 0 {
		seen := -math.Expm1(-float64(size) / float64(count) / float64(rate))
		count, size = scaled(count, seen), scaled(size, seen)
	}
	return capture.Usage{Count: min(count, mostHeld), Bytes: min(size, mostHeld)}
}

func scaled(n int64, seen float64) int64 {
	return int64(math.Round(min(float64(n)/seen, mostHeld)))
}

package allocations

import "math"

// A Point is a stretch of time that begins at Time and lasts to the next point. Times are ns since the trace's start.
type Point struct {
	Time      TraceTime
	LastBytes int64     // outstanding bytes as the stretch ends
	MaxBytes  int64     // most outstanding bytes in it, exact
	MaxAt     TraceTime // when Max was first reached
}

// Instants are n instants that divide the time [from, to] evenly: its ends, and those between.
func Instants(from, to int64, n int) []int64 {
	at := make([]int64, n)
	// As unsigned numbers, which the greatest window does not overflow.
	step := float64(uint64(to)-uint64(from)) / float64(max(n-1, 1))
	for i := range at[:max(n-1, 0)] {
		at[i] = from + int64(uint64(math.Round(step*float64(i))))
	}
	if n > 0 {
		at[n-1] = to
	}
	return at
}

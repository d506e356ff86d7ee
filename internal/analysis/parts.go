package analysis

import (
	"runtime"

	"heapdrift/ingest/crew"
)

// inParts divides n items among all cores and calls do for each part.
func inParts(n int, do func(from, to int)) {
	parts := min(runtime.GOMAXPROCS(0), n/256+1)
	var all crew.Crew
	for p := range parts {
		all.Go(func() { do(n*p/parts, n*(p+1)/parts) })
	}
	all.Wait()
}

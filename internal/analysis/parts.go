package analysis

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
)

// inParts divides n items among all cores and calls do for each part.
func inParts(n int, do func(from, to int)) {
	parts := min(runtime.GOMAXPROCS(0), n/256+1)
	var all crew
	for p := range parts {
		all.Go(func() { do(n*p/parts, n*(p+1)/parts) })
	}
	all.Wait()
}

// A crew works on several cores. Where a part of the work panics, Wait panics, so that one job fails instead of the
// whole program.
type crew struct {
	all    sync.WaitGroup
	first  sync.Once
	failed any // what the first said that panicked; nil for none
}

// Go does work beside its caller.
func (c *crew) Go(do func()) {
	c.all.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				c.first.Do(func() { c.failed = fmt.Sprintf("%v\n%s", p, debug.Stack()) })
			}
		}()
		do()
	})
}

// Wait waits for all work.
func (c *crew) Wait() {
	c.all.Wait()
	if c.failed != nil {
		panic(c.failed)
	}
}

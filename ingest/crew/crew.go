// Package crew does work on several cores without losing a panic. In come functions; a panic in one of them comes out
// in the goroutine that waits, where one job or request fails instead of the whole program.
package crew

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// A Crew is a sync.WaitGroup whose Wait panics where a part of the work has panicked. Its zero value is ready for use.
type Crew struct {
	all    sync.WaitGroup
	first  sync.Once
	failed any // what the first said that panicked, with its stack; nil for none
}

// Go does work beside its caller.
func (c *Crew) Go(do func()) {
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
func (c *Crew) Wait() {
	c.all.Wait()
	if c.failed != nil {
		panic(c.failed)
	}
}

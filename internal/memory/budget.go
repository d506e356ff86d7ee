// Package memory keeps a program within a budget of memory. In comes work as a function; its context ends when the
// budget is used up, and out goes a *LimitError with a sentence for the user, before the system ends the program
// without one.
package memory

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A Budget limits the memory that all work of the program takes together. It counts what the Go runtime has from the
// system and has not given back; pages of mapped files are the system's, which takes them back by itself.
type Budget struct {
	limit   atomic.Int64
	set     chan struct{} // one, when the limit has changed since Enforce looked
	mu      sync.Mutex
	works   []*work       // by the time of their begin
	parts   Size          // taken by Part
	alone   bool          // one work waits for all others to end, or is the only one: no other begins
	changed chan struct{} // closed, and made anew, when one of those above changes

	measured sync.Mutex // held while Enforce looks, and while what is taken is no measure
}

type work struct {
	cancel context.CancelCauseFunc
	budget *Budget
	alone  bool
	ended  bool // its context is
}

// A LimitError is the cause of a context that ended because the budget was used up.
type LimitError struct {
	Limit Size
	alone bool // no other work was running: to try again gives the same
}

// Code is the stable code of a LimitError.
const Code = "memory-exceeded"

func (e *LimitError) Error() string {
	return fmt.Sprintf("memory: the work needs more than its budget of %s; give it more (--memory or HEAPDRIFT_MEMORY), fewer files at once, or one process of a trace", e.Limit)
}

// NewBudget makes a budget; 0 stands for Default().
func NewBudget(limit Size) *Budget {
	b := &Budget{set: make(chan struct{}, 1), changed: make(chan struct{})}
	b.SetLimit(limit)
	return b
}

// SetLimit changes the budget; 0 stands for Default().
func (b *Budget) SetLimit(limit Size) {
	if limit == 0 {
		limit = Default()
	}
	b.limit.Store(int64(limit))
	select {
	case b.set <- struct{}{}:
	default:
	}
}

// Limit is how much the budget is.
func (b *Budget) Limit() Size { return Size(b.limit.Load()) }

// Do runs do with a context that ends when the budget is used up and no younger work is running. If other work was
// running then, do runs once more when that has ended, and no work begins meanwhile: it is unknown which work took the
// memory. The error is a *LimitError where the work alone needs more than the budget. do must not call Do. On a nil
// Budget do is just run.
func (b *Budget) Do(ctx context.Context, do func(context.Context) error) error {
	if b == nil {
		return do(ctx)
	}
	err := b.once(ctx, do, false)
	if e := (*LimitError)(nil); errors.As(err, &e) && !e.alone {
		return b.once(ctx, do, true)
	}
	return err
}

func (b *Budget) once(ctx context.Context, do func(context.Context) error, alone bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &work{cancel: cancel, budget: b, alone: alone}
	ctx = context.WithValue(ctx, workKey{}, w)
	if err := b.begin(ctx, w, alone); err != nil {
		return err
	}
	defer func() {
		if isExceeded(ctx) {
			debug.FreeOSMemory() // while the work still counts as one that ends, so that no other has to
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.works = slices.DeleteFunc(b.works, func(other *work) bool { return other == w })
		b.release(alone)
	}()
	err := do(ctx)
	if err != nil && isExceeded(ctx) {
		return context.Cause(ctx)
	}
	return err
}

// workKey finds the work that a context is of.
type workKey struct{}

// ReservePart reserves a part of the budget for a child process of the work that ctx belongs to: one of so many parts,
// or all of it where the work is alone. Until release is called, this process has the rest of the budget. Outside of Do
// it is a part of Default().
func ReservePart(ctx context.Context, parts int) (size Size, release func()) {
	w, _ := ctx.Value(workKey{}).(*work)
	switch {
	case w == nil:
		return Default() / Size(parts), func() {}
	case w.alone:
		return w.budget.Limit(), func() {}
	}
	size = w.budget.Limit() / Size(parts)
	w.budget.take(size)
	return size, func() { w.budget.take(-size) }
}

func (b *Budget) take(size Size) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parts += size
}

// selfLimit is how much memory this process may take itself. It is above 0 however many child processes there are.
func (b *Budget) selfLimit() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	limit := b.limit.Load()
	return max(limit-int64(b.parts), limit/8)
}

// begin waits until the work may begin, and counts it.
func (b *Budget) begin(ctx context.Context, w *work, alone bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for mine := false; ; { // mine says that b.alone is this work's
		if alone && !b.alone {
			b.alone, mine = true, true
		}
		if mine && len(b.works) == 0 || !alone && !b.alone {
			b.works = append(b.works, w)
			return nil
		}
		changed := b.changed
		b.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		b.mu.Lock()
		if ctx.Err() != nil {
			b.release(mine)
			return context.Cause(ctx)
		}
	}
}

// release tells those that wait that something has changed; alone says that the work was to be alone.
func (b *Budget) release(alone bool) {
	if alone {
		b.alone = false
	}
	close(b.changed)
	b.changed = make(chan struct{})
}

// isExceeded reports whether a context ended because the budget was used up.
func isExceeded(ctx context.Context) bool {
	var exceeded *LimitError
	return errors.As(context.Cause(ctx), &exceeded)
}

// Enforce looks again when the memory that is left can be used up, but not all the time and not too seldom: cores that
// write new memory all the time take some two GB in a second each.
const (
	shortest, longest = 5 * time.Millisecond, 100 * time.Millisecond
	bytesPerSecond    = 4 << 30
)

// until is when Enforce looks again with so many bytes left.
func until(left int64) time.Duration {
	seconds := float64(left) / bytesPerSecond / float64(runtime.GOMAXPROCS(0))
	return min(longest, max(shortest, time.Duration(seconds*float64(time.Second))))
}

// Enforce enforces the budget until ctx is done: while the process takes more, it cancels the work that began last. The
// garbage collector works harder from nine tenths of the budget on, or from GOMEMLIMIT where that is less.
func (b *Budget) Enforce(ctx context.Context) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	next := time.NewTimer(0)
	defer next.Stop()
	for known := int64(0); ; {
		select {
		case <-ctx.Done():
			return
		case <-b.set:
		case <-next.C:
		}
		if limit := b.limit.Load(); limit != known {
			known = limit
			debug.SetMemoryLimit(min(before, limit/10*9))
		}
		b.measured.Lock()
		metrics.Read(samples)
		b.measured.Unlock()
		left := b.selfLimit() - int64(samples[0].Value.Uint64()-samples[1].Value.Uint64())
		if left < 0 {
			b.endYoungest()
		}
		next.Reset(until(left))
	}
}

// endYoungest ends the work that began last, unless one that was ended has not stopped yet: that gives its memory back
// first.
func (b *Budget) endYoungest() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.works) == 0 || slices.ContainsFunc(b.works, func(w *work) bool { return w.ended }) {
		return
	}
	last := b.works[len(b.works)-1]
	last.ended = true
	last.cancel(&LimitError{Limit: b.Limit(), alone: len(b.works) == 1})
}

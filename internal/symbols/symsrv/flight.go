package symsrv

import (
	"context"
	"sync"
)

// flights let callers that want the same thing at the same time share one piece of work. It goes on as long as one of
// them waits.
type flights[T any] struct {
	mu    sync.Mutex
	under map[string]*flight[T]
}

type flight[T any] struct {
	done    chan struct{} // closed when result is set
	result  T
	waiting int
	cancel  context.CancelFunc
}

// do returns what work returns, for all callers with this key, or the context's cause if that ends before.
func (f *flights[T]) do(ctx context.Context, key string, work func(context.Context) T) (T, error) {
	f.mu.Lock()
	fl := f.under[key]
	if fl == nil {
		// The first caller's values, not its end: the others have their own.
		shared, cancel := context.WithCancel(context.WithoutCancel(ctx))
		fl = &flight[T]{done: make(chan struct{}), cancel: cancel}
		if f.under == nil {
			f.under = make(map[string]*flight[T])
		}
		f.under[key] = fl
		go func() {
			defer cancel()
			fl.result = work(shared)
			f.forget(key, fl)
			close(fl.done)
		}()
	}
	fl.waiting++
	f.mu.Unlock()

	select {
	case <-fl.done:
		return fl.result, nil
	case <-ctx.Done():
		f.mu.Lock()
		if fl.waiting--; fl.waiting == 0 {
			fl.cancel()
			f.forgetLocked(key, fl) // whoever comes now starts anew
		}
		f.mu.Unlock()
		var none T
		return none, context.Cause(ctx)
	}
}

func (f *flights[T]) forget(key string, fl *flight[T]) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forgetLocked(key, fl)
}

func (f *flights[T]) forgetLocked(key string, fl *flight[T]) {
	if f.under[key] == fl {
		delete(f.under, key)
	}
}

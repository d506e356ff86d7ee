// Package storetest lets tests read a store: in goes a store, out comes a View of what is in it now.
package storetest

import (
	"context"
	"sync"
	"testing"

	"heapdrift/internal/store"
)

// views are the Views that tests hold, one for each store.
var views = struct {
	sync.Mutex
	end map[*store.Store]func()
}{end: map[*store.Store]func(){}}

// Now returns a View of the store as it is now. It is good until the next call for the same store, which takes its connection over, and
// until the test ends.
func Now(t testing.TB, s *store.Store) store.View {
	t.Helper()
	views.Lock()
	defer views.Unlock()
	if end := views.end[s]; end != nil {
		end()
	} else {
		t.Cleanup(func() {
			views.Lock()
			defer views.Unlock()
			views.end[s]()
			delete(views.end, s)
		})
	}
	view, ended, gone, failed := make(chan store.View), make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(gone)
		failed <- s.View(context.WithoutCancel(t.Context()), func(v store.View) error {
			view <- v
			<-ended
			return nil
		})
	}()
	views.end[s] = sync.OnceFunc(func() {
		close(ended)
		<-gone
	})
	select {
	case v := <-view:
		return v
	case err := <-failed:
		views.end[s] = func() {}
		t.Fatal(err)
		return store.View{}
	}
}

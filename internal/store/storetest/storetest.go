// Package storetest lets tests open and read a store: in goes a store, out comes a View of what is in it now. It also
// makes rows such as older versions left.
package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/accounts"
	"heapdrift/internal/store"
	"heapdrift/internal/testdb"
)

// Anybody is an actor of a server that asks nobody who they are: it may do everything.
var Anybody = &accounts.Actor{Open: true}

// Open opens the store of a new database, and a connection to it for what a store does not do.
func Open(t testing.TB) (*store.Store, *pgx.Conn) {
	t.Helper()
	url := testdb.New(t)
	s, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return s, conn
}

// Must returns a function that returns the value of a call and fails the test for its error.
func Must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// views are the Views that tests hold, one for each store.
var views = struct {
	sync.Mutex
	end map[*store.Store]func()
}{end: map[*store.Store]func(){}}

// Now returns a View of the store as it is now. It is valid until the next call for the same store, and until the test
// ends.
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

// End ends the View that Now gave of a store, so that the store can be closed before its test ends.
func End(s *store.Store) {
	views.Lock()
	defer views.Unlock()
	if end := views.end[s]; end != nil {
		end()
	}
}

// EditSummary changes the stored summary of a run's report, as JSON, in the database at url.
func EditSummary(t testing.TB, url string, run int64, edit func(text []byte) []byte) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }() // what it did is done
	var text []byte
	if err := conn.QueryRow(t.Context(), `select summary from runs where id = $1`, run).Scan(&text); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `update runs set summary = $2 where id = $1`, run, edit(text)); err != nil {
		t.Fatal(err)
	}
}

// ChangeSchema makes the database at url look as if a later version of heapdrift had migrated it.
func ChangeSchema(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("storetest: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }() // what it did is done
	if _, err := conn.Exec(ctx, `insert into goose_db_version (version_id, is_applied) values (99999, true)`); err != nil {
		return fmt.Errorf("storetest: %w", err)
	}
	return nil
}

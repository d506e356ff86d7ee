package store

import (
	"context"

	"heapdrift/internal/store/internal/db"
)

// A View is one snapshot of the database: all that is read through it is of one instant, however many statements it
// takes. Pages and the API read through a View, and so do jobs that work from lists. It is valid within the function
// that it is passed to, for one goroutine.
type View struct{ db.View }

// View calls f with a snapshot and returns its error as it is. The snapshot holds one of the store's few connections: f
// must not wait for anything but the database.
func (s *Store) View(ctx context.Context, f func(View) error) error {
	return db.Snapshot(ctx, s, func(v db.View) error { return f(View{v}) })
}

// Read returns what f reads in one View.
func Read[T any](ctx context.Context, s *Store, f func(View) (T, error)) (T, error) {
	var result T
	err := s.View(ctx, func(v View) (err error) {
		result, err = f(v)
		return err
	})
	return result, err
}

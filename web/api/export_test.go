package api

import (
	"context"

	"heapdrift/internal/store"
)

// Terminate deletes an upload as the sweeper does, which has seen it as it was.
func (a *API) Terminate(ctx context.Context, id string, seen *store.Upload) error {
	return a.terminate(ctx, id, seen)
}

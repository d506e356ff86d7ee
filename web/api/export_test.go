package api

import (
	"context"

	"heapdrift/internal/store/uploadstore"
)

// Terminate deletes an upload as the sweeper does, in the state in which it was read before.
func (a *API) Terminate(ctx context.Context, id string, seen *uploadstore.Upload) error {
	return a.terminate(ctx, id, seen)
}

package ingest

import (
	"context"

	"heapdrift/ingest/ntheap"
)

// TypesFrom makes Options.Types from a search that returns a nil pointer where it finds nothing: in an interface, such
// a pointer would not be nil.
func TypesFrom[T any, P interface {
	*T
	ntheap.Types
}](find func(ctx context.Context, pdb, debugID string) P) func(context.Context, string, string) ntheap.Types {
	return func(ctx context.Context, pdb, debugID string) ntheap.Types {
		if t := find(ctx, pdb, debugID); t != nil {
			return t
		}
		return nil
	}
}

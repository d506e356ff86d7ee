package queue

import (
	"context"
	"errors"

	"heapdrift/internal/store"
)

// retire has the node take no more jobs: a newer version has changed the database. Waiting jobs go to the workers of
// the newer version.
func (n *Node) retire(why error) {
	if n.retired.CompareAndSwap(nil, &why) {
		n.opt.Log.Error("queue: takes no more jobs", "error", why)
		close(n.leave)
	}
}

// Retired returns the reason why the node takes no more jobs; nil while it takes them.
func (n *Node) Retired() error {
	if why := n.retired.Load(); why != nil {
		return *why
	}
	return nil
}

// retireIfOutdated retires the node, and reports true, where the database has a schema that this version does not know.
// Then the failure is not the job's fault.
func (n *Node) retireIfOutdated(ctx context.Context, failed error) bool {
	var known *Error
	if errors.As(failed, &known) {
		return false // it says what is wrong with the evidence
	}
	newer := n.store.CheckSchema(ctx)
	if !errors.Is(newer, store.ErrSchema) {
		return false
	}
	n.retire(newer)
	return true
}

package etl

import "context"

// Operations are handed over in batches, so that passing them on costs little, and a few batches may be under way.
const (
	batchSize = 512
	batches   = 4
)

// A batchQueue passes operations from the goroutine that joins them to the one that asked for them.
type batchQueue struct {
	full  chan []Operation
	empty chan []Operation
	batch []Operation // being filled
	ctx   context.Context
}

func newHandover(ctx context.Context) *batchQueue {
	h := &batchQueue{full: make(chan []Operation, batches), empty: make(chan []Operation, batches), ctx: ctx}
	h.batch = make([]Operation, 0, batchSize)
	for range batches - 1 {
		h.empty <- make([]Operation, 0, batchSize)
	}
	return h
}

// put passes on one operation.
func (h *batchQueue) put(o *Operation) error {
	h.batch = append(h.batch, *o)
	if len(h.batch) < batchSize {
		return nil
	}
	return h.flush()
}

// flush passes on the batch.
func (h *batchQueue) flush() error {
	if len(h.batch) == 0 {
		return nil
	}
	select {
	case <-h.ctx.Done():
		return context.Cause(h.ctx)
	case h.full <- h.batch:
	}
	select {
	case <-h.ctx.Done():
		return context.Cause(h.ctx)
	case h.batch = <-h.empty:
		h.batch = h.batch[:0]
	}
	return nil
}

// each calls fn with every batch until there are no more. An error of fn ends what fills them.
func (h *batchQueue) each(stop context.CancelFunc, fn func([]Operation) error) (err error) {
	for batch := range h.full {
		if err == nil {
			if err = fn(batch); err != nil {
				stop()
			}
		}
		h.empty <- batch
	}
	return err
}

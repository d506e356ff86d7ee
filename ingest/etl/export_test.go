package etl

import (
	"context"

	"heapdrift/ingest/capture"
)

// Operations is OperationBatches, one at a time.
func (t *Trace) Operations(ctx context.Context, opt JoinOptions, fn func(*Operation) error) (*JoinResult, error) {
	return t.OperationBatches(ctx, opt, func(batch []Operation) error {
		for i := range batch {
			if err := fn(&batch[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// Warnings are those of all processes.
func (j *JoinResult) Warnings() []capture.Warning {
	var uses stackUses
	for i := range allocating {
		uses[i] = j.Stacked[allocating[i].kind]
	}
	return j.warnings(uses, j.Processes)
}

// Any reports whether events are missing for whatever reason.
func (l *Losses) Any() bool { return l.inside() || l.Overwritten != 0 || l.Truncated }

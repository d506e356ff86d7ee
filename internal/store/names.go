package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/store/internal/db"
)

// A SymbolSearch is a search for the symbols of a run that has begun.
type SymbolSearch struct {
	Captures []CaptureRef
	begun    int64 // the how manieth search of the run this is: a later one knows all that an earlier one does
}

// BeginSymbolSearch begins a search, and returns the captures whose frames are to be named.
func (s *Store) BeginSymbolSearch(ctx context.Context, run int64) (SymbolSearch, error) {
	var n SymbolSearch
	err := db.Tx(ctx, s, "begin naming", func(tx pgx.Tx) (err error) {
		if n.begun, err = db.Value[int64](ctx, tx,
			`update runs set names_begun = names_begun + 1 where id = $1 returning names_begun`, run); err != nil {
			return db.Wrap("begin naming", err)
		}
		n.Captures, err = capturesOf(ctx, tx, run)
		return err
	})
	return n, err
}

// UpdateNames stores the key of the blob with the names that a search found, ends the job and queues the analysis, in
// one transaction. Names of a search that began before the one that is stored are dropped. It returns ErrFenced when
// the lease is lost.
func (s *Store) UpdateNames(ctx context.Context, l Lease, n SymbolSearch, key string) error {
	return db.Tx(ctx, s, "save names", func(tx pgx.Tx) error {
		if err := finish(ctx, tx, l); err != nil {
			return err
		}
		if err := s.checkBlobs(ctx, tx, key); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `
			update runs set names_key = $3, names_error = '', names_rev = $2, input_rev = input_rev + 1 where id = $1 and names_rev < $2`, l.RunID, n.begun, key)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return decideSettled(ctx, tx, l.RunID)
		}
		return queueJob(ctx, tx, JobAnalyse, l.RunID)
	})
}

// CreateSymboliseJob queues a search for the run's symbols, or returns ErrNotFound. It queues none for a run of which
// nothing was read.
func (s *Store) CreateSymboliseJob(ctx context.Context, run int64) error {
	return db.Tx(ctx, s, "queue symbolise", func(tx pgx.Tx) error {
		read, err := db.Value[bool](ctx, tx, `
			select exists (select from captures c join evidence e on e.id = c.evidence_id where e.run_id = runs.id) from runs where id = $1 for share`, run)
		if err != nil || !read {
			return db.Wrap("run", err)
		}
		return queueJob(ctx, tx, JobSymbolise, run)
	})
}

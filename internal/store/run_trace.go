package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"heapdrift/internal/analysis"
)

// A RunTrace is what the report of a run says of its trace, as far as windows need it.
type RunTrace struct {
	Report string // blob of the report; another one has other sites
	Table  Table  // zero where the report is of snapshots
	Head   *analysis.Report
	Sites  []analysis.SiteRows // by rank
}

// TraceReport returns which report and which table the windows of a run rest on, or says ErrNotFound before the first
// result.
func (s *Store) TraceReport(ctx context.Context, run int64) (report string, t Table, err error) {
	err = s.pool.QueryRow(ctx, `select report_key, table_key, table_bytes, table_site_count from runs where id = $1 and analysed_at is not null`, run).
		Scan(&report, &t.Key, &t.Bytes, &t.Sites)
	return report, t, wrap("report of run", err)
}

// TraceOfRun returns what windows of a run's trace need: the report without its sites, and which rows of the table its
// sites have. All is of one result. It returns ErrNotFound before the first.
func (s *Store) TraceOfRun(ctx context.Context, run int64) (*RunTrace, error) {
	t := &RunTrace{Head: &analysis.Report{}}
	err := s.tx(ctx, "trace of run", func(tx pgx.Tx) error {
		// One look at the rows for both queries: a result that is replaced between them would mix two.
		if _, err := tx.Exec(ctx, `set transaction isolation level repeatable read, read only`); err != nil {
			return err
		}
		var summary []byte
		err := tx.QueryRow(ctx, `select report_key, table_key, table_bytes, table_site_count, summary from runs where id = $1 and summary is not null`, run).
			Scan(&t.Report, &t.Table.Key, &t.Table.Bytes, &t.Table.Sites, &summary)
		if err != nil {
			return wrap("trace of run", err)
		}
		if err := json.Unmarshal(summary, t.Head); err != nil {
			return fmt.Errorf("summary of run %d: %w", run, err)
		}
		rows, err := tx.Query(ctx, `select ordinal, kind, heap, table_sites from sites where run_id = $1 order by ordinal`, run)
		if err != nil {
			return err
		}
		var site analysis.SiteRows
		_, err = pgx.ForEachRow(rows, []any{&site.Ordinal, &site.Kind, &site.Heap, &site.Numbers}, func() error {
			t.Sites = append(t.Sites, site)
			site.Numbers = nil // the next row must not write into this one's
			return nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

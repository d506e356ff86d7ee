package store

import (
	"context"

	"heapdrift/internal/analysis"
	"heapdrift/internal/store/internal/db"
)

// A RunTrace has the parts of a run's report of its trace that windows need.
type RunTrace struct {
	ReportKey string          // key of the blob with the report; another report has other sites
	Table     AllocationTable // zero where the report is of snapshots
	Summary   *analysis.Report
	Sites     []analysis.SiteRows // in the order of the report
}

// FindTraceReport returns the key of the report and the allocation table that windows of a run rest on; ErrNotFound
// before the first result.
func (v View) FindTraceReport(ctx context.Context, run int64) (report string, t AllocationTable, err error) {
	type row struct {
		tableRow
		ReportKey string
	}
	r, err := db.One[row](ctx, db.Q(v),
		`select report_key, table_key, table_bytes, table_site_count from runs where id = $1 and analysed_at is not null`, run)
	return r.ReportKey, r.table(), db.Wrap("report of run", err)
}

// FindRunTrace returns what windows of a run's trace need: the report without its sites, and which rows of the table
// its sites have. It returns ErrNotFound before the first result.
func (v View) FindRunTrace(ctx context.Context, run int64) (*RunTrace, error) {
	type row struct {
		tableRow
		ReportKey string
		Summary   []byte
	}
	r, err := db.One[row](ctx, db.Q(v),
		`select report_key, table_key, table_bytes, table_site_count, summary from runs where id = $1 and summary is not null`, run)
	if err != nil {
		return nil, db.Wrap("trace of run", err)
	}
	head, err := summaryOf(run, r.Summary)
	if err != nil {
		return nil, err
	}
	sites, err := db.All[analysis.SiteRows](ctx, db.Q(v),
		`select ordinal, kind, heap, table_sites from sites where run_id = $1 order by ordinal`, run)
	if err != nil {
		return nil, db.Wrap("trace of run", err)
	}
	return &RunTrace{ReportKey: r.ReportKey, Table: r.table(), Summary: head, Sites: sites}, nil
}

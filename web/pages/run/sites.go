package run

import (
	"context"
	"fmt"
	"slices"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/leaks"
	"heapdrift/internal/query"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// A siteTable is one page of a run's sites.
type siteTable struct {
	listing
	project   string
	source    ui.Source // its links are read with the row that is open
	total     int64     // that the listing has on all its pages
	all       int64     // of the run, or of those that a window has anything of
	rows      []store.SiteRow
	heaps     []analysis.Heap
	snapshots int
	trace     *traceView // nil for snapshots
	detail    *siteView  // of the row that is open
	// selected says that rows have the numbers of the selection, not those of the whole run, which stored has.
	selected bool
	stored   []store.SiteRow
	// judgedAlone says that classes are those of the selection, part which snapshots of a series are selected.
	judgedAlone bool
	part        *query.Snapshots
}

// judged says what the classes of the table are of.
func (t siteTable) judged() string { return judgedText(&t.listing, t.judgedAlone, t.part, t.snapshots) }

// sites reads the page that a listing chooses; one behind the end becomes the last.
func (r *reader) sites(ctx context.Context, run store.Run, report *analysis.Report, l listing,
	trace *traceView) (siteTable, error) {
	t := siteTable{listing: l, project: run.Project, source: sourceOf(run), all: run.SiteCount, heaps: report.Heaps,
		snapshots: len(report.Snapshots), trace: trace}
	read := map[string]func(context.Context, *siteTable) error{
		bySelection: r.selectedSites, byWindow: r.windowSites, byStore: r.storedSites}[t.answeredBy(r.asked.index != nil)]
	if err := read(ctx, &t); err != nil {
		return t, err
	}
	for _, row := range t.openable() {
		if row.Ordinal != t.open {
			continue
		}
		var err error
		if t.detail, err = r.siteView(ctx, t, report, row); err != nil {
			return t, err
		}
	}
	return t, nil
}

// What answers for the rows of a table.
const bySelection, byWindow, byStore = "selection", "window", "store"

// answeredBy names what answers for the rows. indexed says that there is an index for selections.
func (t *siteTable) answeredBy(indexed bool) string {
	switch {
	case indexed && t.more != (query.Selection{}):
		return bySelection
	case t.trace != nil && t.trace.windowed != nil:
		return byWindow
	}
	return byStore
}

// openable are the rows of which one may be open: beside the selection, a trace tells of its whole time.
func (t *siteTable) openable() []store.SiteRow {
	if t.selected && t.trace != nil {
		return t.stored
	}
	return t.rows
}

// storedSites reads a page whose order the store knows.
func (r *reader) storedSites(ctx context.Context, t *siteTable) (err error) {
	if !store.ValidSiteOrder(t.order) {
		t.order = "growth"
	}
	if t.rows, t.total, err = r.ListSites(ctx, t.query()); err != nil {
		return err
	}
	if last := pagesOf(t.total); len(t.rows) == 0 && t.page > last && last > 0 {
		t.listing = t.at(last)
		t.rows, t.total, err = r.ListSites(ctx, t.query())
	}
	return err
}

// manyHeaps reports whether the table says which heap a site is in.
func (t siteTable) manyHeaps() bool { return len(t.heaps) > 1 }

// columns is how many the table has.
func (t siteTable) columns() int {
	switch {
	case t.trace != nil:
		return 4 + len(t.numbers())
	case t.manyHeaps():
		return 9
	}
	return 8
}

// classes are what sites may be filtered by; only traces know transient ones.
func (t siteTable) classes() []string {
	if t.trace != nil {
		return leaks.ClassFilters
	}
	return slices.DeleteFunc(slices.Clone(leaks.ClassFilters),
		func(c string) bool { return c == string(analysis.ClassTransient) })
}

// extent says which of how many sites the page shows.
func (t siteTable) extent() string {
	of := quantity.Count(t.total)
	if t.isFiltered() {
		of += " of " + quantity.Count(t.all)
	}
	if t.total <= pageSize {
		return of
	}
	first := int64(t.page-1)*pageSize + 1
	return fmt.Sprintf("%s–%s of %s", quantity.Count(first), quantity.Count(first+int64(len(t.rows))-1), of)
}

// A sortColumn is a heading that sorts.
type sortColumn struct {
	order     store.SiteOrder
	text      string
	class     string
	title     string
	direction string // as aria-sort says it
}

var (
	sortName = sortColumn{"name", "Blamed function", "",
		"first own frame below the allocator; else the first third-party frame, else of Windows",
		"ascending"}
	sortBytes  = sortColumn{"bytes", "Bytes", "num", "requested bytes held at the last snapshot", "descending"}
	sortBlocks = sortColumn{"blocks", "Blocks", "num", "blocks held at the last snapshot", "descending"}
	sortGrowth = sortColumn{"growth", "Growth", "num", "bytes at the last snapshot minus bytes at the first", "descending"}
	sortCount  = sortColumn{"count", "Δ blocks", "num", "blocks at the last snapshot minus blocks at the first",
		"descending"}
)

// flagTexts say what a flag of a site means: in the table, and in full.
var flagTexts = map[string]struct{ short, long string }{
	analysis.FlagAmbiguous: {"alias",
		"The evidence has several possible stacks for these blocks."},
	analysis.FlagTruncated: {"cut", "The stack reached the recording limit of Windows: outer frames are missing."},
	analysis.FlagNoStack:   {"no stack", "The evidence has no stack for these blocks."},
	analysis.FlagLine:      {"no stack", "The debug CRT lists these blocks by file and line, without a call stack."},
}

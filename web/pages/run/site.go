package run

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/query"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// site handles GET /runs/:id/sites/:ordinal: a site's stack, series and ids, as a row to put below its own. Without
// htmx it leads to the page of the run on which the site is, opened.
func site(ctx context.Context, c echo.Context, r *reader, run store.Run) (answer, error) {
	ordinal, err := strconv.ParseInt(c.Param("ordinal"), 10, 32)
	if err != nil || ordinal < 0 {
		return answer{}, store.ErrNotFound
	}
	row, err := r.FindSite(ctx, run.ID, int(ordinal))
	if err != nil {
		return answer{}, err
	}
	summary, err := r.FindSummary(ctx, run.ID)
	if err != nil {
		return answer{}, err
	}
	t := siteTable{listing: listingOf(run.ID, c, summary), heaps: summary.Heaps,
		project: run.Project, source: sourceOf(run)}
	if err := r.inPart(ctx, &t.listing, &row); err != nil {
		return answer{}, err
	}
	if !ui.IsFragment(c) {
		to := listing{run: run.ID, order: "growth", view: viewSites, page: int(ordinal)/pageSize + 1, open: int(ordinal)}
		return answer{to: templ.SafeURL(fmt.Sprintf("%s#s%d", to.url(), ordinal))}, nil
	}
	if summary.Trace != nil {
		if t.trace, err = r.trace(ctx, run, summary, &t.listing); err != nil {
			return answer{}, err
		}
	}
	view, err := r.siteView(ctx, t, summary, row)
	if err != nil {
		return answer{}, err
	}
	return answer{page: siteDetail(*view)}, nil
}

// inPart gives a site its numbers in the part of a series that is selected.
func (r *reader) inPart(ctx context.Context, l *listing, row *store.SiteRow) error {
	if r.asked.index == nil || l.more.Snapshots == (query.Range{}) {
		return nil
	}
	result, err := r.asked.index.Ask(ctx, query.Selection{Snapshots: l.more.Snapshots}, nil)
	if err != nil {
		return err
	}
	var held analysis.Amounts
	if at := slices.IndexFunc(result.Sites, func(s query.Site) bool { return s.Ordinal == row.Ordinal }); at >= 0 {
		held = result.Sites[at].Amounts
	}
	takeAmounts(row, held)
	return nil
}

// A siteView is a site with all that its row has no room for.
type siteView struct {
	store.SiteRow
	stacks    [][]*analysis.Frame // its own, then those under the same id; none where none was recorded
	snapshots []analysis.Snapshot
	columns   int
	trace     *traceView // nil for snapshots
	project   string
	layers    *ui.LayeredStack // nil without a stack
	source    ui.Source
}

func (r *reader) siteView(ctx context.Context, t siteTable, report *analysis.Report,
	row store.SiteRow) (*siteView, error) {
	view := &siteView{SiteRow: row, snapshots: report.Snapshots, columns: t.columns(), trace: t.trace, project: t.project}
	if row.StackID == nil {
		return view, nil
	}
	ids := append([]int64{*row.StackID}, row.AliasIDs...)
	frames, err := r.ListStackFrames(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		view.stacks = append(view.stacks, frames[id])
	}
	view.source = t.source
	if view.source.Links, err = r.FindSourceLinks(ctx, t.project); err != nil {
		return nil, err
	}
	view.layers = ui.LayeredStackOf(t.project, view.stacks[0], nil)
	return view, nil
}

// sourceOf is what links to source need to know of a run.
func sourceOf(run store.Run) ui.Source { return ui.Source{Build: run.Build, Branch: run.Branch} }

// siteURL is a site as a row to put below its own, with its numbers in the window or the snapshots of the listing.
func (l listing) siteURL(ordinal int) string {
	address := fmt.Sprintf("/runs/%d/sites/%d", l.run, ordinal)
	part := query.Selection{Snapshots: l.more.Snapshots}.Values()
	if l.window.named {
		part.Set("from", seconds(l.window.From))
		part.Set("to", seconds(l.window.To))
	}
	if len(part) > 0 {
		address += "?" + part.Encode()
	}
	return address
}

// A step is one snapshot in a site's series.
type step struct {
	taken  string
	bytes  int64
	change ui.GrowthText // since the snapshot before
}

func (v siteView) steps() []step {
	list := make([]step, len(v.Series))
	for i, bytes := range v.Series {
		list[i] = step{bytes: bytes, change: ui.GrowthText{Class: "flat"}}
		if i > 0 {
			delta := bytes - v.Series[i-1]
			list[i].change = ui.BytesGrowthText(&delta)
		}
		if i < len(v.snapshots) {
			list[i].taken = localTime(v.snapshots[i].TakenAt)
		}
	}
	return list
}

// average is the size of a block, with a sign where blocks differ in size; "" where there are none.
func (v siteView) average() string {
	return averageOf(analysis.Amount{Count: v.Count, Bytes: v.Bytes})
}

func averageOf(a analysis.Amount) string {
	if a.Count <= 0 {
		return ""
	}
	if a.Bytes%a.Count == 0 {
		return ui.ExactBytes(a.Bytes / a.Count)
	}
	return "≈ " + quantity.Bytes(a.Bytes/a.Count)
}

// allocatedType is what the blocks were allocated as, where the compiler recorded it for a call of the stack. A
// recorded void says nothing.
func (v siteView) allocatedType() string {
	if len(v.stacks) == 0 {
		return ""
	}
	for _, f := range v.stacks[0] {
		if f.Type != "" && f.Type != "void" {
			return f.Type
		}
	}
	return ""
}

package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/store"
)

// windowView is the numbers of a run in a window of its trace.
type windowView struct {
	Run       int64            `json:"run"`
	Window    analysis.Window  `json:"window"`
	Totals    analysis.Totals  `json:"totals"`
	Heaps     []heapView       `json:"heaps"`
	SiteCount int              `json:"site_count"` // in all
	Sites     []windowSiteView `json:"sites"`      // most growth first
}

type heapView struct {
	Handle string `json:"handle"`
	analysis.Amounts
}

type windowSiteView struct {
	Ordinal   int    `json:"ordinal"` // in the run's report
	Signature string `json:"signature"`
	Kind      string `json:"kind"`
	Heap      string `json:"heap"`
	Blame     string `json:"blame"`
	Place     string `json:"place"`
	Verdict   string `json:"verdict"`
	analysis.Amounts
}

// defaultTop is how many sites a window shows unless the request says.
const defaultTop = 20

// runWindow handles GET /api/v1/runs/:id/window: the numbers of the report's sites in a window of the trace.
func (a *API) runWindow(c echo.Context) error {
	id, err := runID(c)
	if err != nil {
		return err
	}
	w, err := exactWindow(c)
	if err != nil {
		return err
	}
	top, err := reportTop(c)
	if err != nil {
		return err
	}
	if c.QueryParam("top") == "" {
		top = defaultTop
	}
	view, err := a.windowOf(c.Request().Context(), id, w, top)
	if err != nil {
		return err
	}
	return fresh(c, http.StatusOK, view)
}

// windowOf computes numbers and reads the names that belong to them in one View.
func (a *API) windowOf(ctx context.Context, id int64, w capture.Window, top int) (*windowView, error) {
	if _, err := store.Read(ctx, a.store,
		func(v store.View) (store.Run, error) { return runWithReport(ctx, v, id) }); err != nil {
		return nil, err
	}
	done, err := a.windows.Prepare(ctx, id)
	if err != nil {
		return nil, err
	}
	defer done()
	return store.Read(ctx, a.store, func(v store.View) (*windowView, error) {
		windowed, err := a.windows.Window(ctx, v, id, w)
		if err != nil {
			return nil, err
		}
		chosen := most(windowed.Sites, top)
		ordinals := make([]int, len(chosen))
		for i, s := range chosen {
			ordinals[i] = s.Ordinal
		}
		rows, _, err := v.ListSites(ctx, store.SiteQuery{RunID: id, Ordinals: ordinals, Limit: len(ordinals)})
		if err != nil {
			return nil, err
		}
		if len(rows) != len(chosen) {
			return nil, fmt.Errorf("api: window of run %d: the table has sites that the report does not have", id)
		}
		return viewOfWindow(id, windowed, chosen, rows), nil
	})
}

// most are the sites that grew most, of all those in the window; top 0 for all.
func most(sites []analysis.WindowSite, top int) []*analysis.WindowSite {
	list := make([]*analysis.WindowSite, len(sites))
	for i := range sites {
		list[i] = &sites[i]
	}
	slices.SortFunc(list, func(a, b *analysis.WindowSite) int {
		return cmp.Or(cmp.Compare(b.Growth.Bytes, a.Growth.Bytes), cmp.Compare(b.Growth.Count, a.Growth.Count),
			cmp.Compare(a.Ordinal, b.Ordinal))
	})
	if top > 0 && top < len(list) {
		list = list[:top]
	}
	return list
}

func viewOfWindow(run int64, w *analysis.WindowNumbers, chosen []*analysis.WindowSite,
	rows []store.SiteRow) *windowView {
	view := &windowView{Run: run, Window: w.Window, Totals: w.Totals, Heaps: []heapView{}, SiteCount: len(w.Sites),
		Sites: []windowSiteView{}}
	for i := range w.Heaps {
		view.Heaps = append(view.Heaps, heapView{w.Heaps[i].Handle, w.Heaps[i].Amounts})
	}
	byOrdinal := map[int]*store.SiteRow{}
	for i := range rows {
		byOrdinal[rows[i].Ordinal] = &rows[i]
	}
	for _, s := range chosen {
		row := byOrdinal[s.Ordinal]
		view.Sites = append(view.Sites, windowSiteView{s.Ordinal, row.Signature, row.Kind, row.Heap, row.Blame, row.Place,
			string(s.Verdict), s.Amounts})
	}
	return view
}

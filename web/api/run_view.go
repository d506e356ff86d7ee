package api

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/export"
	"heapdrift/internal/query"
	"heapdrift/internal/store"
	"heapdrift/internal/tempfile"
	"heapdrift/web/etag"
	"heapdrift/web/problem"
)

// A viewAnswer is a view of a selection of a run.
type viewAnswer struct {
	Run       int64            `json:"run"`
	View      string           `json:"view"`
	Selection url.Values       `json:"selection"` // as the address has it; {} for the whole run
	Window    *analysis.Window `json:"window,omitempty"`
	Judged    string           `json:"judged"` // what classes and scores are of: the selection or the run
	Metric    string           `json:"metric,omitempty"`
	Total     int              `json:"total"` // rows in all, of which limit and offset choose some
	Rows      any              `json:"rows"`
}

// A viewRequest is what a view is made by.
type viewRequest struct {
	*query.Result
	metric        query.Metric
	blocks        bool
	limit, offset int
	function      string
}

// A shownView is a view in its two forms. cells is nil where it is no table.
type shownView struct {
	body  any
	cells *query.Cells
}

// views are the views of a selection, by name.
var views = map[string]func(ctx context.Context, q *viewRequest) (shownView, error){
	"totals": func(_ context.Context, q *viewRequest) (shownView, error) { return shownView{body: q.Totals()}, nil },
	"ranked": func(_ context.Context, q *viewRequest) (shownView, error) {
		ranked := q.Ranked(q.metric)
		rows := ranked.Rows(0, ranked.Len()) // CSV has all
		q.WithSeries(rows[min(q.offset, len(rows)):min(q.offset+q.limit, len(rows))])
		return shownView{page(q, len(rows), rows), query.CellsOfRows(rows)}, nil
	},
	"modules": func(_ context.Context, q *viewRequest) (shownView, error) {
		return groupsView(q, "module", q.Modules(q.metric)), nil
	},
	"heaps": func(_ context.Context, q *viewRequest) (shownView, error) {
		return groupsView(q, "heap", q.Heaps(q.metric)), nil
	},
	"sizes": func(ctx context.Context, q *viewRequest) (shownView, error) {
		sizes, err := q.Sizes(ctx)
		if err != nil {
			return shownView{}, err
		}
		return shownView{sizes, sizes.Cells()}, nil
	},
	"lifetimes": func(ctx context.Context, q *viewRequest) (shownView, error) {
		return allocationsView(q.Lifetimes(ctx, q.limit))
	},
	"blocks": func(ctx context.Context, q *viewRequest) (shownView, error) {
		return allocationsView(q.Blocks(ctx, q.limit))
	},
	"functions": func(_ context.Context, q *viewRequest) (shownView, error) {
		return groupsView(q, "function", q.Functions(q.metric)), nil
	},
	"butterfly": func(_ context.Context, q *viewRequest) (shownView, error) {
		if err := q.needsFunction(); err != nil {
			return shownView{}, err
		}
		b := q.Butterfly(q.metric, q.function)
		return shownView{b, b.Cells()}, nil
	},
	"tree":    treeView(query.Whole),
	"callers": treeView(query.Callers),
	"callees": treeView(query.Callees),
}

// page is the rows that limit and offset choose.
func page[T any](q *viewRequest, total int, rows []T) *viewAnswer {
	from := min(q.offset, total)
	return &viewAnswer{Metric: q.metric.Name, Total: total, Rows: append([]T{}, rows[from:min(total, from+q.limit)]...)}
}

func groupsView(q *viewRequest, name string, groups []query.Group) shownView {
	return shownView{page(q, len(groups), groups), query.CellsOfGroups(name, groups)}
}

func allocationsView(a *query.Allocations, err error) (shownView, error) {
	if err != nil {
		return shownView{}, err
	}
	return shownView{a, a.Cells()}, nil
}

// needsFunction says that a view is about a function, where the address names none.
func (q *viewRequest) needsFunction() error {
	if q.function == "" {
		return problem.Invalid("of", "of: name the function whose callers or callees are asked for, as module!function")
	}
	return nil
}

func treeView(d query.Direction) func(context.Context, *viewRequest) (shownView, error) {
	return func(ctx context.Context, q *viewRequest) (shownView, error) {
		if d != query.Whole {
			if err := q.needsFunction(); err != nil {
				return shownView{}, err
			}
		}
		tree, err := q.Tree(ctx, query.TreeQuestion{Metric: q.metric, Blocks: q.blocks, Direction: d, Function: q.function})
		return shownView{body: tree}, err
	}
}

// exported are the formats of reports that a selection is written in whatever the view: they hold all its sites.
var exported = []string{"folded", "pprof", "speedscope", "umdh-text"}

// runView handles GET /api/v1/runs/:id/views/:view: a part of a run, as the parameters select it, in one of its views.
// format=csv writes tables, folded, pprof, speedscope and umdh-text write the sites that are selected for other tools,
// and parquet the allocations of a trace that are.
func (a *API) runView(c echo.Context) error {
	id, err := runID(c)
	if err != nil {
		return err
	}
	name := c.Param("view")
	show := views[name]
	if show == nil {
		return problem.New(http.StatusNotFound, problem.CodeNotFound, "there is no view %q", name)
	}
	selection, err := query.Parse(c.QueryParams())
	if err != nil {
		return err
	}
	format, err := oneOf(c, "format", slices.Concat([]string{"json", "csv", formatParquet}, exported)...)
	if err != nil {
		return err
	}
	q := viewRequest{function: cmp.Or(c.QueryParam("of"), selection.Function)}
	if q.limit, err = whole(c, "limit", 200, 1, query.MaxAllocations); err != nil {
		return err
	}
	if q.offset, err = whole(c, "offset", 0, 0, 1<<30); err != nil {
		return err
	}
	unit, err := oneOf(c, "unit", "bytes", "blocks")
	if err != nil {
		return err
	}
	q.blocks = unit == "blocks"
	ctx := c.Request().Context()
	run, err := store.Read(ctx, a.store, func(v store.View) (store.Run, error) { return runWithReport(ctx, v, id) })
	if err != nil {
		return err
	}
	tag := etag.Weak(fmt.Sprintf("%s-%s-%s", run.ReportKey, name, c.QueryString()))
	c.Response().Header().Set("ETag", tag)
	c.Response().Header().Set("Cache-Control", "private, no-cache")
	if etag.IsKnown(c.Request(), tag) {
		return c.NoContent(http.StatusNotModified)
	}
	table, done, err := a.windows.Table(ctx, id, run.ReportKey)
	if err != nil {
		return err
	}
	defer done()
	index, err := a.queries.Index(ctx, run.ReportKey)
	if err != nil {
		return err
	}
	if q.metric, err = index.Metric(c.QueryParam("metric")); err != nil {
		return err
	}
	if q.Result, err = index.Ask(ctx, selection, table); err != nil {
		return err
	}
	switch {
	case format == formatParquet:
		return a.exportTable(c, &run, q.Result, done)
	case slices.Contains(exported, format):
		return a.exportSelection(c, &run, q.Result, format)
	}
	shown, err := show(ctx, &q)
	if err != nil {
		return err
	}
	if format == "csv" {
		if shown.cells == nil {
			return problem.Invalid("format", "format: the view %s is no table; ask for json, folded, pprof or speedscope", name)
		}
		return a.attach(c, &run, downloadName(&run, "-"+name+".csv"), "text/csv; charset=utf-8", shown.cells.WriteCSV)
	}
	if answer, ok := shown.body.(*viewAnswer); ok {
		answer.Run, answer.View, answer.Selection, answer.Window, answer.Judged = id, name, selection.Values(),
			q.Window, q.JudgedScope()
	}
	return c.JSON(http.StatusOK, shown.body)
}

// exportSelection writes the sites that are selected in a format of reports.
func (a *API) exportSelection(c echo.Context, run *store.Run, r *query.Result, name string) error {
	format, err := export.FindFormat(name)
	if err != nil {
		return err
	}
	return a.attach(c, run, downloadName(run, format.Extension), format.ContentType, func(w io.Writer) error {
		return format.Write(w, r.SelectedReport(), export.Options{})
	})
}

// formatParquet is the allocation table of what is selected of a trace.
const formatParquet = "parquet"

// exportTable writes the allocations that are selected. The turn of windows is over before they are sent, which may
// take long.
func (a *API) exportTable(c echo.Context, run *store.Run, r *query.Result, done func()) error {
	file, err := tempfile.New("heapdrift-selection-")
	if err != nil {
		return fmt.Errorf("api: export table: %w", err)
	}
	defer func() { _ = file.Close() }() // nobody needs it afterwards
	if err := r.WriteTable(c.Request().Context(), file); err != nil {
		return err
	}
	done()
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("api: export table: %w", err)
	}
	return a.attach(c, run, downloadName(run, "-selection.parquet"), parquetType, func(w io.Writer) error {
		_, err := io.Copy(w, file)
		return err
	})
}

// attach sends what write writes as a file to save.
func (a *API) attach(c echo.Context, run *store.Run, name, contentType string, write func(io.Writer) error) error {
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, contentType)
	if !strings.HasPrefix(contentType, "text/plain") {
		header.Set(echo.HeaderContentDisposition, mime.FormatMediaType("attachment", map[string]string{"filename": name}))
		if err := a.noteDownload(c, run.ID, map[string]any{"report": name}); err != nil {
			return err
		}
	}
	return write(c.Response())
}

package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/compare"
)

// A node of the tree that holds less than this part of the whole on both sides is left out, unless the request says.
const (
	defaultShare = 1000
	maxShare     = 1 << 20
)

// measures are what the tree may count.
var measures = map[string]compare.Measure{"growth": compare.Growth, "outstanding": compare.Outstanding}

// compareTree handles GET /api/v1/compare/tree: the callers of both sides in one tree, with what each side has below them.
// Of a side with several runs it is the newest one.
func (a *API) compareTree(c echo.Context) error {
	q, err := sidesOf(c)
	if err != nil {
		return err
	}
	measure, err := oneOf(c, "measure", "growth", "outstanding")
	if err != nil {
		return err
	}
	share, err := whole(c, "share", defaultShare, 1, maxShare)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	compared, err := findSides(ctx, a.store, q)
	if err != nil {
		return err
	}
	if err := enter(ctx, a.conversions); err != nil {
		return err
	}
	defer leave(a.conversions)
	base, baseRun, err := a.newestReport(ctx, compared.Base)
	if err != nil {
		return err
	}
	head, headRun, err := a.newestReport(ctx, compared.Head)
	if err != nil {
		return err
	}
	root, err := compare.Union(ctx, base, head, measures[measure], int64(share))
	if err != nil {
		return err
	}
	return fresh(c, http.StatusOK, struct {
		Measure string        `json:"measure"`
		Base    treeSide      `json:"base"`
		Head    treeSide      `json:"head"`
		Root    *compare.Node `json:"root"`
	}{measure, treeSide{compared.Base.Build, baseRun}, treeSide{compared.Head.Build, headRun}, root})
}

type treeSide struct {
	Build string `json:"build"`
	Run   int64  `json:"run"`
}

// newestReport is the stored report of a side's newest run.
func (a *API) newestReport(ctx context.Context, s *compare.Side) (*analysis.Report, int64, error) {
	id := slices.Max(s.Runs)
	run, err := a.store.RunByID(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	if run.ReportKey == "" {
		return nil, 0, noReport(&run)
	}
	stored, err := a.openReport(ctx, run.ReportKey)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = stored.Close() }() // read only
	report, err := analysis.ReadJSON(stored)
	return report, id, err
}

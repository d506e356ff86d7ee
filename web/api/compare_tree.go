package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis/compare"
	"heapdrift/internal/query"
	"heapdrift/internal/store"
)

// Nodes below 1/share of the whole on both sides are left out. share is defaultShare unless the request names one, up
// to maxShare.
const (
	defaultShare = 1000
	maxShare     = 1 << 20
)

// measures are what the tree may count.
var measures = map[string]compare.Measure{"growth": compare.GrowthOf, "outstanding": compare.OutstandingOf}

// compareTree handles GET /api/v1/compare/tree: the callers of both sides in one tree, with what each side has below
// them. A side with several runs is shown by its newest run.
func (a *API) compareTree(c echo.Context) error {
	q, err := questionOf(c)
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
	var base, head treeSide
	err = a.store.View(ctx, func(v store.View) error {
		sides, err := v.FindResultsToCompare(ctx, q)
		if err != nil {
			return err
		}
		if base, err = newestReport(ctx, v, sides.Base); err != nil {
			return err
		}
		head, err = newestReport(ctx, v, sides.Head)
		return err
	})
	if err != nil {
		return err
	}
	layout, err := oneOf(c, "layout", "nested", "columns")
	if err != nil {
		return err
	}
	if layout == "columns" {
		return a.compareColumns(c, base.report, head.report, measure)
	}
	if err := enter(ctx, a.conversions); err != nil {
		return err
	}
	defer leave(a.conversions)
	var root *compare.Node
	err = a.budget.Do(ctx, func(ctx context.Context) error {
		before, err := query.ReadReport(ctx, a.blobs, base.report)
		if err != nil {
			return err
		}
		after, err := query.ReadReport(ctx, a.blobs, head.report)
		if err != nil {
			return err
		}
		root, err = compare.MergeTrees(ctx, before, after, measures[measure], int64(share))
		return err
	})
	if err != nil {
		return err
	}
	return fresh(c, http.StatusOK, struct {
		Measure string        `json:"measure"`
		Base    treeSide      `json:"base"`
		Head    treeSide      `json:"head"`
		Root    *compare.Node `json:"root"`
	}{measure, base, head, root})
}

// compareColumns answers with layout=columns: a query.Tree, as views of one run have it. There, "outstanding" is called
// "held".
func (a *API) compareColumns(c echo.Context, before, after, measure string) error {
	ctx := c.Request().Context()
	base, err := a.queries.Index(ctx, before)
	if err != nil {
		return err
	}
	head, err := a.queries.Index(ctx, after)
	if err != nil {
		return err
	}
	if measure == "outstanding" {
		measure = "held"
	}
	tree, err := query.Union(ctx, base, head, measure)
	if err != nil {
		return err
	}
	return fresh(c, http.StatusOK, tree)
}

type treeSide struct {
	Build string `json:"build"`
	Run   int64  `json:"run"`

	report string // key of the blob
}

// newestReport finds the stored report of a side's newest run.
func newestReport(ctx context.Context, v store.View, s *compare.BuildResult) (treeSide, error) {
	run, err := v.FindRun(ctx, slices.Max(s.RunIDs))
	if err == nil && run.ReportKey == "" {
		err = noReport(&run)
	}
	return treeSide{s.Build, run.ID, run.ReportKey}, err
}

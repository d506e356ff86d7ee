// Package operators serves the page for the people who run the installation.
//
// In come figures of the store. Out goes one page: the queue, servers and workers, what takes up disk space, the
// answers of symbol servers, and the last failures.
package operators

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/blob"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

// Options are what the page works with. Store and Blobs are required.
type Options struct {
	Store   *store.Store
	Blobs   blob.Store
	Version string
}

type pages struct{ opt Options }

// Register adds the route.
func Register(e *echo.Echo, opt Options, use echo.MiddlewareFunc) {
	p := &pages{opt: opt}
	e.GET("/operators", p.operators, use)
	e.HEAD("/operators", p.operators, use)
	e.POST("/operators/retry", p.retry, use)
}

// How many rows a table has at most.
const (
	mostProjects = 50
	mostFailed   = 20
	mostCauses   = 50
)

type view struct {
	ui.Frame
	version  string
	schema   store.SchemaVersions
	free     int64
	onDisk   bool // free is known
	queue    []store.QueueFigure
	stuck    int64
	nodes    []store.NodeRecord
	projects []store.ProjectFigure
	places   []store.SymbolSourceAnswer
	causes   []store.FailureCause
	failed   []store.FailedJob
	freed    []store.FreedFigure
	asked    string // ID of a job, as somebody typed it; then failed is that job alone
	done     string // what the last retry has done
	now      time.Time
}

// operators handles GET /operators.
func (p *pages) operators(c echo.Context) error {
	ctx := c.Request().Context()
	v := &view{Frame: ui.FrameOf(c, "Operators"), version: p.opt.Version, now: time.Now()}
	v.Tab = "operators"
	v.asked, v.done = c.QueryParam("job"), retried(c)
	v.free, v.onDisk = blob.FreeBytes(p.opt.Blobs)
	if err := p.opt.Store.View(ctx, func(now store.View) error { return v.read(ctx, now) }); err != nil {
		return err
	}
	var err error
	if v.schema, err = p.opt.Store.FindSchemaVersions(ctx); err != nil {
		return err
	}
	return ui.Render(c, http.StatusOK, page(v))
}

func (v *view) read(ctx context.Context, now store.View) (err error) {
	if v.queue, err = now.ListQueueFigures(ctx); err != nil {
		return err
	}
	if v.stuck, err = now.CountStuckJobs(ctx); err != nil {
		return err
	}
	if v.nodes, err = now.ListNodes(ctx); err != nil {
		return err
	}
	if v.projects, err = now.ListProjectFigures(ctx, mostProjects); err != nil {
		return err
	}
	if v.places, err = now.ListSymbolSources(ctx); err != nil {
		return err
	}
	if v.freed, err = now.ListFreedFigures(ctx); err != nil {
		return err
	}
	if v.causes, err = now.ListFailureCauses(ctx, mostCauses); err != nil {
		return err
	}
	if v.asked == "" {
		v.failed, err = now.ListFailedJobs(ctx, mostFailed)
		return err
	}
	job, err := now.FindFailedJob(ctx, jobID(v.asked))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err == nil:
		v.failed = []store.FailedJob{job}
	}
	return err
}

// state says how a node is.
func (v *view) state(n *store.NodeRecord) string {
	switch {
	case n.IsSilent(v.now):
		return fmt.Sprintf("silent for %v", v.now.Sub(n.SeenAt).Round(time.Second))
	case n.Says != "":
		return n.Says
	case n.Slots == 0:
		return "serves"
	}
	return fmt.Sprintf("runs %d of %d jobs", n.Running, n.Slots)
}

// isBad reports whether somebody should look at a node.
func (v *view) isBad(n *store.NodeRecord) bool { return n.IsSilent(v.now) || n.Says != "" }

// age is a time in seconds for people.
func age(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}

func (v *view) summary() string {
	if v.stuck > 0 {
		return fmt.Sprintf("%d jobs are stuck: start a worker for them", v.stuck)
	}
	return "no job is stuck"
}

// noFailure is the note of an empty table of failures.
func noFailure(v *view) string {
	if v.asked == "" {
		return "No job has failed."
	}
	return "No failed job has this ID: it may have been retried, or its run deleted."
}

package api

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/analysis"
	"heapdrift/internal/blob"
	"heapdrift/internal/store"
	"heapdrift/web/problem"
)

// parquetType is what IANA has registered for Parquet.
const parquetType = "application/vnd.apache.parquet"

// runAllocations handles GET and HEAD /api/v1/runs/:id/allocations: the allocation table of the trace that the run's
// report is about, in which ranges may be asked for, as tools for Parquet do.
func (a *API) runAllocations(c echo.Context) error {
	id, err := runID(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	var run store.Run
	var table store.AllocationTable
	err = a.store.View(ctx, func(v store.View) (err error) {
		if run, err = runWithReport(ctx, v, id); err != nil {
			return err
		}
		_, table, err = v.FindTraceReport(ctx, id)
		return err
	})
	if err != nil {
		return err
	}
	if table.Key == "" {
		return problem.New(http.StatusNotFound, analysis.CodeNotATrace,
			"the run's report is of snapshots; only a trace has an allocation table")
	}
	content, err := a.blobs.Open(ctx, table.Key)
	if errors.Is(err, blob.ErrNotFound) {
		return analysis.ErrTableMissing
	}
	if err != nil {
		return fmt.Errorf("api: allocation table of run %d: %w", id, err)
	}
	defer func() { _ = content.Close() }() // read only
	if err := a.noteDownload(c, id,
		map[string]any{"allocations": downloadName(&run, "-allocations.parquet")}); err != nil {
		return err
	}
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, parquetType)
	header.Set("ETag", `"`+path.Base(table.Key)+`"`)
	header.Set("Cache-Control", "private, no-cache")
	header.Set(echo.HeaderContentDisposition,
		mime.FormatMediaType("attachment", map[string]string{"filename": downloadName(&run, "-allocations.parquet")}))
	http.ServeContent(c.Response(), c.Request(), "", time.Time{}, io.NewSectionReader(content, 0, content.Size()))
	return nil
}

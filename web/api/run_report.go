package api

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/labstack/echo/v4"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/export"
	"heapdrift/internal/query"
	"heapdrift/internal/store"
	"heapdrift/web/compress"
	"heapdrift/web/etag"
	"heapdrift/web/problem"
)

// jsonFormat is the format of the stored report; it is sent as it is, unless an older version stored it in the layout
// before.
const jsonFormat = "json"

// shownFormats are those that a browser may show; it saves the others.
var shownFormats = []string{jsonFormat, "text"}

// runReport handles GET /api/v1/runs/:id/report: the report of the last analysis in the format that is asked for.
func (a *API) runReport(c echo.Context) error {
	id, err := runID(c)
	if err != nil {
		return err
	}
	format, err := reportFormat(c)
	if err != nil {
		return err
	}
	top, err := reportTop(c)
	if err != nil {
		return err
	}
	window, err := secondsWindow(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	var run store.Run
	var head *analysis.Report // of the window, as in
	var in store.AnalysisInput
	tag, known := "", false // known says that the client has it
	err = a.store.View(ctx, func(v store.View) (err error) {
		if run, err = runWithReport(ctx, v, id); err != nil {
			return err
		}
		tag = reportTag(&run, format, top, window)
		if known = etag.IsKnown(c.Request(), tag); known || window == nil {
			return nil
		}
		if head, err = v.FindSummary(ctx, id); err != nil {
			return err
		}
		in, err = v.FindAnalysisInput(ctx, id)
		return err
	})
	if err != nil {
		return err
	}
	header := c.Response().Header()
	header.Set("ETag", tag)
	header.Set("Cache-Control", "private, no-cache") // ask each time: a run grows
	compress.Vary(header, "Accept", "Accept-Encoding")
	if known {
		return c.NoContent(http.StatusNotModified)
	}
	if download, _ := strconv.ParseBool(c.QueryParam("download")); download ||
		!slices.Contains(shownFormats, format.Name) {
		name := downloadName(&run, format.Extension)
		header.Set(echo.HeaderContentDisposition, mime.FormatMediaType("attachment", map[string]string{"filename": name}))
		if err := a.noteDownload(c, id, map[string]any{"report": name}); err != nil {
			return err
		}
	}
	opt := export.Options{Top: top, Project: run.Project, Build: run.Build, Scenario: run.Scenario}
	if window != nil {
		report := func(ctx context.Context) (*analysis.Report, error) { return a.windows.Report(ctx, head, in, *window) }
		return a.sendConverted(c, report, format, opt)
	}
	return a.sendReport(c, run.ReportKey, format, opt)
}

// reportTag is the ETag of a report. The key is the digest of the stored report, so the same tag means the same report
// in the same format. The version of the layout tells what is sent apart from what an older version sent.
func reportTag(run *store.Run, format export.Format, top int, window *capture.Window) string {
	layout := path.Base(analysis.Schema)
	if window != nil {
		return etag.Weak(fmt.Sprintf("%s-%s-%s-%d-%d-%d", path.Base(run.ReportKey), layout, format.Name, top,
			window.From, window.To))
	}
	return etag.Weak(fmt.Sprintf("%s-%s-%s-%d", path.Base(run.ReportKey), layout, format.Name, top))
}

// runWithReport returns a run, or a problem where it has no report yet.
func runWithReport(ctx context.Context, v store.View, id int64) (store.Run, error) {
	run, err := v.FindRun(ctx, id)
	if err == nil && run.ReportKey == "" {
		err = noReport(&run)
	}
	return run, err
}

// noReport says that a run has no report yet, and how far it is.
func noReport(run *store.Run) *problem.Problem {
	p := problem.New(http.StatusNotFound, problem.CodeNoReportYet, "the run is %s; its report comes with the first analysis",
		run.State())
	p.State = string(run.State())
	return p
}

// sendConverted writes a report in a format. To make the report, and to write it, takes memory: few do so at once.
func (a *API) sendConverted(c echo.Context, report func(context.Context) (*analysis.Report, error),
	format export.Format, opt export.Options) error {
	ctx := c.Request().Context()
	if err := enter(ctx, a.conversions); err != nil {
		return err
	}
	defer leave(a.conversions)
	var made *analysis.Report
	err := a.budget.Do(ctx, func(ctx context.Context) (err error) {
		made, err = report(ctx)
		return err
	})
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentType, format.ContentType)
	return format.Write(c.Response(), made, opt)
}

// sendReport sends a stored report: as JSON as it lies there, if it is of today's layout, which to most clients means
// in zstd, too.
func (a *API) sendReport(c echo.Context, key string, format export.Format, opt export.Options) error {
	ctx := c.Request().Context()
	if format.Name != jsonFormat {
		return a.sendConverted(c,
			func(ctx context.Context) (*analysis.Report, error) { return query.ReadReport(ctx, a.blobs, key) }, format, opt)
	}
	stored, err := a.blobs.Open(ctx, key)
	if err != nil {
		return fmt.Errorf("api: open report: %w", err)
	}
	unpacked, err := query.UnpackReport(stored)
	if err != nil {
		return err
	}
	defer func() { _ = unpacked.Close() }() // read only
	plain := bufio.NewReaderSize(unpacked, 64<<10)
	start, _ := plain.Peek(firstFields) // a failure to read is met again below
	switch {
	case bytes.Contains(start, []byte(strconv.Quote(analysis.Schema1))):
		return a.sendConverted(c,
			func(ctx context.Context) (*analysis.Report, error) { return query.ReadReport(ctx, a.blobs, key) }, format, opt)
	case compress.CodingOf(c) == compress.Zstd:
		header := c.Response().Header()
		header.Set(echo.HeaderContentEncoding, string(compress.Zstd))
		header.Set(echo.HeaderContentLength, strconv.FormatInt(stored.Size(), 10))
		return c.Stream(http.StatusOK, format.ContentType, io.NewSectionReader(stored, 0, stored.Size()))
	}
	return c.Stream(http.StatusOK, format.ContentType, plain)
}

// firstFields is how much of a stored report names its layout, in bytes.
const firstFields = 64

// reportFormat is what format= says, else what Accept prefers; JSON where neither says anything.
func reportFormat(c echo.Context) (export.Format, error) {
	if name := c.QueryParam("format"); name != "" {
		format, err := export.FindFormat(name)
		if err != nil {
			return format, problem.Invalid("format", "format: %s", strings.TrimPrefix(err.Error(), "export: "))
		}
		return format, nil
	}
	formats := []export.Format{{}}
	types := []string{""}
	for _, f := range export.Formats {
		media, _, err := mime.ParseMediaType(f.ContentType)
		switch {
		case err != nil:
			return f, fmt.Errorf("api: content type of format %s: %w", f.Name, err)
		case f.Name == jsonFormat: // the first of equals
			formats[0], types[0] = f, media
		default:
			formats, types = append(formats, f), append(types, media)
		}
	}
	i := PreferredOffer(strings.Join(c.Request().Header.Values("Accept"), ","), types...)
	if i < 0 {
		return export.Format{}, problem.New(http.StatusNotAcceptable, problem.CodeNotAcceptable,
			"the report is written as %s",
			strings.Join(types, ", "))
	}
	return formats[i], nil
}

// reportTop is how many sites formats for reading show; 0 for all.
func reportTop(c echo.Context) (int, error) {
	text := c.QueryParam("top")
	if text == "" {
		return 0, nil
	}
	top, err := strconv.Atoi(text)
	if err != nil || top < 0 {
		return 0, problem.Invalid("top", "top: %q is not a number of sites; 0 shows all", text)
	}
	return top, nil
}

// downloadName is the file name of a download: it tells those of several runs in one folder apart.
func downloadName(run *store.Run, extension string) string {
	return fileName(strings.Join([]string{"heapdrift", run.Project, run.Build, run.Scenario, run.Name}, "-")) + extension
}

// fileName is a text as the name of a file anywhere.
func fileName(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._+-", r) {
			return r
		}
		return '-'
	}, text)
}

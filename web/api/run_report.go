package api

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/klauspost/compress/zstd"
	"github.com/labstack/echo/v4"

	"heapdrift/ingest/capture"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/export"
	"heapdrift/internal/store"
)

// jsonFormat is the format of the stored report; it is sent as it is.
const jsonFormat = "json"

// maxWindow bounds what unpacking a stored report may take, in bytes; it is written with a window of 1 MB.
const maxWindow = 8 << 20

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
	run, err := a.store.RunByID(c.Request().Context(), id)
	if err != nil {
		return err
	}
	if run.ReportKey == "" {
		return noReport(&run)
	}
	// The key is the digest of the stored report, so the same tag means the same bytes of the same format.
	tag := fmt.Sprintf(`"%s-%s-%d"`, path.Base(run.ReportKey), format.Name, top)
	if window != nil {
		tag = fmt.Sprintf(`"%s-%s-%d-%d-%d"`, path.Base(run.ReportKey), format.Name, top, window.From, window.To)
	}
	header := c.Response().Header()
	header.Set("ETag", tag)
	header.Set("Cache-Control", "private, no-cache") // ask each time: a run grows
	header.Set("Vary", "Accept")
	if matches(c.Request().Header.Get("If-None-Match"), tag) {
		return c.NoContent(http.StatusNotModified)
	}
	if download, _ := strconv.ParseBool(c.QueryParam("download")); download {
		header.Set(echo.HeaderContentDisposition, mime.FormatMediaType("attachment", map[string]string{"filename": downloadName(&run, format.Extension)}))
	}
	if window != nil {
		return a.sendWindowReport(c, id, *window, format, export.Options{Top: top})
	}
	return a.sendReport(c, run.ReportKey, format, export.Options{Top: top})
}

// noReport says that a run has no report yet, and how far it is.
func noReport(run *store.Run) *Problem {
	p := problem(http.StatusNotFound, codeNoReport, "the run is %s; its report comes with the first analysis", run.State())
	p.State = run.State()
	return p
}

// sendWindowReport makes the report of a window, which is not stored.
func (a *API) sendWindowReport(c echo.Context, run int64, w capture.Window, format export.Format, opt export.Options) error {
	ctx := c.Request().Context()
	if err := enter(ctx, a.conversions); err != nil {
		return err
	}
	defer leave(a.conversions)
	report, err := a.windows.Report(ctx, run, w)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentType, format.ContentType)
	return format.Write(c.Response(), report, opt)
}

func (a *API) sendReport(c echo.Context, key string, format export.Format, opt export.Options) error {
	ctx := c.Request().Context()
	if format.Name != jsonFormat {
		if err := enter(ctx, a.conversions); err != nil {
			return err
		}
		defer leave(a.conversions)
	}
	stored, err := a.openReport(ctx, key)
	if err != nil {
		return err
	}
	defer func() { _ = stored.Close() }() // read only
	if format.Name == jsonFormat {
		return c.Stream(http.StatusOK, format.ContentType, stored)
	}
	report, err := analysis.ReadJSON(stored)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentType, format.ContentType)
	return format.Write(c.Response(), report, opt)
}

// openReport opens a stored report for reading as plain JSON.
func (a *API) openReport(ctx context.Context, key string) (io.ReadCloser, error) {
	r, err := a.blobs.Open(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("api: open report: %w", err)
	}
	z, err := zstd.NewReader(io.NewSectionReader(r, 0, r.Size()), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		_ = r.Close() // read only
		return nil, fmt.Errorf("api: open report: %w", err)
	}
	return &storedReport{z, r}, nil
}

type storedReport struct {
	*zstd.Decoder
	blob io.Closer
}

func (s *storedReport) Close() error {
	s.Decoder.Close()
	return s.blob.Close()
}

// reportFormat is what format= says, else what Accept prefers; JSON where neither says anything.
func reportFormat(c echo.Context) (export.Format, error) {
	if name := c.QueryParam("format"); name != "" {
		format, err := export.Find(name)
		if err != nil {
			return format, invalid("format", "format: %s", strings.TrimPrefix(err.Error(), "export: "))
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
	i := Preferred(strings.Join(c.Request().Header.Values("Accept"), ","), types...)
	if i < 0 {
		return export.Format{}, problem(http.StatusNotAcceptable, codeAcceptable, "the report is written as %s", strings.Join(types, ", "))
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
		return 0, invalid("top", "top: %q is not a number of sites; 0 shows all", text)
	}
	return top, nil
}

// downloadName is the file name of a download: it tells those of several runs in one folder apart.
func downloadName(run *store.Run, extension string) string {
	name := strings.Join([]string{"heapdrift", run.Project, run.Build, run.Scenario, run.Name}, "-")
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._+-", r) {
			return r
		}
		return '-'
	}, name) + extension
}

// matches reports whether an If-None-Match header names the tag.
func matches(header, tag string) bool {
	for candidate := range strings.SplitSeq(header, ",") {
		if candidate = strings.TrimPrefix(strings.TrimSpace(candidate), "W/"); candidate == tag || candidate == "*" {
			return true
		}
	}
	return false
}

package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"heapdrift/ingest" //nolint:depguard // the codes of refused evidence; no reader is called from web
	"heapdrift/internal/analysis"
	"heapdrift/internal/intake"
	"heapdrift/internal/store"
)

// A Problem is an error as clients see it (RFC 9457). Code is stable; Detail is for people.
type Problem struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail,omitempty"`
	Code     string `json:"code"`
	Instance string `json:"instance,omitempty"` // names the request, as the server's log does
	Field    string `json:"field,omitempty"`    // the part of the request that is wrong
	State    string `json:"state,omitempty"`    // of the run that is asked for
	// Lines are what is wrong in a body of lines.
	Lines []LineProblem `json:"lines,omitempty"`
}

// A LineProblem is what is wrong with a line of a body, counted from 1.
type LineProblem struct {
	Line    int    `json:"line"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// Codes that this package gives itself; the others come with errors of intake, ingest and store.
const (
	codeNotFound    = "not-found"
	codeTooLarge    = "too-large"
	codeLocked      = "upload-locked"
	codeInternal    = "internal"
	codeNoReport    = "no-report-yet"
	codeOffset      = "offset-mismatch"
	codeContentType = "wrong-content-type"
	codeTusVersion  = "unsupported-tus-version"
	codeBroken      = "upload-broken"
	codeStalled     = "upload-stalled"
	codeClosing     = "shutting-down"
	codePartial     = "partial-put"
	codeAcceptable  = "not-acceptable"
	codeConflict    = "conflict"
	codeNoBaseline  = "no-baseline"
	codeNothing     = "no-result"
	codeBadRules    = "bad-rules"
)

// titles say in a few words what a code means.
var titles = map[string]string{
	ingest.CodeEmpty:       "The file is empty",
	ingest.CodeUnknown:     "The format is not known",
	ingest.CodeKernelDump:  "A kernel dump is not evidence about a process",
	ingest.CodeUnsupported: "This version does not read the format",
	ingest.CodeNoHeap:      "The dump holds no heap memory",
	ingest.CodeOtherSystem: "The dump is of another system than Windows",
	ingest.CodeBadDump:     "The dump's header is damaged",
	ingest.CodeBomb:        "The archive unpacks to too much",
	ingest.CodeDamaged:     "The archive is damaged",
	ingest.CodeNoEvidence:  "The archive holds no evidence",
	ingest.CodeNotTrace:    "The file is no trace",
	intake.CodeNotSymbols:  "The file holds no symbols",
	intake.CodeNoSymbols:   "The archive holds no symbols",
	intake.CodeNoID:        "The file has no id",
	codeNotFound:           "There is no such thing here",
	codeTooLarge:           "The file is too large",
	codeLocked:             "Another request is writing to the upload",
	codeInternal:           "The server failed",
	codeNoReport:           "The run has no report yet",
	codeOffset:             "The upload stands at another offset",
	codeContentType:        "The content type is wrong",
	codeTusVersion:         "The version of the tus protocol is not spoken",
	codeBroken:             "The connection broke",
	codeStalled:            "The upload stood still",
	codeClosing:            "The server is shutting down",
	codePartial:            "A part of a file is not taken",
	codeAcceptable:         "The report is not written in such a format",
	codeConflict:           "Somebody else was faster",
	codeNoBaseline:         "There is nothing to compare with",
	codeNothing:            "There is no result yet",
	codeBadRules:           "The rules cannot be read",
	codeNotATrace:          "The run is of no trace",
	codeTableMissing:       "The allocation table is gone",
	codeBadWindow:          "The window is wrong",
	codeReadAgain:          "The trace was read again",
}

// ingestStatus is the status of refused files; what is not listed is 422: the format is right, the content is not.
var ingestStatus = map[string]int{
	ingest.CodeUnknown:     http.StatusUnsupportedMediaType,
	ingest.CodeUnsupported: http.StatusUnsupportedMediaType,
	ingest.CodeNotTrace:    http.StatusUnsupportedMediaType,

	// Of symbols: what a reader of PDBs or images does not take for its own.
	intake.CodeNotSymbols: http.StatusUnsupportedMediaType,
	"not-a-pdb":           http.StatusUnsupportedMediaType,
	"not-pe":              http.StatusUnsupportedMediaType,
	"pdb-2.00":            http.StatusUnsupportedMediaType,
	"portable-pdb":        http.StatusUnsupportedMediaType,
	"unsupported":         http.StatusUnsupportedMediaType,
}

// problem makes an error with a code of its own.
func problem(status int, code, format string, args ...any) *Problem {
	return &Problem{Status: status, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// invalid says that a parameter of the request is wrong.
func invalid(field, format string, args ...any) *Problem {
	p := problem(http.StatusUnprocessableEntity, "invalid-"+strings.ReplaceAll(field, "_", "-"), format, args...)
	p.Field = field
	return p
}

// ProblemOf is the one table from errors to statuses and codes. What it does not know is the server's fault: it
// becomes "internal" and its text stays in the log.
func ProblemOf(err error) *Problem {
	p := translate(err)
	p.Type = "urn:heapdrift:problem:" + p.Code
	switch p.Title = titles[p.Code]; {
	case p.Title != "":
	case p.Field != "":
		p.Title = "A part of the request is wrong"
	default:
		p.Title = http.StatusText(p.Status)
	}
	return p
}

func translate(err error) *Problem {
	var own *Problem
	var refused *ingest.Error
	var target *store.TargetError
	var window *analysis.Error
	var routing *echo.HTTPError
	switch {
	case errors.As(err, &own):
		p := *own
		return &p
	case errors.As(err, &refused):
		status := http.StatusUnprocessableEntity
		if s := ingestStatus[refused.Code]; s != 0 {
			status = s
		}
		return problem(status, refused.Code, "%s: %s", refused.File, refused.Message)
	case errors.As(err, &target):
		return invalid(target.Field, "%s", target.Error())
	case errors.As(err, &window) && windowStatus[window.Code] != 0:
		return problem(windowStatus[window.Code], window.Code, "%s", window.Message)
	case errors.Is(err, intake.ErrTooLarge):
		return problem(http.StatusRequestEntityTooLarge, codeTooLarge, "the file is larger than this server takes")
	case errors.Is(err, store.ErrNotFound):
		return problem(http.StatusNotFound, codeNotFound, "nothing is found under this address")
	case errors.Is(err, store.ErrConflict):
		return problem(http.StatusConflict, codeConflict, "somebody else changed it meanwhile; look at what is there now, then change that")
	case errors.Is(err, store.ErrNoProcess):
		return invalid("process", "process: the run's evidence does not show it; the run lists those that it does")
	case errors.Is(err, store.ErrBusy):
		return problem(http.StatusLocked, codeLocked, "another request is writing to this upload; ask for its offset and try again")
	case errors.As(err, &routing) && routing.Code < http.StatusInternalServerError:
		return problem(routing.Code, slug(routing.Code), "%v", routing.Message)
	}
	return problem(http.StatusInternalServerError, codeInternal, "the server failed to do this; its log says why under the request's id")
}

// slug is the code of a status that needs no code of its own: "method-not-allowed".
func slug(status int) string {
	return strings.ReplaceAll(strings.ToLower(http.StatusText(status)), " ", "-")
}

// Send answers with the problem.
func (p *Problem) Send(c echo.Context) error {
	header := c.Response().Header()
	header.Set("Content-Type", "application/problem+json")
	header.Set("Cache-Control", "no-store")
	header.Del("ETag")
	header.Del("Content-Disposition")
	if id := header.Get(echo.HeaderXRequestID); id != "" {
		p.Instance = "urn:heapdrift:request:" + id
	}
	if c.Request().Method == http.MethodHead {
		return c.NoContent(p.Status)
	}
	return c.JSON(p.Status, p)
}

// Package problem turns errors into what clients are told: in goes an error of the domain, of the door or of a handler,
// out comes a status, a stable code and a sentence. The API sends it as problem+json (RFC 9457), pages show it.
package problem

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/ingest/evidence"
	"heapdrift/ingest/quantity"
	"heapdrift/internal/analysis"
	"heapdrift/internal/analysis/blame"
	"heapdrift/internal/blob"
	"heapdrift/internal/intake"
	"heapdrift/internal/leaks"
	"heapdrift/internal/memory"
	outages "heapdrift/internal/outage"
	"heapdrift/internal/query"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/store"
	"heapdrift/internal/store/uploadstore"
)

// A Problem is an error as clients get it (RFC 9457). Code is stable; Detail is for people.
type Problem struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail,omitempty"`
	Code     string `json:"code"`
	Instance string `json:"instance,omitempty"` // id of the request, as in the server's log
	Field    string `json:"field,omitempty"`    // name of the field of the request that is wrong; "" for none
	State    string `json:"state,omitempty"`    // state of the run that was asked for; "" for none
	// Lines are the problems of single lines in a body of lines.
	Lines []LineProblem `json:"lines,omitempty"`
	// RetryAfter is the time after which another request may succeed; 0 where that is not known.
	RetryAfter time.Duration `json:"-"`
}

// A LineProblem says what is wrong with a line of a body; lines count from 1.
type LineProblem struct {
	Line    int    `json:"line"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// The codes of requests that are refused; others come with errors of the door, of the readers and of the domain. They
// are stable.
const (
	// The codes of refused requests; others come with errors of the guard, of the readers and of the domain. They are
	// stable.
	CodeNotFound              = "not-found"
	CodeTooLarge              = "too-large"
	CodeNoSpace               = "no-space"
	CodeEvidenceExpired       = "evidence-expired" // the evidence file was deleted after its retention (410)
	CodeQuotaUsedUp           = "quota-used-up"
	CodeUploadLocked          = "upload-locked"
	CodeInternal              = "internal"
	CodeNoReportYet           = "no-report-yet"
	CodeOffsetMismatch        = "offset-mismatch"
	CodeWrongContentType      = "wrong-content-type"
	CodeUnsupportedTusVersion = "unsupported-tus-version"
	CodeUploadBroken          = "upload-broken"
	CodeUploadStalled         = "upload-stalled"
	CodeShuttingDown          = "shutting-down"
	CodeServiceUnavailable    = "away"
	CodePartialPut            = "partial-put"
	CodeNotAcceptable         = "not-acceptable"
	CodeConflict              = "conflict"
	CodeBadRules              = "bad-rules"
	CodeHeld                  = "held"       // a legal hold forbids deletion (409)
	CodeNoWindows             = "no-windows" // the server does not answer for windows of traces
)

// titles say in a few words what a code means.
var titles = map[string]string{
	evidence.CodeEmptyFile:         "The file is empty",
	evidence.CodeUnknownFormat:     "Unknown format",
	evidence.CodeKernelDump:        "A kernel dump is not evidence about a process",
	evidence.CodeUnsupportedFormat: "This version does not read the format",
	evidence.CodeNoHeapMemory:      "The dump has no heap memory",
	evidence.CodeOtherSystem:       "The dump is not of Windows",
	evidence.CodeBadDumpHeader:     "The header is damaged",
	evidence.CodeArchiveBomb:       "The archive unpacks to too many bytes",
	evidence.CodeDamagedArchive:    "The archive is damaged",
	evidence.CodeNoEvidence:        "The archive has no evidence",
	evidence.CodeNotTrace:          "The file is not a trace",
	intake.CodeNotSymbols:          "The file has no symbols",
	intake.CodeNoSymbols:           "The archive has no symbols",
	intake.CodeNoID:                "The file has no id",
	CodeNotFound:                   "Not found",
	CodeTooLarge:                   "The file is too large",
	CodeNoSpace:                    "The server's disk is full",
	CodeQuotaUsedUp:                "The token's quota for today is used up",
	CodeUploadLocked:               "Another request is writing to the upload",
	CodeInternal:                   "Internal error",
	CodeEvidenceExpired:            "The file was deleted",
	CodeNoReportYet:                "The run has no report yet",
	CodeOffsetMismatch:             "The upload is at another offset",
	CodeWrongContentType:           "The content type is wrong",
	CodeUnsupportedTusVersion:      "Unsupported version of the tus protocol",
	CodeUploadBroken:               "The connection broke",
	CodeUploadStalled:              "The upload made no progress",
	CodeShuttingDown:               "The server is shutting down",
	CodeServiceUnavailable:         "A service of the server is not available",
	CodePartialPut:                 "Partial uploads are not supported",
	CodeNotAcceptable:              "The report is not available in this format",
	CodeConflict:                   "Another user was faster",
	CodeHeld:                       "A legal hold forbids deletion",
	leaks.CodeNoBaseline:           "No baseline to compare with",
	leaks.CodeNoResult:             "No result yet",
	CodeBadRules:                   "The rules cannot be read",
	analysis.CodeNotATrace:         "The run has no trace",
	analysis.CodeTableMissing:      "The allocation table was deleted",
	analysis.CodeBadWindow:         "The window is wrong",
	query.CodeBadSelection:         "The selection is wrong",
	analysis.CodeReadAgain:         "The trace was read again",
	memory.Code:                    "The work exceeds its memory limit",
	sandbox.CodeExpensive:          "The file costs more than files of its size",
	sandbox.CodeCrashed:            "The reader of the file crashed",
	sandbox.CodeStuck:              "The reader of the file made no progress",
}

// refusedStatus is the status of a refused file: 415 where its format is not read, 422 where its content is wrong.
func refusedStatus(code string) int {
	if intake.IsUnreadFormat(code) {
		return http.StatusUnsupportedMediaType
	}
	return http.StatusUnprocessableEntity
}

// New makes a Problem with a code of its own.
func New(status int, code, format string, args ...any) *Problem {
	return &Problem{Status: status, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Invalid makes the Problem of a wrong parameter of the request.
func Invalid(field, format string, args ...any) *Problem {
	p := New(http.StatusUnprocessableEntity, "invalid-"+strings.ReplaceAll(field, "_", "-"), format, args...)
	p.Field = field
	return p
}

// FromError is the one table from errors to statuses and codes. An error that the table does not know is the server's
// fault: it becomes "internal" and its text stays in the log.
func FromError(err error) *Problem {
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
	refused := evidence.Refusal(err)
	var field *leaks.FieldError
	var refusal *leaks.NoComparison
	var window *analysis.Error
	var exceeded *memory.LimitError
	var ended *sandbox.ProcessError
	var routing *echo.HTTPError
	var quota *intake.QuotaError
	switch {
	case errors.As(err, &own):
		p := *own
		return &p
	case refused != nil:
		return New(refusedStatus(refused.Code), refused.Code, "%s", refused.Error())
	case errors.As(err, &field):
		return Invalid(field.Field, "%s", field.Error())
	case errors.As(err, &refusal):
		return New(http.StatusNotFound, refusal.Code, "%s", refusal.Message)
	case errors.As(err, &window) && windowStatus[window.Code] != 0:
		return New(windowStatus[window.Code], window.Code, "%s", window.Message)
	case errors.As(err, &exceeded):
		return New(http.StatusServiceUnavailable, memory.Code, "%s", exceeded.Error())
	case errors.As(err, &ended): // of a request: uploads are refused by evidence.Error
		return New(http.StatusInternalServerError, ended.Code, "%s", ended.Message)
	case blame.RuleErrors(err) != nil:
		return ofRules(blame.RuleErrors(err))
	case errors.Is(err, intake.ErrTooLarge):
		return New(http.StatusRequestEntityTooLarge, CodeTooLarge, "the file is larger than this server's limit")
	case errors.Is(err, intake.ErrNoSpace):
		p := New(http.StatusInsufficientStorage, CodeNoSpace,
			"the upload would fill the server's disk: ask the administrator to free disk space")
		p.RetryAfter = 10 * time.Minute
		return p
	case errors.As(err, &quota):
		p := New(http.StatusTooManyRequests, CodeQuotaUsedUp, "the token may upload %s a day; its quota is used up until %s",
			quantity.Bytes(quota.Quota), quota.Until.UTC().Format(time.RFC3339))
		p.RetryAfter = time.Until(quota.Until)
		return p
	case errors.Is(err, store.ErrNotFound):
		return New(http.StatusNotFound, CodeNotFound, "nothing is found under this address")
	case errors.Is(err, store.ErrHeld):
		return New(http.StatusConflict, CodeHeld, "a legal hold on the run or the project forbids deletion: remove the hold first")
	case errors.Is(err, store.ErrBlobGone):
		p := New(http.StatusServiceUnavailable, CodeServiceUnavailable,
			"send the file again: the server deleted an older copy of it at the same time")
		p.RetryAfter = retrySoon
		return p
	case errors.Is(err, store.ErrConflict):
		return New(http.StatusConflict, CodeConflict,
			"reload it and change it again: another user changed it first")
	case errors.Is(err, store.ErrNoProcess):
		return Invalid("process", "process: not in the run's evidence; choose one from the run's list")
	case errors.Is(err, uploadstore.ErrBusy):
		return New(http.StatusLocked, CodeUploadLocked,
			"another request is writing to this upload; request its offset and try again")
	case errors.As(err, &routing) && routing.Code < http.StatusInternalServerError:
		return New(routing.Code, slug(routing.Code), "%v", routing.Message)
	}
	return outage(err)
}

// retrySoon and retryLate are when to try again what an outage stopped.
const (
	retrySoon = 5 * time.Second
	retryLate = time.Minute
)

// outage is an error that is nobody's fault here: what the server depends on is away or full. Any other is the
// server's.
func outage(err error) *Problem {
	var p *Problem
	switch {
	case blob.IsFull(err), store.IsDiskFull(err):
		p = New(http.StatusInsufficientStorage, CodeNoSpace,
			"the server's disk is full: ask the administrator to free disk space")
		p.RetryAfter = retryLate
	case outages.Of(err) != outages.None:
		p = New(http.StatusServiceUnavailable, CodeServiceUnavailable,
			"the database or the file storage does not answer; try again in a few seconds")
		p.RetryAfter = retrySoon
	default:
		p = New(http.StatusInternalServerError, CodeInternal,
			"internal error: retry, or send the request's id to your administrator, who finds the cause in the log")
	}
	return p
}

// slug is the code of a status that needs no code of its own: "method-not-allowed".
func slug(status int) string {
	return strings.ReplaceAll(strings.ToLower(http.StatusText(status)), " ", "-")
}

// SetRetryAfter sets the Retry-After header if RetryAfter is known.
func (p *Problem) SetRetryAfter(header http.Header) {
	if p.RetryAfter > 0 {
		header.Set(echo.HeaderRetryAfter, strconv.Itoa(int(p.RetryAfter.Seconds())+1))
	}
}

// Send answers with the problem.
func (p *Problem) Send(c echo.Context) error {
	header := c.Response().Header()
	header.Set("Content-Type", "application/problem+json")
	header.Set("Cache-Control", "no-store")
	header.Del("ETag")
	header.Del("Content-Encoding")
	header.Del("Content-Disposition")
	p.SetRetryAfter(header)
	if id := header.Get(echo.HeaderXRequestID); id != "" {
		p.Instance = "urn:heapdrift:request:" + id
	}
	if c.Request().Method == http.MethodHead {
		return c.NoContent(p.Status)
	}
	return c.JSON(p.Status, p)
}

// ofRules lists what is wrong with a rule file by its lines.
func ofRules(wrong []*blame.RuleError) *Problem {
	p := New(http.StatusUnprocessableEntity, CodeBadRules, "line %d: %s", wrong[0].Line, wrong[0].Message)
	for _, w := range wrong {
		p.Lines = append(p.Lines, LineProblem{w.Line, w.Code, w.Message})
	}
	if n := len(wrong) - 1; n > 0 {
		p.Detail += fmt.Sprintf("; and %d more", n)
	}
	return p
}

// RejectedLines lists the lines of another tool's rule file that have no translation.
func RejectedLines(made *blame.RuleImport) []LineProblem {
	list := make([]LineProblem, len(made.Rejected))
	for i, r := range made.Rejected {
		list[i] = LineProblem{r.Line, "not-translated", r.Text + ": " + r.Reason}
	}
	return list
}

// windowStatus is the status of errors that windows give.
var windowStatus = map[string]int{
	analysis.CodeNotATrace:    http.StatusNotFound,
	analysis.CodeTableMissing: http.StatusGone,
	analysis.CodeBadWindow:    http.StatusUnprocessableEntity,
	query.CodeBadSelection:    http.StatusUnprocessableEntity,
	analysis.CodeReadAgain:    http.StatusConflict,
}

package problem_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/minio/minio-go/v7"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/analysis"
	"heapdrift/internal/intake"
	"heapdrift/internal/leaks"
	"heapdrift/internal/memory"
	"heapdrift/internal/store"
	"heapdrift/internal/store/uploadstore"
	"heapdrift/internal/symbols/pdb"
	"heapdrift/web/problem"
)

// dead is the error of a database that does not answer.
func dead(t *testing.T) error {
	t.Helper()
	_, err := store.Open(t.Context(), "postgres://nobody@127.0.0.1:1/nothing?connect_timeout=1")
	if err == nil {
		t.Fatal("a database on port 1")
	}
	return err
}

func TestOf(t *testing.T) {
	for name, test := range map[string]struct {
		err    error
		status int
		code   string
		title  string
		detail string // part of it
	}{
		"of a handler": {problem.New(http.StatusConflict, problem.CodeOffsetMismatch, "at %d", 7), 409, "offset-mismatch",
			"The upload is at another offset", "at 7"},
		"a parameter": {problem.Invalid("fail_on", "%q", "x"), 422, "invalid-fail-on",
			"A part of the request is wrong", `"x"`},
		"a field": {leaks.CheckActor(""), 422, "invalid-actor", "A part of the request is wrong",
			"actor: is missing"},
		"a refusal": {leaks.NoBaseline("7", "soak"), 404, "no-baseline",
			"No baseline to compare with", "soak"},
		"a format not read": {&evidence.Error{Code: evidence.CodeUnknownFormat, File: "a.txt", Message: "not known"}, 415,
			"unknown-format", "Unknown format", "a.txt: not known"},
		"symbols not read": {&evidence.Error{Code: pdb.CodePDB2, Message: "old"}, 415, "pdb-2.00",
			"Unsupported Media Type", "old"},
		"content that is wrong": {&evidence.Error{Code: evidence.CodeEmptyFile, Message: "the file is empty"}, 422, "empty-file",
			"The file is empty", "the file is empty"},
		"wrapped": {fmt.Errorf("store: %w", store.ErrNotFound), 404, "not-found", "Not found",
			"nothing is found"},
		"no table": {analysis.ErrTableMissing, 410, "table-missing", "The allocation table was deleted",
			"upload the trace again"},
		"no trace": {&analysis.Error{Code: analysis.CodeNotATrace, Message: "of snapshots"}, 404, "not-a-trace",
			"The run has no trace", "of snapshots"},
		"no connection": {dead(t), 503, "away", "A service of the server is not available", "try again"},
		"too late": {fmt.Errorf("store: %w", context.DeadlineExceeded), 503, "away",
			"A service of the server is not available", "try again"},
		"S3 is slow": {fmt.Errorf("blob: %w", minio.ErrorResponse{StatusCode: 503, Code: "SlowDown"}), 503, "away",
			"A service of the server is not available", "try again"},
		"S3 is full": {fmt.Errorf("blob: %w", minio.ErrorResponse{StatusCode: 507, Code: "XMinioStorageFull"}),
			507, "no-space", "The server's disk is full", "full"},
		"the disk is full": {fmt.Errorf("blob: %w", &fs.PathError{Op: "write", Path: "a", Err: syscall.ENOSPC}), 507,
			"no-space", "The server's disk is full", "full"},
		"too much memory": {fmt.Errorf("api: %w", &memory.LimitError{Limit: 1 << 30}), 503, "memory-exceeded",
			"The work exceeds its memory limit", "1G"},
		"too large":         {intake.ErrTooLarge, 413, "too-large", "The file is too large", "larger than"},
		"changed meanwhile": {store.ErrConflict, 409, "conflict", "Another user was faster", "another user changed it first"},
		"busy": {uploadstore.ErrBusy, 423, "upload-locked", "Another request is writing to the upload",
			"try again"},
		"no process":    {store.ErrNoProcess, 422, "invalid-process", "A part of the request is wrong", "process:"},
		"of the router": {echo.ErrMethodNotAllowed, 405, "method-not-allowed", "Method Not Allowed", ""},
		"of the server": {errors.New("password=secret"), 500, "internal", "Internal error", "send the request's id to your administrator"},
		"a failing reader": {
			&evidence.Error{Code: evidence.CodeReadFailed, Message: "reading failed", Err: errors.New("secret")}, 500,
			"internal", "Internal error", "send the request's id to your administrator",
		},
		"an analysis of no window": {&analysis.Error{Code: analysis.CodeNoSuchProcess, Message: "secret"}, 500, "internal",
			"Internal error", "send the request's id to your administrator"},
	} {
		p := problem.FromError(test.err)
		if p.Status != test.status || p.Code != test.code || p.Title != test.title ||
			!strings.Contains(p.Detail, test.detail) || strings.Contains(p.Detail, "secret") {
			t.Errorf("%s: %+v", name, p)
		}
		if p.Type != "urn:heapdrift:problem:"+test.code {
			t.Errorf("%s: type %s", name, p.Type)
		}
	}
}

func TestOfKeepsTheError(t *testing.T) {
	shared := problem.New(http.StatusNotFound, problem.CodeNotFound, "gone")
	if p := problem.FromError(fmt.Errorf("page: %w", shared)); p == shared || p.Detail != "gone" || shared.Title != "" {
		t.Errorf("%+v of %+v", p, shared)
	}
}

package blob_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"

	"github.com/minio/minio-go/v7"

	"heapdrift/internal/blob"
)

// A store that is full is not away, says its answer: nobody need wait for it, and somebody has to make room.
func TestOutages(t *testing.T) {
	answer := func(status int, code string) error { return minio.ErrorResponse{StatusCode: status, Code: code} }
	for name, test := range map[string]struct {
		err        error
		full, away bool
	}{
		"read-only":              {syscall.EROFS, false, true},
		"disk fault":             {syscall.EIO, false, true},
		"stale handle of NFS":    {syscall.ESTALE, false, true},
		"too many open files":    {syscall.EMFILE, false, true},
		"no permission":          {syscall.EACCES, false, false},
		"no such file":           {syscall.ENOENT, false, false},
		"disk is full":           {syscall.ENOSPC, true, false},
		"quota of the disk":      {syscall.EDQUOT, true, false},
		"no network":             {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, false, true},
		"ends early":             {io.ErrUnexpectedEOF, false, false},
		"507":                    {answer(http.StatusInsufficientStorage, ""), true, false},
		"full, says MinIO":       {answer(http.StatusBadRequest, "XMinioStorageFull"), true, false},
		"quota, says MinIO":      {answer(http.StatusBadRequest, "QuotaExceeded"), true, false},
		"500":                    {answer(http.StatusInternalServerError, "InternalError"), false, true},
		"503":                    {answer(http.StatusServiceUnavailable, ""), false, true},
		"499":                    {answer(499, ""), false, false},
		"403":                    {answer(http.StatusForbidden, "AccessDenied"), false, false},
		"slow down":              {answer(http.StatusTooManyRequests, "SlowDown"), false, true},
		"unavailable, as a code": {answer(http.StatusBadRequest, "ServiceUnavailable"), false, true},
		"full, with a 500":       {answer(http.StatusInternalServerError, "XMinioStorageFull"), true, false},
	} {
		err := fmt.Errorf("put x: %w", test.err)
		if full, away := blob.IsFull(err), blob.IsUnavailable(err); full != test.full || away != test.away {
			t.Errorf("%s: full %t, away %t", name, full, away)
		}
	}
}

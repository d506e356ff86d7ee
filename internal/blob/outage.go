package blob

import (
	"errors"
	"net"
	"net/http"
	"syscall"

	"github.com/minio/minio-go/v7"
)

// IsFull reports whether an error says that the disk of the blobs is full.
func IsFull(err error) bool {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return true
	}
	var answered minio.ErrorResponse
	return errors.As(err, &answered) && (answered.StatusCode == http.StatusInsufficientStorage ||
		answered.Code == "XMinioStorageFull" || answered.Code == "QuotaExceeded")
}

// IsUnavailable reports whether an error says that the store does not answer now. A later try may succeed.
func IsUnavailable(err error) bool {
	var answered minio.ErrorResponse
	if errors.As(err, &answered) {
		return answered.StatusCode >= http.StatusInternalServerError && !IsFull(err) || answered.Code == "SlowDown" ||
			answered.Code == "ServiceUnavailable"
	}
	var network net.Error
	if !errors.As(err, &network) {
		return false
	}
	// What a file system answers counts as a net.Error too, and says mostly that asking again is of no use.
	number, ofFiles := network.(syscall.Errno)
	return !ofFiles || number.Temporary() || number == syscall.EROFS || number == syscall.EIO || number == syscall.ESTALE
}

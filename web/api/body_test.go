package api

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"heapdrift/web/problem"
)

// A bodyReader is a connection that gives bytes and then an error.
type bodyReader struct {
	bytes int
	err   error
	reads int
	while func() // what happens meanwhile
}

func (r *bodyReader) Read([]byte) (int, error) {
	r.reads++
	if r.while != nil {
		r.while()
	}
	return r.bytes, r.err
}

func (r *bodyReader) Close() error { return nil }

// A client learns why its body was not read to the end: it was too slow, the server shuts down, the connection broke.
func TestBodyErrors(t *testing.T) {
	timeout := &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}
	for name, test := range map[string]struct {
		reader         bodyReader
		waited         time.Duration // before this read
		closed, closes bool          // before and while it reads
		status         int
		code, says     string
		reads          int
	}{
		"whole":                       {bodyReader{err: io.EOF}, 0, false, false, 0, "", "", 1},
		"whole while the server ends": {bodyReader{err: io.EOF}, 0, false, true, 0, "", "", 1},
		"goes on":                     {bodyReader{bytes: 5}, 0, false, false, 0, "", "", 1},
		"nothing comes":               {bodyReader{err: timeout}, 0, false, false, 408, problem.CodeUploadStalled, "nothing came for 30s", 1},
		"the server ends meanwhile":   {bodyReader{err: timeout}, 0, false, true, 503, problem.CodeShuttingDown, "shutting down", 1},
		"the server has ended":        {bodyReader{bytes: 5}, 0, true, false, 503, problem.CodeShuttingDown, "shutting down", 0},
		"hardly anything comes":       {bodyReader{bytes: 5}, time.Minute, false, false, 408, problem.CodeUploadStalled, "fewer than 1024 bytes", 1},
		"the connection breaks":       {bodyReader{err: io.ErrUnexpectedEOF}, 0, false, false, 400, problem.CodeUploadBroken, "broke", 1},
	} {
		t.Run(name, func(t *testing.T) {
			closing, r := make(chan struct{}), &test.reader
			if test.closed {
				close(closing)
			}
			if test.closes {
				r.while = func() { close(closing) }
			}
			b := &body{ReadCloser: r, control: http.NewResponseController(httptest.NewRecorder()), idle: 30 * time.Second,
				closing: closing, waited: test.waited}
			failed := errors.New("the server failed")
			_, err := b.Read(make([]byte, 10))
			if r.reads != test.reads {
				t.Errorf("%d reads", r.reads)
			}
			if test.status == 0 {
				if b.err != nil || !errors.Is(err, r.err) || !errors.Is(b.blame(failed), failed) {
					t.Errorf("%v, %v", err, b.err)
				}
				return
			}
			var told *problem.Problem
			if !errors.As(err, &told) || told.Status != test.status || told.Code != test.code ||
				!strings.Contains(told.Detail, test.says) {
				t.Errorf("%v, want %d %s: %s", err, test.status, test.code, test.says)
			}
			if _, again := b.Read(make([]byte, 10)); !errors.Is(again, err) || r.reads != test.reads {
				t.Errorf("read again: %v", again)
			}
			if !errors.Is(b.blame(failed), err) || b.blame(nil) != nil {
				t.Errorf("blamed is %v", b.blame(failed))
			}
		})
	}
}

package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/web/problem"
)

// A body is a request's body as Bodies hands it to handlers. It remembers that reading failed, so that errors of the
// client can be distinguished from errors of the server.
type body struct {
	io.ReadCloser
	control *http.ResponseController
	idle    time.Duration
	closing <-chan struct{} // ends the reading; nil where only its end does
	waited  time.Duration   // for the client, in which
	came    int64           // so many bytes came
	crowded func() bool     // whether others wait for the slot that the body holds; nil for no slot
	err     error           // why reading failed; nil while it goes well and at the proper end

	mu    sync.Mutex
	ended bool // at its proper end
}

// Bodies is middleware for all routes of a server: it stops reading a body whose client sends nothing, or almost
// nothing, for Options.Idle. There is no limit on how long a body that arrives may take.
func (a *API) Bodies(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
			return next(c) // a deadline would count as the client's leaving
		}
		b := &body{ReadCloser: r.Body, control: http.NewResponseController(c.Response()), idle: a.idle}
		b.expect(b.idle) // holds for what the handler does not read, too: the connection must get rid of it
		r.Body = b
		return next(c)
	}
}

// bodyOf is the body of a request that has gone through Bodies; any other one is read as it is.
func bodyOf(c echo.Context) *body {
	if b, ok := c.Request().Body.(*body); ok {
		return b
	}
	return &body{ReadCloser: c.Request().Body, control: http.NewResponseController(c.Response()), idle: time.Minute}
}

// until ends the reading when closing is closed, also one that waits for its client, until stop is called.
func (b *body) until(closing <-chan struct{}) (stop func()) {
	b.closing = closing
	done := make(chan struct{})
	go func() {
		select {
		case <-closing:
			b.expect(0)
		case <-done:
		}
	}()
	return func() { close(done) }
}

// expect gives the client time for its next bytes. Connections without deadlines are left without.
func (b *body) expect(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ended {
		_ = b.control.SetReadDeadline(time.Now().Add(d))
	}
}

// end lifts the deadline: the connection is watched for the client's leaving from now on, and a deadline would
// look just like that.
func (b *body) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	_ = b.control.SetReadDeadline(time.Time{})
}

func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	b.expect(b.idle)
	if b.isClosing() { // asked after the deadline is set: until may have set its own before
		b.err = shuttingDown()
		return 0, b.err
	}
	before := time.Now()
	n, err := b.ReadCloser.Read(p)
	if err == nil {
		err = b.fastEnough(n, time.Since(before))
	}
	var slow *tooSlowError
	switch {
	case err == nil:
	case errors.As(err, &slow):
		b.err = problem.New(http.StatusRequestTimeout, problem.CodeUploadStalled,
			"fewer than %d bytes per second arrived for %v; request the upload's offset and resume there", slow.rate, b.idle)
	case errors.Is(err, io.EOF):
		b.end()
	case errors.Is(err, os.ErrDeadlineExceeded) && !b.isClosing():
		b.err = problem.New(http.StatusRequestTimeout, problem.CodeUploadStalled, "nothing came for %v", b.idle)
	case errors.Is(err, os.ErrDeadlineExceeded):
		b.err = shuttingDown()
	default:
		b.err = problem.New(http.StatusBadRequest, problem.CodeUploadBroken, "the connection broke before the whole body arrived")
	}
	if b.err != nil {
		err = b.err
	}
	return n, err
}

// How many bytes a second a client has to send, on average over the time that it may stand still: a client that sends a
// byte now and then holds a connection, and more so one that holds a slot for which others wait.
const (
	minRate        = 1 << 10
	minRateCrowded = 16 << 10
)

// slowest is the rate that the body has to keep now.
func (b *body) slowest() int64 {
	if b.crowded != nil && b.crowded() {
		return minRateCrowded
	}
	return minRate
}

// A tooSlowError says how many bytes a second a client should have sent.
type tooSlowError struct{ rate int64 }

func (e *tooSlowError) Error() string {
	return fmt.Sprintf("api: fewer than %d bytes a second", e.rate)
}

// fastEnough compares the bytes that came with the time spent waiting for them; the time that the server takes to store
// them does not count.
func (b *body) fastEnough(n int, waited time.Duration) error {
	b.came, b.waited = b.came+int64(n), b.waited+waited
	if b.waited < b.idle {
		return nil
	}
	if rate := b.slowest(); float64(b.came) < float64(rate)*b.waited.Seconds() {
		return &tooSlowError{rate}
	}
	b.came, b.waited = 0, 0
	return nil
}

func shuttingDown() error {
	return problem.New(http.StatusServiceUnavailable, problem.CodeShuttingDown,
		"the server is shutting down; request the upload's offset and resume there")
}

func (b *body) isClosing() bool {
	select {
	case <-b.closing:
		return true
	default:
		return false
	}
}

// blame is the cause of an error: the client's, where reading the body failed.
func (b *body) blame(err error) error {
	if err != nil && b.err != nil {
		return b.err
	}
	return err
}

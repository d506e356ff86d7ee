package upload_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"heapdrift/web/pages/pagestest"
)

// A door is a proxy before a site. It stops pieces of uploads in the middle, breaks them, answers with an error
// instead, and closes. With it tests wait for an event that they need, and not for a time.
type door struct {
	t    testing.TB
	url  string
	site http.Handler

	mu      sync.Mutex
	server  *http.Server
	held    *uploadBrake // nil lets everything through
	status  int          // the status that the API answers instead of its own; 0 for its own answer
	created int          // uploads that were begun
	offsets []string
}

// An uploadBrake stops pieces of uploads after so many bytes.
type uploadBrake struct {
	after   int64
	once    sync.Once
	reached chan struct{} // closed when a piece came that far
	cut     chan struct{} // closed to break it
	free    chan struct{} // closed to let it go on
}

// openDoor opens a door for the pages of a tab. The last page may still follow its run through it when the test ends.
func openDoor(b *pagestest.Tab, site http.Handler) *door {
	b.T.Helper()
	d := &door{t: b.T, site: site}
	d.open("127.0.0.1:0")
	b.T.Cleanup(func() {
		b.Lossy.Store(true)
		d.let()
		d.close()
	})
	return d
}

func (d *door) open(address string) {
	d.t.Helper()
	listener := pagestest.Must[net.Listener](d.t)(net.Listen("tcp", address))
	d.url = "http://" + listener.Addr().String()
	server := &http.Server{Handler: d}
	d.mu.Lock()
	d.server = server
	d.mu.Unlock()
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			d.t.Error(err)
		}
	}()
}

// close breaks all connections and takes no more, as a server that restarts; reopen has it back at the same address.
func (d *door) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.server.Close()
}

func (d *door) reopen() { d.open(strings.TrimPrefix(d.url, "http://")) }

// hold stops every piece that comes from now on after so many bytes.
func (d *door) hold(after int64) *uploadBrake {
	h := &uploadBrake{after: after, reached: make(chan struct{}), cut: make(chan struct{}), free: make(chan struct{})}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held = h
	return h
}

// wait waits until a piece is held.
func (h *uploadBrake) wait(ctx context.Context, t testing.TB) {
	t.Helper()
	select {
	case <-h.reached:
	case <-ctx.Done():
		t.Fatal("no piece came as far as the door holds it")
	}
}

// let lets held and later pieces go on; cut breaks the held ones.
func (d *door) let() { d.lift(func(h *uploadBrake) { close(h.free) }) }

func (d *door) cut() { d.lift(func(h *uploadBrake) { close(h.cut) }) }

func (d *door) lift(how func(*uploadBrake)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held != nil {
		how(d.held)
	}
	d.held = nil
}

// answer makes the API answer with nothing but a status; 0 restores its own answers. With 503 it asks for five minutes of
// patience: no try comes by itself while a test looks at the page.
func (d *door) answer(status int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.status = status
}

// seen is how many uploads were begun, and the offsets of the pieces that came.
func (d *door) seen() (created int, offsets string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.created, strings.Join(d.offsets, " ")
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	held, status := d.held, d.status
	api := strings.HasPrefix(r.URL.Path, "/api/v1/evidence")
	if api && status == 0 && r.Method == http.MethodPost {
		d.created++
	}
	if api && r.Method == http.MethodPatch {
		d.offsets = append(d.offsets, r.Header.Get("Upload-Offset"))
	}
	d.mu.Unlock()
	if api && status != 0 {
		if status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "300")
		}
		w.WriteHeader(status)
		return
	}
	if api && r.Method == http.MethodPatch && held != nil {
		r.Body = &heldBody{ReadCloser: r.Body, hold: held, left: held.after}
	}
	d.site.ServeHTTP(w, r)
}

type heldBody struct {
	io.ReadCloser
	hold *uploadBrake
	left int64
	free bool
}

func (b *heldBody) Read(p []byte) (int, error) {
	if !b.free && b.left == 0 {
		b.hold.once.Do(func() { close(b.hold.reached) })
		select {
		case <-b.hold.free:
			b.free = true
		case <-b.hold.cut:
			return 0, io.ErrUnexpectedEOF
		}
	}
	if !b.free && int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}

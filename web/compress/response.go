package compress

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// least is the length in bytes from which a body is compressed: what fits into a packet gains nothing.
const least = 1 << 10

// A response compresses the body that is written to it. Status and headers go out when it is known how: a body that may
// be compressed is held until it is long enough, ends, or is flushed.
type response struct {
	http.ResponseWriter
	coding Coding
	head   bool // the body is not sent

	status  int     // 0 before WriteHeader
	holding bool    // it is not known yet how to send
	held    []byte  // meanwhile, less than least
	encoder encoder // nil where the body is sent as it is
	mute    bool    // headers announce a coded body, which is not sent
	sent    int64   // bytes
}

// Unwrap lets http.ResponseController reach the connection.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *response) WriteHeader(status int) {
	if status < http.StatusOK { // more will come
		w.ResponseWriter.WriteHeader(status)
		return
	}
	if w.status != 0 {
		return
	}
	w.status = status
	h := w.Header()
	if status != http.StatusNoContent && status != http.StatusNotModified && varies(h) {
		Vary(h, "Accept-Encoding")
		length, err := strconv.Atoi(h.Get("Content-Length"))
		if w.coding != Identity && status != http.StatusPartialContent && (err != nil || length >= least) {
			w.holding = true
			return
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.holding {
		if len(w.held)+len(p) < least {
			w.held = append(w.held, p...)
			return len(p), nil
		}
		if err := w.begin(); err != nil {
			return 0, err
		}
	}
	return w.send(p)
}

// begin sends the headers of a coded body, and what was held of it. Where no encoder is free the body goes out as it
// is.
func (w *response) begin() error {
	w.holding = false
	h := w.Header()
	if w.head {
		w.mute = true
	} else {
		w.encoder = acquire(w.coding, (*wire)(w))
	}
	if w.mute || w.encoder != nil {
		h.Set("Content-Encoding", string(w.coding))
		h.Del("Content-Length")
		// A strong tag stands for bytes, and these are others.
		if tag := h.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
			h.Set("ETag", "W/"+tag)
		}
	}
	w.ResponseWriter.WriteHeader(w.status)
	held := w.held
	w.held = nil
	if len(held) == 0 {
		return nil
	}
	_, err := w.send(held)
	return err
}

// send sends bytes of the body the way that was decided on.
func (w *response) send(p []byte) (int, error) {
	switch {
	case w.mute:
		return len(p), nil
	case w.encoder != nil:
		return w.encoder.Write(p) //nolint:wrapcheck // an error of the connection
	}
	return (*wire)(w).Write(p)
}

// wire is the way to the client behind the encoder. It counts.
type wire response

func (w *wire) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.sent += int64(n)
	return n, err
}

// FlushError sends on what was written so far. http.ResponseController finds it.
func (w *response) FlushError() error {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.holding {
		if err := w.begin(); err != nil {
			return err
		}
	}
	if w.encoder != nil {
		if err := w.encoder.Flush(); err != nil {
			return fmt.Errorf("compress: flush: %w", err)
		}
	}
	return http.NewResponseController(w.ResponseWriter).Flush() //nolint:wrapcheck // says all
}

// finish ends a body whose handler has written all of it. Its error is of a client that has left.
func (w *response) finish() error {
	switch {
	case w.holding: // it is short
		w.holding = false
		if !w.head || len(w.held) > 0 { // a HEAD without a body tells nothing of its length
			w.Header().Set("Content-Length", strconv.Itoa(len(w.held)))
		}
		w.ResponseWriter.WriteHeader(w.status)
		if w.head || len(w.held) == 0 {
			return nil
		}
		_, err := w.send(w.held)
		return err
	case w.encoder != nil:
		if err := w.encoder.Close(); err != nil {
			return fmt.Errorf("compress: end of the answer: %w", err)
		}
	}
	return nil
}

// release gives the encoder back, whether the body ended or not.
func (w *response) release() {
	if w.encoder != nil {
		release(w.coding, w.encoder)
		w.encoder = nil
	}
}

// Package compress sends answers in the coding that suits their client best: zstd, brotli or gzip.
//
// In come the bodies that handlers write, out go the same bodies in fewer bytes, while they are written: none is kept
// whole. Some bodies are sent as they are: those shorter than a packet or compressed already, streams of events, parts
// of files, and answers to HTTP/1.0, whose caches know no Vary. A handler that codes its answer itself asks CodingOf
// and sets Content-Encoding.
//
// The length of a compressed answer tells whether a text that a request chose occurs beside a secret of the page
// (BREACH). So a handler whose page shows a secret says "Cache-Control: no-transform", which ends compression here and
// in proxies, and what a page of another site asks for is never compressed.
package compress

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// Middleware is the middleware. It stands outside of what turns errors into answers, and inside of what counts the
// bytes of an answer. A handler that panics, as one does whose answer breaks off half-way, leaves an answer without its
// end.
func Middleware(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		w := &response{
			ResponseWriter: c.Response().Writer, coding: CodingFor(r, Codings...), head: r.Method == http.MethodHead,
		}
		c.Response().Writer = w
		defer w.release()
		if err := next(c); err != nil {
			return err
		}
		if w.finish() != nil {
			panic(http.ErrAbortHandler) // the client has left; whatever it was, the answer is not whole
		}
		return nil
	}
}

// CodingFor chooses one of the offered codings by the Accept-Encoding of a request.
func CodingFor(r *http.Request, offers ...Coding) Coding {
	if !r.ProtoAtLeast(1, 1) || r.Header.Get("Range") != "" || r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		return Identity
	}
	return ChooseCoding(strings.Join(r.Header.Values("Accept-Encoding"), ","), offers...)
}

// CodingOf is the coding in which Middleware would send an answer, for handlers that have a body in several codings;
// Identity where Middleware does not run.
func CodingOf(c echo.Context) Coding {
	if w, ok := c.Response().Writer.(*response); ok {
		return w.coding
	}
	return Identity
}

// BytesSent is how many bytes of the body have gone to the client.
func BytesSent(c echo.Context) int64 {
	if w, ok := c.Response().Writer.(*response); ok {
		return w.sent
	}
	return c.Response().Size
}

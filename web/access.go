package web

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/tracing"
	"heapdrift/web/compress"
)

// access gives each request an id and writes one line about it, with the status and the bytes that went out.
func (s *Server) access(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		c.Response().Header().Set(echo.HeaderXRequestID, rand.Text())
		defer func() { s.logRequest(c, time.Since(start)) }() // also where the connection is cut off by a panic
		return next(c)
	}
}

// answered turns errors of handlers into answers.
func (s *Server) answered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := next(c); err != nil {
			s.handleError(err, c)
		}
		return nil
	}
}

// readingMethods are those of requests that change nothing.
var readingMethods = []string{http.MethodGet, http.MethodHead, http.MethodOptions}

// traced begins a span for a request that changes something, to which what it queues belongs. Others are left out:
// pages ask more often by far, and metrics say how long they take.
func (s *Server) traced(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if s.opt.Tracer == nil || slices.Contains(readingMethods, r.Method) {
			return next(c)
		}
		ctx, end := s.opt.Tracer.BeginRequest(r.Context(),
			tracing.Request{Method: r.Method, Route: c.Path(), ID: requestID(c)})
		defer func() { end(c.Response().Status) }()
		c.SetRequest(r.WithContext(ctx))
		return next(c)
	}
}

func (s *Server) logRequest(c echo.Context, took time.Duration) {
	r, w := c.Request(), c.Response()
	level := slog.LevelInfo
	if c.Path() == healthPath || c.Path() == readyPath {
		level = slog.LevelDebug
	}
	if s.opt.Answered != nil {
		s.opt.Answered(answerOf(c, took))
	}
	attrs := []slog.Attr{
		slog.String("request", requestID(c)), slog.String("method", r.Method), slog.String("path", loggedPath(c)),
		slog.Int("status", w.Status),
		slog.Int64("sent", compress.BytesSent(c)), slog.Float64("took_ms", float64(took.Microseconds())/1000),
		slog.String("client", c.RealIP()),
	}
	if c.Get(wasCut) != nil {
		attrs = append(attrs, slog.Bool("cut", true))
	}
	if trace := r.Header.Get("Traceparent"); trace != "" && len(trace) <= 64 {
		attrs = append(attrs, slog.String("traceparent", trace))
	}
	s.log.LogAttrs(r.Context(), level, "web: request", attrs...)
}

// loggedPath is the path of a request, or its route where the path holds the secret of a link.
func loggedPath(c echo.Context) string {
	if strings.HasPrefix(c.Request().URL.Path, "/setup/") {
		return "/setup/:code"
	}
	return c.Request().URL.Path
}

func requestID(c echo.Context) string { return c.Response().Header().Get(echo.HeaderXRequestID) }

// recover turns a panic into an error of the server. http.ErrAbortHandler passes: it is meant to cut the connection.
func (s *Server) recover(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			switch p := recover(); p {
			case nil:
			case http.ErrAbortHandler:
				panic(p)
			default:
				err = fmt.Errorf("web: panic: %v\n%s", p, debug.Stack())
			}
		}()
		return next(c)
	}
}

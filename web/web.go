// Package web is the HTTP server. In come requests; packages web/pages and web/api answer them. This package adds what
// all answers have in common: the client's address, request ids, the access log, security headers, error answers and
// the health endpoints.
package web

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/blob"
	"heapdrift/internal/downloads"
	"heapdrift/internal/intake"
	"heapdrift/internal/memory"
	"heapdrift/internal/query"
	"heapdrift/internal/store"
	"heapdrift/internal/tracing"
	"heapdrift/web/api"
	"heapdrift/web/compress"
	"heapdrift/web/guard"
	"heapdrift/web/pages"
	"heapdrift/web/pages/account"
	"heapdrift/web/watch"
)

// Options are what a server works with. Store, Blobs and Intake are required.
type Options struct {
	Store  *store.Store
	Blobs  blob.Store
	Intake *intake.Intake
	// Windows answers for windows of traces; without one, whole traces are shown only.
	Windows api.WindowAnswers
	// Budget is what reports that are read or made take memory from; nil for no limit.
	Budget *memory.Budget
	// Answered is called for every request that was answered; nil for nobody.
	Answered func(Answer)
	// Tracer begins a span for each request that changes something; nil for none.
	Tracer *tracing.Tracer
	// PingQueue reports whether the broker of jobs answers; nil where there is none to ask.
	PingQueue func(context.Context) error
	// CheckWorker reports whether the worker in this process takes jobs; nil where there is none.
	CheckWorker func(context.Context) error
	Log         *slog.Logger
	Version     string
	// Downloads are the programs that the server gives away; nil for none.
	Downloads *downloads.Library
	// Hosts are the names and addresses that the server answers for, in lower case and without ports: "localhost", "::1".
	// Empty for any.
	Hosts []string
	// Access is whether the server asks who somebody is; by account where nothing is said.
	Access guard.Access
	// Issuer is an OpenID Connect provider that people may log in by; nil for none.
	Issuer  *account.Issuer
	Proxies Proxies // whose word counts for a client's address
	// UploadAge is when an unfinished upload that nobody touches is deleted; 24 h by default.
	UploadAge time.Duration
	// UploadIdle is how long an upload may stand still before its connection is given up; 30 s by default.
	UploadIdle time.Duration
}

// A Server serves the pages and the API.
type Server struct {
	opt     Options
	log     *slog.Logger
	echo    *echo.Echo
	hub     *watch.Hub
	api     *api.API
	ready   Readiness
	closing chan struct{} // closed when the server shuts down
	close   sync.Once
}

// New makes a server. Serve runs it on a listener; Handler is for servers of others.
func New(opt Options) (*Server, error) {
	if opt.Store == nil || opt.Blobs == nil || opt.Intake == nil {
		return nil, errors.New("web: a server needs a store, a blob store and an intake")
	}
	opt.UploadAge = cmp.Or(opt.UploadAge, 24*time.Hour)
	s := &Server{opt: opt, log: opt.Log, echo: echo.New(), closing: make(chan struct{})}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	e := s.echo
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.handleError
	e.IPExtractor = opt.Proxies.clientAddress
	s.ready.checks = s.checks()
	s.health(e)
	s.hub = watch.New(opt.Store, s.log)
	queries := &query.IndexCache{Blobs: opt.Blobs, Budget: opt.Budget}
	s.api = api.New(api.Options{
		Store: opt.Store, Blobs: opt.Blobs, Intake: opt.Intake, Windows: opt.Windows, Queries: queries, Budget: opt.Budget,
		Log: s.log, Closing: s.closing, Watch: s.hub.Watch, Idle: opt.UploadIdle,
	})
	door := guard.New(opt.Store, opt.Access)
	e.Pre(s.routeHead)
	e.Use(answerHead, headers, s.access, s.traced, compress.Middleware, s.answered, s.recover, s.addressed, sameOrigin,
		door.Check, s.api.Bodies)
	s.api.Register(e)
	pages.Register(e, pages.Options{Store: opt.Store, Guard: door, Issuer: opt.Issuer, Intake: opt.Intake, Hub: s.hub,
		Windows: opt.Windows, Queries: queries, Version: opt.Version, Downloads: opt.Downloads,
		Closing: s.closing})
	if err := guard.CheckCoverage(e.Routes()); err != nil {
		return nil, err
	}
	return s, nil
}

// Handler is the server's handler.
func (s *Server) Handler() http.Handler { return s.echo }

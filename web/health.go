package web

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/blob"
)

const (
	healthPath = "/healthz"
	readyPath  = "/readyz"
)

const (
	checkTimeout = 2 * time.Second
	checkCache   = time.Second
)

// health adds the routes that supervisors ask.
func (s *Server) health(e *echo.Echo) {
	for _, add := range []func(string, echo.HandlerFunc, ...echo.MiddlewareFunc) *echo.Route{e.GET, e.HEAD} {
		add(healthPath, s.healthz)
		add(readyPath, s.readyz)
	}
}

// healthz handles GET /healthz: the process is alive, whatever it depends on.
func (s *Server) healthz(c echo.Context) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusOK, map[string]string{"status": "alive", "version": s.opt.Version})
}

// readyz handles GET /readyz: whether requests can be served now. Why not stands in the log, not in the answer.
func (s *Server) readyz(c echo.Context) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	select {
	case <-s.closing:
		return c.JSON(http.StatusServiceUnavailable, readyView{Status: "shutting-down"})
	default:
	}
	failures := s.ready.look(c.Request().Context())
	view, status := readyView{Status: "ready", Checks: map[string]string{}}, http.StatusOK
	for name, err := range failures {
		view.Checks[name] = "ok"
		if err != nil {
			view.Checks[name], view.Status, status = "failing", "not-ready", http.StatusServiceUnavailable
			s.log.Warn("web: not ready", "check", name, "error", err)
		}
	}
	return c.JSON(status, view)
}

type readyView struct {
	Status string            `json:"status"`
	Checks map[string]string `json:"checks,omitempty"`
}

// checks are what readiness depends on.
func (s *Server) checks() map[string]func(context.Context) error {
	checks := map[string]func(context.Context) error{
		"database": s.opt.Store.Ping,
		"blobs": func(ctx context.Context) error {
			_, err := s.opt.Blobs.Stat(ctx, "readiness/probe") // there is none: that the store says so is what counts
			if errors.Is(err, blob.ErrNotFound) {
				return nil
			}
			return err
		},
	}
	if s.opt.PingQueue != nil {
		checks["queue"] = s.opt.PingQueue
	}
	return checks
}

var errNoAnswer = errors.New("no answer in time")

// readiness remembers the outcome of the checks for a moment: many supervisors and balancers ask at once.
type readiness struct {
	checks map[string]func(context.Context) error

	mu   sync.Mutex
	at   time.Time
	last map[string]error
}

// look returns the outcome of each check.
func (r *readiness) look(ctx context.Context) map[string]error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.at) < checkCache {
		return r.last
	}
	// Whoever asks first checks for all: that it leaves must not spoil what the others see.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	type result struct {
		name string
		err  error
	}
	results := make(chan result, len(r.checks))
	outcome := map[string]error{}
	for name, check := range r.checks {
		outcome[name] = errNoAnswer
		go func() { results <- result{name, check(ctx)} }()
	}
	for range r.checks {
		select {
		case one := <-results:
			outcome[one.name] = one.err
		case <-ctx.Done(): // a check that does not heed its context must not hold up the others
		}
	}
	r.at, r.last = time.Now(), outcome
	return outcome
}

package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/blob"
	"heapdrift/internal/store"
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
	view, status := s.ready.view(c.Request().Context(), s.log)
	return c.JSON(status, view)
}

// A Readiness caches the result of the checks for a short time: many supervisors and balancers ask at once.
type Readiness struct {
	checks  map[string]func(context.Context) error
	reasons bool // the answer says why not; else only the log does

	mu   sync.Mutex
	at   time.Time
	last map[string]error
}

// view is the answer to who asks for readiness.
func (r *Readiness) view(ctx context.Context, log *slog.Logger) (readyView, int) {
	view, status := readyView{Status: "ready", Checks: map[string]string{}}, http.StatusOK
	for name, err := range r.look(ctx) {
		view.Checks[name] = "ok"
		if err != nil {
			view.Checks[name], view.Status, status = "failing", "not-ready", http.StatusServiceUnavailable
			if r.reasons {
				view.Checks[name] = err.Error()
			}
			log.Warn("web: not ready", "check", name, "error", err)
		}
	}
	return view, status
}

type readyView struct {
	Status string            `json:"status"`
	Checks map[string]string `json:"checks,omitempty"`
}

// checks are what readiness depends on.
func (s *Server) checks() map[string]func(context.Context) error {
	return Checks(s.opt.Store, s.opt.Blobs, s.opt.Intake.MinFree, s.opt.PingQueue, s.opt.CheckWorker)
}

// Checks are the checks of a server or a worker, by name: the database and its schema, at least minFree bytes free in
// the blob store, the queue where there is one, and whether a worker takes jobs.
func Checks(database *store.Store, blobs blob.Store, minFree int64,
	pingQueue, checkWorker func(context.Context) error) map[string]func(context.Context) error {
	checks := map[string]func(context.Context) error{
		"database": database.Ping,
		"schema":   database.CheckSchema,
		"blobs": func(ctx context.Context) error {
			if err := blob.CheckFolder(blobs); err != nil {
				return err
			}
			_, err := blobs.Stat(ctx, "readiness/probe") // there is none: that the store says so is what counts
			if errors.Is(err, blob.ErrNotFound) {
				return nil
			}
			return err
		},
		"disk": func(context.Context) error {
			if free, known := blob.FreeBytes(blobs); known && free < minFree {
				return fmt.Errorf("web: %d bytes of the disk are free, and %d are to stay (HEAPDRIFT_MIN_FREE)", free, minFree)
			}
			return nil
		},
	}
	if pingQueue != nil {
		checks["queue"] = pingQueue
	}
	if checkWorker != nil {
		checks["worker"] = checkWorker
	}
	return checks
}

var errNoAnswer = errors.New("no answer in time")

// look returns the outcome of each check.
func (r *Readiness) look(ctx context.Context) map[string]error {
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

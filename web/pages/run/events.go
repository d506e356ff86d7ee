package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web/pages/ui"
)

const (
	// lookInterval is how often a stream looks for itself: notifications may get lost.
	lookInterval = 2 * time.Second
	// pingInterval keeps proxies from closing a stream that has nothing to say.
	pingInterval = 15 * time.Second
	// writeTimeout ends streams to readers who are gone without a word.
	writeTimeout = 10 * time.Second
)

// events handles GET /runs/:id/events: the stages of a run as they change, as server-sent events. The stream ends with
// "report", which tells the run's report from others, and "done" when nothing is left to do. Each look is a View of its
// own: none is held while the stream waits.
func (p *pages) events(c echo.Context) error {
	id, err := ui.RunInPath(c)
	if err != nil {
		return err
	}
	changed, stop := p.hub.Watch(id)
	defer stop()
	ctx := c.Request().Context()
	stages, err := p.stages(ctx, id)
	if err != nil {
		return err
	}
	s, err := openStream(c)
	if err != nil {
		return err
	}
	look, ping := time.NewTicker(lookInterval), time.NewTicker(pingInterval)
	defer look.Stop()
	defer ping.Stop()
	for {
		ended, err := s.sendProgress(ctx, stages)
		if err != nil || ended {
			return s.end(err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-p.closing:
			return nil // the browser connects again, to whoever answers then
		case <-changed:
		case <-look.C:
		case <-ping.C:
			if err := s.write(": ping\n\n"); err != nil {
				return s.end(err)
			}
		}
		if stages, err = p.stages(ctx, id); err != nil {
			return s.end(err)
		}
	}
}

// stages are how far a run is, and what tells its report from others.
type stages struct {
	progress
	stamp string
}

func (p *pages) stages(ctx context.Context, id int64) (*stages, error) {
	return store.Read(ctx, p.store, func(v store.View) (*stages, error) {
		run, err := v.FindRun(ctx, id)
		if err != nil {
			return nil, err
		}
		now := &stages{progress{state: run.State()}, reportStamp(run)}
		if now.state != leaks.RunProcessing {
			return now, nil
		}
		evidence, err := v.ListEvidence(ctx, id)
		if err != nil {
			return nil, err
		}
		now.progress, err = progressOf(ctx, v, run, evidence)
		return now, err
	})
}

// A stream is an open answer of server-sent events.
type stream struct {
	c       echo.Context
	control *http.ResponseController
	last    map[string]string // by event
}

// errLeft says that nobody receives a stream any more.
var errLeft = errors.New("run: the reader of a stream has left")

func openStream(c echo.Context) (*stream, error) {
	s := &stream{c: c, control: http.NewResponseController(c.Response()), last: map[string]string{}}
	header := c.Response().Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // nginx would hold events back
	c.Response().WriteHeader(http.StatusOK)
	return s, s.write("retry: 2000\n\n")
}

// send sends an event, unless the last one of its name said the same.
func (s *stream) send(event, data string) error {
	if data == s.last[event] {
		return nil
	}
	s.last[event] = data
	return s.write("event: " + event + "\ndata: " + strings.ReplaceAll(strings.TrimSpace(data), "\n", "\ndata: ") + "\n\n")
}

// sendProgress sends the stages where they differ from those sent before, and "done" at the end.
func (s *stream) sendProgress(ctx context.Context, now *stages) (ended bool, err error) {
	if now.state != leaks.RunProcessing {
		if err := s.send("report", now.stamp); err != nil {
			return true, err
		}
		return true, s.send("done", "done")
	}
	var b bytes.Buffer
	if err := progressCard(now.progress).Render(ctx, &b); err != nil {
		return false, fmt.Errorf("run: render stages: %w", err)
	}
	if err := s.send("headline", html.EscapeString(now.headline())); err != nil {
		return false, err
	}
	return false, s.send("progress", b.String())
}

func (s *stream) write(text string) error {
	_ = s.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // not every connection has deadlines
	if _, err := s.c.Response().Write([]byte(text)); err != nil {
		return errors.Join(errLeft, err)
	}
	if err := s.control.Flush(); err != nil {
		return errors.Join(errLeft, err)
	}
	return nil
}

// end is what a handler returns for a stream: a reader who leaves is no error.
func (s *stream) end(err error) error {
	if errors.Is(err, errLeft) || s.c.Request().Context().Err() != nil {
		return nil //nolint:nilerr // see above
	}
	return err
}

// reportStamp tells the outcomes of a run's analyses apart: a stream sends it, so that a page knows whether it shows
// an old one.
func reportStamp(r store.Run) string {
	if r.AnalysedAt == nil {
		return r.ErrorCode
	}
	return strconv.FormatInt(r.AnalysedAt.UnixMicro(), 10) + r.ErrorCode
}

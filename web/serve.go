package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"heapdrift/internal/blob"
)

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10 // bytes; upload metadata are the longest
	grace         = 10 * time.Second
	sweepInterval = time.Hour
)

// Serve answers on the listener until ctx is done, then lets requests under way end for ten seconds. Streams to
// pages and requests that wait end at once. A server serves once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	// No timeout of the whole request: an upload of many GB takes its time. Uploads that stand still end themselves.
	server := &http.Server{
		Handler: s.echo, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	background, stop := context.WithCancel(ctx)
	defer stop()
	go s.hub.Run(background)
	go s.sweep(background)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		s.shut()
		return fmt.Errorf("web: serve: %w", err)
	case <-ctx.Done():
	}
	s.shut()
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := server.Shutdown(after)
	if errors.Is(err, context.DeadlineExceeded) {
		s.log.Warn("web: requests that did not end in time are cut off")
		err = server.Close()
	}
	if err != nil {
		return fmt.Errorf("web: shut down: %w", err)
	}
	return nil
}

// shut makes readiness fail and ends what only waits.
func (s *Server) shut() { s.close.Do(func() { close(s.closing) }) }

// sweep deletes, now and then, what clients gave up and what crashes left.
func (s *Server) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	for {
		s.sweepOnce(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Server) sweepOnce(ctx context.Context) {
	uploads, err := s.api.SweepUploads(ctx, s.opt.UploadAge)
	files, err2 := blob.SweepIncoming(ctx, s.opt.Blobs, s.opt.UploadAge)
	if err := errors.Join(err, err2); err != nil && ctx.Err() == nil {
		s.log.Error("web: cannot sweep uploads", "error", err)
	}
	if uploads+files > 0 {
		s.log.Info("web: deleted uploads that were given up", "uploads", uploads, "files", files)
	}
}

package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
)

// metricsPath is where a Prometheus asks.
const metricsPath = "/metrics"

// A Monitor serves /metrics, /healthz and /readyz of a server or a worker, on an address of its own.
type Monitor struct {
	Metrics http.Handler
	Version string
	Checks  map[string]func(context.Context) error // by name; nil from a check is healthy
	Log     *slog.Logger
}

// Serve answers on the listener until ctx is done.
func (m *Monitor) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: m.Handler(), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(m.Log.Handler(), slog.LevelWarn)}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // nobody waits for more than one look
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("web: monitor: %w", err)
	}
	return nil
}

// Handler is what Serve serves.
func (m *Monitor) Handler() http.Handler {
	ready := &Readiness{checks: m.Checks, reasons: true} // this address is for operators
	mux := http.NewServeMux()
	mux.Handle("GET "+metricsPath, m.Metrics)
	mux.HandleFunc("GET "+healthPath, func(w http.ResponseWriter, _ *http.Request) {
		m.answer(w, http.StatusOK, map[string]string{"status": "alive", "version": m.Version})
	})
	mux.HandleFunc("GET "+readyPath, func(w http.ResponseWriter, r *http.Request) {
		view, status := ready.view(r.Context(), m.Log)
		m.answer(w, status, view)
	})
	return mux
}

func (m *Monitor) answer(w http.ResponseWriter, status int, view any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(view); err != nil {
		m.Log.Debug("web: monitor: an answer could not be sent", "error", err)
	}
}

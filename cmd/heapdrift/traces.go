//go:build !client

package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"heapdrift/internal/tracing"
	"heapdrift/internal/tracing/otlp"
)

// openTraces sends the spans of a process to the collector; nil where none is set.
func (c *config) openTraces(ctx context.Context, r role, log *slog.Logger) (*otlp.Exporter, error) {
	if c.TracesURL == "" {
		return nil, nil //nolint:nilnil // no collector
	}
	traces, err := otlp.Open(ctx, otlp.Options{URL: c.TracesURL, Role: r.name(), Version: buildVersion(), Log: log})
	if err != nil {
		return nil, fmt.Errorf("environment: HEAPDRIFT_TRACES_URL: %w", err)
	}
	return traces, nil
}

// tracer begins spans; nil where nothing is traced.
func (p *parts) tracer() *tracing.Tracer {
	if p.traces == nil {
		return nil
	}
	return p.traces.Tracer
}

// tracesLimit is how long a process that ends waits for the collector of traces.
const tracesLimit = 3 * time.Second

// endTraces sends the spans that are left. A collector that is away does not fail a process that ends.
func (p *parts) endTraces(ctx context.Context) {
	if p.traces == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tracesLimit)
	defer cancel()
	if err := p.traces.Close(ctx); err != nil {
		p.log.Warn("the last spans could not be sent", "error", err)
	}
}

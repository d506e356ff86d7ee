// Package otlp sends spans to a collector of OpenTelemetry, by OTLP over HTTP. In come the spans of package tracing. A
// collector that is away or slow costs spans and stops nothing.
package otlp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"

	"heapdrift/internal/tracing"
)

// Options say where spans go and who sends them.
type Options struct {
	URL     string // of the collector, such as http://collector:4318/v1/traces
	Role    string // of the process: serve, work, up
	Version string // of the program
	Log     *slog.Logger
}

// An Exporter has a Tracer, and sends its spans until Close.
type Exporter struct {
	Tracer   *tracing.Tracer
	provider *trace.TracerProvider
}

// Open makes an exporter. It does not ask the collector. Headers that the collector wants, such as a key, are in
// OTEL_EXPORTER_OTLP_HEADERS, as OpenTelemetry defines it.
func Open(ctx context.Context, opt Options) (*Exporter, error) {
	at, err := url.Parse(opt.URL)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, errors.New("tracing: it is no address of a collector, such as http://collector:4318/v1/traces") // it may hold a key
	}
	sender, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(at.String()))
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		opt.Log.Warn("tracing: spans could not be sent", "error", err)
	}))
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	provider := trace.NewTracerProvider(trace.WithBatcher(sender), trace.WithResource(resource.NewSchemaless(
		attribute.String("service.name", "heapdrift-"+opt.Role), attribute.String("service.version", opt.Version),
		attribute.String("host.name", host))))
	return &Exporter{Tracer: tracing.New(provider.Tracer("heapdrift")), provider: provider}, nil
}

// Close sends what has been recorded, as long as the context lasts.
func (e *Exporter) Close(ctx context.Context) error {
	if err := e.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("tracing: %w", err)
	}
	return nil
}

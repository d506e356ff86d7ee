// Package tracing records the way of evidence from the upload to the report as a trace of OpenTelemetry. In come
// requests that change something and attempts of jobs; out go spans, each below the request or the job that queued it.
// Package otlp sends them to a collector.
package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// A Tracer begins spans. A nil Tracer begins none.
type Tracer struct{ tracer trace.Tracer }

// New makes a Tracer of one of OpenTelemetry.
func New(t trace.Tracer) *Tracer { return &Tracer{t} }

// parentHeader is the name of the header of W3C's Trace Context that Parent is the value of.
const parentHeader = "traceparent"

// Parent names the span of a context as W3C's traceparent, to be stored with the jobs that are queued in it; "" for no
// span.
func Parent(ctx context.Context) string {
	header := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, header)
	return header[parentHeader]
}

// within is a context below the span that Parent has named. A text that names none changes nothing.
func within(ctx context.Context, parent string) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{parentHeader: parent})
}

// A Request is what a span says of a request. It has no address, no header and no query: these can hold secrets.
type Request struct {
	Method string // GET, POST
	Route  string // pattern of the route, such as /api/v1/evidence; "" where none matches
	ID     string // of the request, which the access log and the answer have
}

// BeginRequest begins the span of a request. Whatever the client says of traces of its own does not count: a client
// could have the server record any number of them. end says with which status the request was answered.
func (t *Tracer) BeginRequest(ctx context.Context, r Request) (_ context.Context, end func(status int)) {
	if t == nil {
		return ctx, func(int) {}
	}
	ctx, span := t.tracer.Start(ctx, r.Method+" "+r.Route, trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(attribute.String("http.request.method", r.Method), attribute.String("http.route", r.Route),
			attribute.String("heapdrift.request", r.ID)))
	return ctx, func(status int) {
		span.SetAttributes(attribute.Int("http.response.status_code", status))
		if status >= 500 {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// A Job is what a span says of an attempt of a job.
type Job struct {
	ID, Run  int64
	Evidence *int64 // that a read job reads; nil for the other kinds
	Kind     string // as package jobs has it
	Attempt  int    // from 1
	Parent   string // what Parent named when the job was queued; "" begins a trace
}

// BeginJob begins the span of an attempt of a job. end says how the attempt ended, as the metrics do, and the code of
// its error; "" for none.
func (t *Tracer) BeginJob(ctx context.Context, j Job) (_ context.Context, end func(outcome, code string)) {
	if t == nil {
		return ctx, func(string, string) {}
	}
	list := []attribute.KeyValue{attribute.Int64("heapdrift.job", j.ID), attribute.Int64("heapdrift.run", j.Run),
		attribute.Int("heapdrift.attempt", j.Attempt)}
	if j.Evidence != nil {
		list = append(list, attribute.Int64("heapdrift.evidence", *j.Evidence))
	}
	ctx, span := t.tracer.Start(within(trace.ContextWithSpanContext(ctx, trace.SpanContext{}), j.Parent), j.Kind,
		trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(list...))
	return ctx, func(outcome, code string) {
		span.SetAttributes(attribute.String("heapdrift.outcome", outcome))
		if code != "" {
			span.SetStatus(codes.Error, code)
		}
		span.End()
	}
}

// Stage notes in the span of a context that a stage of its job begins.
func Stage(ctx context.Context, name string) { trace.SpanFromContext(ctx).AddEvent(name) }

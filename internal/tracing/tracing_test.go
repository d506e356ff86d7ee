package tracing_test

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"heapdrift/internal/tracing"
)

// recorded is a Tracer, and the spans that have ended.
func recorded() (*tracing.Tracer, *tracetest.SpanRecorder) {
	spans := tracetest.NewSpanRecorder()
	return tracing.New(trace.NewTracerProvider(trace.WithSpanProcessor(spans)).Tracer("test")), spans
}

func attributes(s trace.ReadOnlySpan) map[string]string {
	list := map[string]string{}
	for _, a := range s.Attributes() {
		list[string(a.Key)] = a.Value.String()
	}
	return list
}

// A job lies below the request that queued it, and the next job below that one, also in another process.
func TestWayOfEvidence(t *testing.T) {
	tracer, spans := recorded()
	ctx, answered := tracer.BeginRequest(t.Context(), tracing.Request{Method: "POST", Route: "/api/v1/evidence", ID: "R"})
	queued := tracing.Parent(ctx)
	answered(201)
	file := int64(7)
	ctx, read := tracer.BeginJob(t.Context(), tracing.Job{ID: 1, Run: 2, Evidence: &file, Kind: "read", Attempt: 1, Parent: queued})
	tracing.Stage(ctx, "reading")
	next := tracing.Parent(ctx)
	read("done", "")
	_, analyse := tracer.BeginJob(ctx, tracing.Job{ID: 3, Run: 2, Kind: "analyse", Attempt: 2, Parent: next})
	analyse("failed", "over-memory")

	list := spans.Ended()
	if len(list) != 3 {
		t.Fatalf("%d spans", len(list))
	}
	for i, s := range list {
		if s.SpanContext().TraceID() != list[0].SpanContext().TraceID() {
			t.Errorf("%s has a trace of its own", s.Name())
		}
		if i > 0 && s.Parent().SpanID() != list[i-1].SpanContext().SpanID() {
			t.Errorf("%s does not lie below %s", s.Name(), list[i-1].Name())
		}
	}
	if got := attributes(list[0]); list[0].Name() != "POST /api/v1/evidence" || got["http.response.status_code"] != "201" ||
		got["heapdrift.request"] != "R" || list[0].Status().Code != codes.Unset {
		t.Errorf("%s %v %v", list[0].Name(), got, list[0].Status())
	}
	if got := attributes(list[1]); got["heapdrift.job"] != "1" || got["heapdrift.run"] != "2" || got["heapdrift.evidence"] != "7" ||
		got["heapdrift.outcome"] != "done" || len(list[1].Events()) != 1 || list[1].Events()[0].Name != "reading" {
		t.Errorf("%v %v", got, list[1].Events())
	}
	if got := attributes(list[2]); got["heapdrift.attempt"] != "2" || list[2].Status().Description != "over-memory" {
		t.Errorf("%v %v", got, list[2].Status())
	}
}

// Requests that fail for the server are errors, and those that it refuses are not.
func TestFailedRequests(t *testing.T) {
	tracer, spans := recorded()
	for status, want := range map[int]codes.Code{200: codes.Unset, 499: codes.Unset, 500: codes.Error, 501: codes.Error} {
		spans.Reset()
		_, end := tracer.BeginRequest(t.Context(), tracing.Request{Method: "POST"})
		end(status)
		if got := spans.Ended()[0].Status().Code; got != want {
			t.Errorf("%d: %v, want %v", status, got, want)
		}
	}
}

// Without a parent, or with one that is damaged, a job begins a trace: the span around it is not its parent.
func TestJobWithoutParent(t *testing.T) {
	tracer, spans := recorded()
	around, end := tracer.BeginJob(t.Context(), tracing.Job{Kind: "read"})
	defer end("done", "")
	for _, parent := range []string{"", "00-x", "00-00000000000000000000000000000000-0000000000000000-01"} {
		_, end := tracer.BeginJob(around, tracing.Job{Kind: "analyse", Parent: parent})
		end("done", "")
		last := spans.Ended()[len(spans.Ended())-1]
		if last.Parent().IsValid() {
			t.Errorf("%q: it lies below %v", parent, last.Parent())
		}
	}
}

// A request begins a trace, whatever span is around it.
func TestRequestBeginsTrace(t *testing.T) {
	tracer, spans := recorded()
	around, _ := tracer.BeginJob(t.Context(), tracing.Job{Kind: "read"})
	_, answered := tracer.BeginRequest(around, tracing.Request{Method: "POST"})
	answered(200)
	if parent := spans.Ended()[0].Parent(); parent.IsValid() {
		t.Errorf("it lies below %v", parent)
	}
}

// Without a Tracer nothing is recorded, and nothing is stored with jobs.
func TestNoTracer(t *testing.T) {
	var none *tracing.Tracer
	ctx, answered := none.BeginRequest(t.Context(), tracing.Request{})
	answered(500)
	ctx, ended := none.BeginJob(ctx, tracing.Job{Parent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})
	tracing.Stage(ctx, "reading")
	ended("failed", "internal")
	if got := tracing.Parent(ctx); got != "" || tracing.Parent(context.Background()) != "" {
		t.Errorf("%q", got)
	}
}

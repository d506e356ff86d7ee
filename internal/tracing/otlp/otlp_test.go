package otlp_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"heapdrift/internal/tracing"
	"heapdrift/internal/tracing/otlp"
)

// What a process has recorded reaches the collector, with the name of the process.
func TestSpansReachTheCollector(t *testing.T) {
	sent := make(chan *collector.ExportTraceServiceRequest, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			packed, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = packed
		}
		data, err := io.ReadAll(body)
		request := &collector.ExportTraceServiceRequest{}
		if err != nil || proto.Unmarshal(data, request) != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		sent <- request
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	defer server.Close()
	e, err := otlp.Open(t.Context(), otlp.Options{URL: server.URL + "/v1/traces", Role: "work", Version: "1.2", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	_, end := e.Tracer.BeginJob(t.Context(), tracing.Job{ID: 5, Kind: "analyse"})
	end("done", "")
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	resource := (<-sent).GetResourceSpans()[0]
	var said []string
	for _, a := range resource.GetResource().GetAttributes() {
		said = append(said, a.GetKey()+"="+a.GetValue().GetStringValue())
	}
	name := resource.GetScopeSpans()[0].GetSpans()[0].GetName()
	if all := strings.Join(said, " "); name != "analyse" || !strings.Contains(all, "service.name=heapdrift-work service.version=1.2") {
		t.Errorf("%s of %s", name, all)
	}
}

// A collector that does not answer stops nobody: the end of the process waits as long as it is told to.
func TestCollectorThatHangs(t *testing.T) {
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer server.Close()
	defer close(hang)
	e, err := otlp.Open(t.Context(), otlp.Options{URL: server.URL, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for range 5000 { // more than wait to be sent at most
		_, end := e.Tracer.BeginJob(t.Context(), tracing.Job{Kind: "read"})
		end("done", "")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := e.Close(ctx); err == nil {
		t.Error("the spans were sent to nobody")
	}
}

func TestAddressOfTheCollector(t *testing.T) {
	var log bytes.Buffer
	for address, good := range map[string]bool{
		"http://collector:4318/v1/traces": true, "https://collector/v1/traces": true,
		"collector:4318": false, "/v1/traces": false, "http://": false, "grpc://collector:4317": false, "http://a b": false, "": false,
	} {
		e, err := otlp.Open(t.Context(), otlp.Options{URL: address, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if good != (err == nil) || err != nil && !strings.Contains(err.Error(), "http://collector:4318/v1/traces") {
			t.Errorf("%q: %v", address, err)
		}
		if err == nil {
			_ = e.Close(t.Context()) // nothing was recorded
		}
	}
}

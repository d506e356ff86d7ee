package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	span "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"heapdrift/internal/await"
)

// The trace of an upload goes on to its report: the jobs lie below the request, each below the one that queued it.
func TestTraceOfAnUpload(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a server")
	}
	var mu sync.Mutex
	spans := map[string]*span.Span{} // by ID
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		var sent collector.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(data, &sent) != nil {
			t.Errorf("the collector cannot read %d bytes: %v", len(data), err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, resource := range sent.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				for _, s := range scope.GetSpans() {
					spans[string(s.GetSpanId())] = s
				}
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	defer at.Close()
	server, _ := startServerWith(t, func(c *config) { c.TracesURL = at.URL + "/v1/traces" })
	log := filepath.Join(t.TempDir(), "a.txt")
	build := tillBuild{1, []string{"Log::Write"}, false}
	symbols, logs := build.write(t)
	first, err := os.ReadFile(filepath.Join(logs, "00.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, first, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := pushed(t.Context(), t, "--url", server, "--project", "shop", "--build", "1", "--symbols", symbols, log); code == exitInput {
		t.Fatal(stderr)
	}
	// wayTo are the names of the spans from the first one down to s.
	wayTo := func(s *span.Span) (way []string) {
		for ; s != nil; s = spans[string(s.GetParentSpanId())] {
			if way = append(way, s.GetName()); s.GetName() == "read" && len(s.GetEvents()) == 0 {
				t.Error("the read job has no stages")
			}
		}
		slices.Reverse(way)
		return way
	}
	want := []string{"PATCH /api/v1/evidence/:id", "read", "symbolise", "analyse"}
	await.Until(t, "the spans", func() bool {
		mu.Lock()
		defer mu.Unlock()
		for _, s := range spans {
			if slices.Equal(wayTo(s), want) {
				return true
			}
		}
		return false
	})
}

package web_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/web"
)

// serve runs a server and returns its address, how to stop it, and what Serve returned.
func serve(t *testing.T, opt web.Options) (address string, stop func(), ended <-chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	result := make(chan error, 1)
	server := newServer(t, opt)
	go func() { result <- server.Serve(ctx, l) }()
	return l.Addr().String(), cancel, result
}

// At shutdown a waiting request is answered, an upload keeps the bytes that have arrived and says so, and readiness
// fails.
func TestShutdown(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	opt, _ := options(t)
	address, stop, ended := serve(t, opt)
	target := leaks.UploadTarget{Project: "p", Build: "1", Scenario: "s", Run: "1"}
	e, err := opt.Store.CreateEvidence(t.Context(), target,
		store.Evidence{Name: "a", SHA256: strings.Repeat("0", 64), Kind: "umdh"})
	if err != nil {
		t.Fatal(err)
	}
	verdict := make(chan int, 1)
	go func() {
		res, err := http.Get(fmt.Sprintf("http://%s/api/v1/runs/%d/verdict?wait=5m", address, e.RunID))
		if err != nil {
			verdict <- 0
			return
		}
		_ = res.Body.Close()
		verdict <- res.StatusCode
	}()
	create, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+
		"/api/v1/evidence", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	create.Header = http.Header{"Tus-Resumable": {"1.0.0"}, "Upload-Length": {"1000"},
		"Upload-Metadata": {"project cA==,build MQ==,filename YQ=="}}
	res, err := http.DefaultClient.Do(create)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	body, feed := io.Pipe()
	patch, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, "http://"+
		address+res.Header.Get("Location"), body)
	if err != nil {
		t.Fatal(err)
	}
	patch.Header = http.Header{"Tus-Resumable": {"1.0.0"}, "Upload-Offset": {"0"},
		"Content-Type": {"application/offset+octet-stream"}}
	offset := make(chan string, 1)
	go func() {
		res, err := http.DefaultClient.Do(patch)
		if err != nil {
			offset <- err.Error()
			return
		}
		_ = res.Body.Close()
		offset <- res.Status + " " + res.Header.Get("Upload-Offset")
	}()
	_, _ = io.WriteString(feed, "abc")
	time.Sleep(2 * time.Second) //nolint:forbidigo // both requests are under way, of which clients are told nothing
	events, err := http.Get(fmt.Sprintf("http://%s/runs/%d/events", address, e.RunID))
	if err != nil {
		t.Fatal(err)
	}
	stop()
	began := time.Now()
	if _, err := io.ReadAll(events.Body); err != nil || time.Since(began) > 9*time.Second {
		t.Errorf("the stream ends after %v with %v", time.Since(began), err)
	}
	_ = events.Body.Close()
	if status := <-verdict; status != http.StatusAccepted {
		t.Errorf("the waiting request ends with %d, want 202", status)
	}
	if got := <-offset; got != "204 No Content 3" {
		t.Errorf("the upload ends with %q, want 3 bytes kept", got)
	}
	_ = feed.Close()
	if err := <-ended; err != nil || time.Since(began) > 9*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

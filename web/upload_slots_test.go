package web_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"heapdrift/web"
)

// resumable asks about a resumable upload as somebody, with a body of text.
func (tm *team) resumable(server *httptest.Server, who, method, path, body string, header ...string) *http.Response {
	tm.Helper()
	r, err := http.NewRequestWithContext(tm.Context(), method, server.URL+path, strings.NewReader(body))
	if err != nil {
		tm.Fatal(err)
	}
	r.Header = tm.who[who].Clone()
	r.Header.Set("Tus-Resumable", "1.0.0")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := server.Client().Do(r)
	if err != nil {
		tm.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	return res
}

// announce makes a resumable upload of so many bytes and returns its path.
func (tm *team) announce(server *httptest.Server, who, project string, bytes int) string {
	tm.Helper()
	var metadata []string
	for name, value := range map[string]string{"filename": "a.txt", "project": project, "build": "1", "scenario": "default",
		"run": "1"} {
		metadata = append(metadata, name+" "+base64.StdEncoding.EncodeToString([]byte(value)))
	}
	res := tm.resumable(server, who, "POST", "/api/v1/evidence", "", "Upload-Length", fmt.Sprint(bytes), "Upload-Metadata",
		strings.Join(metadata, ","))
	if res.StatusCode != http.StatusCreated {
		tm.Fatalf("%s announces an upload: %s", who, res.Status)
	}
	return res.Header.Get("Location")
}

// A token that opens far more uploads than the server has slots, and sends nothing, stops no other token at the same
// address.
func TestUploadsOfOneTokenStopNoOther(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	tm := newTeam(t)
	opt := tm.options
	opt.UploadIdle = time.Minute
	s, err := web.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close) // once the connections below are closed
	const slow = 60
	token := strings.TrimPrefix(tm.who["upload"].Get("Authorization"), "Bearer ")
	for range slow {
		path := tm.announce(server, "upload", "ours", 1000)
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := fmt.Fprintf(conn, "PATCH %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nTus-Resumable: 1.0.0\r\n"+
			"Content-Type: application/offset+octet-stream\r\nUpload-Offset: 0\r\nContent-Length: 1000\r\n\r\nx", path, token); err != nil {
			t.Fatal(err)
		}
	}
	log := "// Debug library initialized\nDBGHELP: x - private symbols & lines\n"
	began := time.Now()
	for range 3 {
		path := tm.announce(server, "other token", "theirs", len(log))
		res := tm.resumable(server, "other token", "PATCH", path, log, "Content-Type", "application/offset+octet-stream",
			"Upload-Offset", "0")
		if res.StatusCode == http.StatusRequestTimeout || res.StatusCode >= 500 {
			t.Errorf("another token's upload: %s", res.Status)
		}
	}
	if took := time.Since(began); took > opt.UploadIdle/2 {
		t.Errorf("another token waited %v", took)
	}
}

package blob_test

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"heapdrift/internal/blob"
)

// fakeS3 is gofakes3 and what it lacks: signed chunks in parts and in empty bodies, If-Match on GET, copying of parts.
// It remembers the requests, and tests may come between.
type fakeS3 struct {
	inner http.Handler
	url   string // of a bucket that nobody has made
	// meddle answers a request itself where it returns true.
	meddle func(w http.ResponseWriter, r *http.Request) bool

	mu       sync.Mutex
	requests []string // "GET bytes=0-9", "PUT", …
}

func newFakeS3(t testing.TB) *fakeS3 {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_SESSION_TOKEN", "")
	f := &fakeS3{inner: gofakes3.New(s3mem.New(), gofakes3.WithTimeSkewLimit(0)).Server()}
	server := httptest.NewUnstartedServer(f)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // gofakes3 writes headers twice
	server.Start()
	t.Cleanup(server.Close)
	f.url = "s3://evidence/some/prefix?insecure=1&region=us-east-1&endpoint=" + strings.TrimPrefix(server.URL, "http://")
	return f
}

func (f *fakeS3) open(t testing.TB) blob.Store {
	t.Helper()
	s, err := blob.Open(t.Context(), f.url)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// seen returns the requests since the last call.
func (f *fakeS3) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.requests
	f.requests = nil
	return r
}

func (f *fakeS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.requests = append(f.requests, strings.TrimSpace(r.Method+" "+r.Header.Get("Range")))
	f.mu.Unlock()
	if strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		size, _ := strconv.Atoi(r.Header.Get("X-Amz-Decoded-Content-Length"))
		body, err := unchunk(r.Body, size)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Length", strconv.Itoa(len(body)))
		r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
	}
	switch {
	case f.meddle != nil && f.meddle(w, r):
	case r.Method == http.MethodPut && r.Header.Get("X-Amz-Copy-Source-Range") != "":
		f.copyPart(w, r)
	case r.Method == http.MethodGet && r.Header.Get("If-Match") != "" && r.Header.Get("If-Match") != f.etag(r.URL.Path):
		w.WriteHeader(http.StatusPreconditionFailed)
		fmt.Fprint(w, `<Error><Code>PreconditionFailed</Code><Message>changed</Message></Error>`)
	default:
		f.inner.ServeHTTP(w, r)
	}
}

// unchunk takes the chunks of a signed body apart: size in hex, ";chunk-signature=…", line end, content, line end.
func unchunk(r io.Reader, size int) ([]byte, error) {
	body := make([]byte, 0, size+2)
	for in := bufio.NewReader(r); ; {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			return body, nil
		}
		hex, _, _ := strings.Cut(line, ";")
		n, err := strconv.ParseUint(hex, 16, 31)
		if err != nil {
			return nil, err
		}
		start := len(body)
		body = slices.Grow(body, int(n)+2)[:start+int(n)+2]
		if _, err := io.ReadFull(in, body[start:]); err != nil {
			return nil, err
		}
		body = body[:start+int(n)]
	}
}

func (f *fakeS3) do(method, path string, header http.Header, body []byte) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, bytes.NewReader(body))
	for name, values := range header {
		r.Header[name] = values
	}
	r.Header.Set("Content-Length", strconv.Itoa(len(body))) // gofakes3 looks for it there
	w := httptest.NewRecorder()
	f.inner.ServeHTTP(w, r)
	return w
}

func (f *fakeS3) etag(path string) string {
	return f.do(http.MethodHead, path, nil, nil).Header().Get("ETag")
}

// copyPart reads the range and puts it as a part.
func (f *fakeS3) copyPart(w http.ResponseWriter, r *http.Request) {
	source, err := url.PathUnescape(r.Header.Get("X-Amz-Copy-Source"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	got := f.do(http.MethodGet, "/"+source, http.Header{"Range": {r.Header.Get("X-Amz-Copy-Source-Range")}}, nil)
	if got.Code != http.StatusPartialContent {
		w.WriteHeader(got.Code)
		return
	}
	body, _ := io.ReadAll(got.Body)
	put := f.do(http.MethodPut, r.URL.Path+"?"+r.URL.RawQuery, nil, body)
	w.WriteHeader(put.Code)
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName xml.Name `xml:"CopyPartResult"`
		ETag    string
	}{ETag: put.Header().Get("ETag")})
}

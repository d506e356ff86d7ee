// Package blobtest is an S3 server for tests and tools. It keeps objects in memory, and a test may intercept its
// requests, to delay, fail or change them.
package blobtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// An S3 is gofakes3 with what it lacks: signed chunks in parts and in empty bodies, If-Match of what is read or copied,
// copying of parts. It records the requests, and Intercept may answer them instead.
type S3 struct {
	// Inner is the handler of gofakes3.
	Inner http.Handler
	// Intercept sees each request first: true says that it has answered. It may be nil.
	Intercept func(w http.ResponseWriter, r *http.Request) bool

	mu       sync.Mutex
	requests []string // "GET bytes=0-9", "PUT", …
}

// NewS3 makes an empty server.
func NewS3() *S3 {
	return &S3{Inner: gofakes3.New(s3mem.New(), gofakes3.WithTimeSkewLimit(0)).Server()}
}

// Seen returns the requests since the last call: the method of each, with its Range header if it has one.
func (f *S3) Seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.requests
	f.requests = nil
	return r
}

// ServeHTTP implements http.Handler.
func (f *S3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	case f.Intercept != nil && f.Intercept(w, r):
	case !f.copiesMatching(r):
		refuseChanged(w)
	case r.Method == http.MethodPut && r.Header.Get("X-Amz-Copy-Source-Range") != "":
		f.copyPart(w, r)
	case r.Method == http.MethodGet && r.Header.Get("If-Match") != "":
		f.getMatching(w, r)
	default:
		f.Inner.ServeHTTP(w, r)
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

// Do sends a request to gofakes3 directly: it is neither recorded nor intercepted.
func (f *S3) Do(method, path string, header http.Header, body []byte) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), method, path, bytes.NewReader(body))
	for name, values := range header {
		r.Header[name] = values
	}
	r.Header.Set("Content-Length", strconv.Itoa(len(body))) // gofakes3 looks for it there
	w := httptest.NewRecorder()
	f.Inner.ServeHTTP(w, r)
	return w
}

// getMatching answers with an object as long as it is the one that is asked for. What is compared is the tag of what is
// sent: between two requests the object may be replaced.
func (f *S3) getMatching(w http.ResponseWriter, r *http.Request) {
	got := f.Do(http.MethodGet, r.URL.RequestURI(), http.Header{"Range": r.Header.Values("Range")}, nil)
	if got.Header().Get("ETag") != r.Header.Get("If-Match") {
		refuseChanged(w)
		return
	}
	maps.Copy(w.Header(), got.Header())
	w.WriteHeader(got.Code)
	_, _ = w.Write(got.Body.Bytes()) // a client that has gone misses nothing
}

func refuseChanged(w http.ResponseWriter) {
	w.WriteHeader(http.StatusPreconditionFailed)
	fmt.Fprint(w, `<Error><Code>PreconditionFailed</Code><Message>changed</Message></Error>`)
}

// copiesMatching reports whether the object that a request copies is still the one that it asks for.
func (f *S3) copiesMatching(r *http.Request) bool {
	want := r.Header.Get("X-Amz-Copy-Source-If-Match")
	if want == "" {
		return true
	}
	source, err := url.PathUnescape(r.Header.Get("X-Amz-Copy-Source"))
	if err != nil {
		return false
	}
	got := f.Do(http.MethodHead, "/"+strings.TrimPrefix(source, "/"), nil, nil).Header().Get("ETag")
	return strings.Trim(got, `"`) == strings.Trim(want, `"`)
}

// copyPart reads the range and puts it as a part.
func (f *S3) copyPart(w http.ResponseWriter, r *http.Request) {
	source, err := url.PathUnescape(r.Header.Get("X-Amz-Copy-Source"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	got := f.Do(http.MethodGet, "/"+source, http.Header{"Range": {r.Header.Get("X-Amz-Copy-Source-Range")}}, nil)
	if got.Code != http.StatusPartialContent {
		w.WriteHeader(got.Code)
		return
	}
	body, _ := io.ReadAll(got.Body)
	put := f.Do(http.MethodPut, r.URL.Path+"?"+r.URL.RawQuery, nil, body)
	w.WriteHeader(put.Code)
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName xml.Name `xml:"CopyPartResult"`
		ETag    string
	}{ETag: put.Header().Get("ETag")})
}

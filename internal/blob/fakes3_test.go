package blob_test

import (
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"heapdrift/internal/blob"
	"heapdrift/internal/blob/blobtest"
)

// fakeS3 is an S3 server of a test's own.
type fakeS3 struct {
	*blobtest.S3
	url string // of a bucket that nobody has made
}

func newFakeS3(t testing.TB) *fakeS3 {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_SESSION_TOKEN", "")
	f := &fakeS3{S3: blobtest.NewS3()}
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

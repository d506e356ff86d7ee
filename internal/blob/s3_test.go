package blob_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"heapdrift/internal/blob"
)

const mib = blob.BlockBytes

func ranges(pairs ...int) []string {
	var requests []string
	for i := 0; i < len(pairs); i += 2 {
		requests = append(requests, fmt.Sprintf("GET bytes=%d-%d", pairs[i], pairs[i+1]-1))
	}
	return requests
}

func TestS3FetchesBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	const size = 40*mib + 5
	fake := newFakeS3(t)
	s := fake.open(t)
	put(t, s, "blob", noise(1, size))
	for name, c := range map[string]struct {
		reads [][2]int // offset, length
		want  []string
	}{
		"one page":         {[][2]int{{5 * mib, 4096}}, ranges(5*mib, 6*mib)},
		"pages of a block": {[][2]int{{5*mib + 9000, 4096}, {5 * mib, 10}, {6*mib - 1, 1}}, ranges(5*mib, 6*mib)},
		"over a boundary":  {[][2]int{{5*mib - 2, 4}}, ranges(4*mib, 5*mib, 5*mib, 7*mib)},
		"the rest":         {[][2]int{{40 * mib, 5}}, ranges(40*mib, size)},
		"back and forth":   {[][2]int{{9 * mib, 1}, {2 * mib, 1}, {9 * mib, 1}}, ranges(9*mib, 10*mib, 2*mib, 3*mib)},
		"much at once":     {[][2]int{{100, 9 * mib}}, ranges(100, 100+9*mib)},
		"the oldest goes": {pages(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 32, 2, 0),
			append(blocks(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32), blocks(0)...)},
		"the last used stay": {pages(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 0, 32, 0),
			blocks(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32)},
	} {
		r := must[blob.Reader](t)(s.Open(t.Context(), "blob"))
		fake.Seen()
		for _, read := range c.reads {
			if _, err := r.ReadAt(make([]byte, read[1]), int64(read[0])); err != nil {
				t.Fatal(err)
			}
		}
		if got := fake.Seen(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		_ = r.Close()
	}
}

func pages(blocks ...int) (reads [][2]int) {
	for _, b := range blocks {
		reads = append(reads, [2]int{b*mib + 77, 4096})
	}
	return reads
}

func blocks(numbers ...int) (requests []string) {
	for _, b := range numbers {
		requests = append(requests, ranges(b*mib, (b+1)*mib)...)
	}
	return requests
}

// A reader that reads from start to end makes larger and larger requests.
func TestS3ReadsAhead(t *testing.T) {
	fake := newFakeS3(t)
	s := fake.open(t)
	content := noise(1, 30*mib)
	put(t, s, "blob", content)
	fake.Seen()
	r := must[blob.Reader](t)(s.Open(t.Context(), "blob"))
	var got bytes.Buffer
	for p := make([]byte, 100_000); ; {
		n, err := r.ReadAt(p, int64(got.Len()))
		got.Write(p[:n])
		if err != nil {
			break
		}
	}
	if !bytes.Equal(got.Bytes(), content) {
		t.Error("read something else")
	}
	want := append([]string{"HEAD"},
		ranges(0, mib, mib, 3*mib, 3*mib, 7*mib, 7*mib, 15*mib, 15*mib, 23*mib, 23*mib, 30*mib)...)
	if got := fake.Seen(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Concurrent readers of one block wait for one request.
func TestS3FetchesOnce(t *testing.T) {
	fake := newFakeS3(t)
	s := fake.open(t)
	put(t, s, "blob", noise(1, 3*mib))
	r := must[blob.Reader](t)(s.Open(t.Context(), "blob"))
	fake.Seen()
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			if _, err := r.ReadAt(make([]byte, 10), int64(mib+i)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := fake.Seen(); !slices.Equal(got, ranges(mib, 2*mib)) {
		t.Errorf("%q", got)
	}
}

// breakOff answers the first n ranges with half of what is asked for and then cuts the connection.
func breakOff(fake *fakeS3, n int32) {
	var left atomic.Int32
	left.Store(n)
	fake.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Range") == "" || left.Add(-1) < 0 {
			return false
		}
		whole := httptest.NewRecorder()
		fake.Inner.ServeHTTP(whole, r)
		for name, values := range whole.Header() {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Length", fmt.Sprint(whole.Body.Len()))
		w.WriteHeader(whole.Code)
		_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

func TestS3BrokenAnswers(t *testing.T) {
	fake := newFakeS3(t)
	s := fake.open(t)
	content := noise(1, 3*mib)
	put(t, s, "blob", content)
	breakOff(fake, 3)
	if !bytes.Equal(get(t, s, "blob"), content) {
		t.Error("read something else")
	}
	breakOff(fake, 100)
	r := must[blob.Reader](t)(s.Open(t.Context(), "blob"))
	n, err := r.ReadAt(make([]byte, 10), 0)
	if n != 0 || err == nil || errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "blob: read blob") {
		t.Errorf("%d, %v; it must not look as if the blob ended", n, err)
	}
	breakOff(fake, 0) // a failure is not kept
	if _, err := r.ReadAt(make([]byte, 10), 0); err != nil {
		t.Error(err)
	}
}

func TestS3IgnoredRange(t *testing.T) {
	fake := newFakeS3(t)
	s := fake.open(t)
	put(t, s, "blob", noise(1, 3*mib))
	fake.Intercept = func(_ http.ResponseWriter, r *http.Request) bool {
		r.Header.Del("Range")
		return false
	}
	r := must[blob.Reader](t)(s.Open(t.Context(), "blob"))
	if _, err := r.ReadAt(make([]byte, 10), 2*mib); err == nil || !strings.Contains(err.Error(), "Range") {
		t.Errorf("%v", err)
	}
}

// A reader reads one version of a blob: it fails once the blob is replaced.
func TestS3ReplacedWhileReading(t *testing.T) {
	s := newFakeS3(t).open(t)
	put(t, s, "blob", noise(1, 3*mib))
	r := must[blob.Reader](t)(s.Open(t.Context(), "blob"))
	put(t, s, "blob", noise(2, 3*mib))
	if _, err := r.ReadAt(make([]byte, 10), 0); err == nil || !strings.Contains(err.Error(), "replaced") {
		t.Errorf("replaced: %v", err)
	}
	if err := s.Delete(t.Context(), "blob"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.ReadAt(make([]byte, 10), 0); err == nil {
		t.Error("reads a deleted blob")
	}
}

// A blob that is replaced while it is renamed stays where it is: what was asked for is not there any more.
func TestS3ReplacedWhileRenaming(t *testing.T) {
	for name, size := range map[string]int{"in one request": 1000, "in parts": 12 << 20} {
		t.Run(name, func(t *testing.T) {
			fake := newFakeS3(t)
			s := fake.open(t)
			blob.SetCopyPart(s, 8<<20)
			put(t, s, "from", noise(1, size))
			var once sync.Once
			fake.Intercept = func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Header.Get("X-Amz-Copy-Source") != "" {
					once.Do(func() { fake.Do(http.MethodPut, "/evidence/some/prefix/from", nil, noise(2, size)) })
				}
				return false
			}
			if err := s.Rename(t.Context(), "from", "to"); err == nil || !strings.Contains(err.Error(), "replaced") {
				t.Errorf("renamed: %v", err)
			}
			wantKeys(t, s, "", "from")
			if !bytes.Equal(get(t, s, "from"), noise(2, size)) {
				t.Error("the new blob is lost")
			}
		})
	}
}

// The parts of a failed upload are deleted: nobody would see them, but they cost money.
func TestS3AbortsUploads(t *testing.T) {
	fake := newFakeS3(t)
	s := fake.open(t)
	source := io.MultiReader(bytes.NewReader(noise(1, 2*blob.UploadPart)),
		readFunc(func([]byte) (int, error) { return 0, errSource }))
	if _, err := s.Put(t.Context(), "blob", source); !errors.Is(err, errSource) {
		t.Fatal(err)
	}
	if w := fake.Do(http.MethodGet, "/evidence?uploads", nil, nil); w.Code != http.StatusOK ||
		strings.Contains(w.Body.String(), "<Upload>") {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}

func TestS3ListPages(t *testing.T) {
	s := newFakeS3(t).open(t)
	const n = 1003 // S3 lists up to 1000 at once
	for i := range n {
		put(t, s, fmt.Sprintf("many/%04d", i), nil)
	}
	if got := keys(t, s, "many/"); len(got) != n || got[n-1] != "many/1002" {
		t.Errorf("%d keys", len(got))
	}
}

// Stores with different prefixes share nothing but the bucket, and do not touch foreign blobs.
func TestS3Prefix(t *testing.T) {
	fake := newFakeS3(t)
	s := fake.open(t)
	fake.url = strings.Replace(fake.url, "/some/prefix", "", 1)
	root := fake.open(t)
	put(t, s, "a", []byte("a"))
	put(t, root, "b", []byte("b"))
	fake.Do(http.MethodPut, "/evidence/some/prefix/folder/", nil, nil)
	fake.Do(http.MethodPut, "/evidence/some/prefix/with%20space", nil, nil)
	wantKeys(t, s, "", "a")
	wantKeys(t, root, "", "b", "some/prefix/a")
}

func TestS3DeniesAccess(t *testing.T) {
	fake := newFakeS3(t)
	fake.Intercept = func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusForbidden)
		return true
	}
	if _, err := blob.Open(t.Context(), fake.url); err == nil ||
		!strings.Contains(err.Error(), "bucket evidence at 127.0.0.1") {
		t.Errorf("%v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	for url, want := range map[string]string{
		"":                                   "file:///path or s3://",
		"ftp://host/x":                       `scheme "ftp"`,
		"/var/lib/blobs":                     "file:///path",
		"file://relative/path":               "not absolute",
		"file://":                            "not absolute",
		"file:///tmp/is#this":                "write %3F or %23",
		"file:///tmp/is?this":                "write %3F or %23",
		"file:///proc/nowhere":               "choose one that can be written",
		"s3:///prefix":                       "no bucket",
		"s3://bucket/a?endpont=x:1":          `parameter "endpont"`,
		"s3://bucket/a?insecure=yes":         "insecure=1",
		"s3://bucket/a/../b?endpoint=x:1":    `".."`,
		"s3://bucket?endpoint=x:1":           "set AWS_ACCESS_KEY_ID",
		"s3://me:hunter2@bucket":             "AWS_SECRET_ACCESS_KEY instead",
		"s3://me:hunter2@bucket:%zz":         "URL of the store",
		"file://me:hunter2@host/path":        "not absolute",
		"s3://bucket/a?endpoint=x:1&region=": "set AWS_ACCESS_KEY_ID",
	} {
		s, err := blob.Open(t.Context(), url)
		if err == nil || s != nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v; want it to say %s", url, err, want)
		}
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	if _, err := blob.Open(t.Context(), "s3://bucket?endpoint=http://x"); err == nil ||
		!strings.Contains(err.Error(), "endpoint=host:port") {
		t.Errorf("%v", err)
	}
}

package push_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"heapdrift/internal/leaks"
	"heapdrift/internal/push"
)

// A fakeServer speaks the part of the API that a push uses, and fails as it is told.
type fakeServer struct {
	*httptest.Server
	t  *testing.T
	mu sync.Mutex
	// before is asked about each request before it is answered, and reports whether it has answered it.
	before  func(n int, w http.ResponseWriter, r *http.Request) bool
	count   int
	uploads map[string]*fakeUpload
	stored  map[string]string // names of evidence and their digests
	failed  string            // name of evidence that the server could not read
	log     []string          // method, and the offset of a PATCH
	wait    []string          // of the verdict
	asked   []string          // of the verdict beside that
	verdict func() string
	build   string // the answer about the build of the push; "" is none
	deleted int
}

type fakeUpload struct {
	length int64
	bytes  []byte
	fields map[string]string
}

func newFake(t *testing.T) *fakeServer {
	t.Helper()
	f := &fakeServer{t: t, uploads: map[string]*fakeUpload{}, stored: map[string]string{}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.count++
	n := f.count
	entry := r.Method
	if r.Method == http.MethodPatch {
		entry += " " + r.Header.Get("Upload-Offset")
	}
	f.log = append(f.log, entry)
	f.mu.Unlock()
	if f.before != nil && f.before(n, w, r) {
		return
	}
	w.Header().Set("Tus-Resumable", "1.0.0")
	id, isUpload := strings.CutPrefix(r.URL.Path, "/api/v1/evidence/")
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/api/v1/evidence":
		f.create(w, r)
	case isUpload:
		f.upload(w, r, id)
	case strings.HasSuffix(r.URL.Path, "/verdict"):
		f.mu.Lock()
		defer f.mu.Unlock()
		query := r.URL.Query()
		f.wait = append(f.wait, query.Get("wait"))
		query.Del("wait")
		f.asked = append(f.asked, query.Encode())
		text := `{"run":7,"gate":"passed","sentence":"Nothing leaks.","url":"/runs/7"}`
		if f.verdict != nil {
			text = f.verdict()
		}
		fmt.Fprint(w, text)
	case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/api/v1/projects/") && f.build != "":
		fmt.Fprint(w, f.build)
	case strings.HasPrefix(r.URL.Path, "/api/v1/runs/7"):
		f.run(w)
	default:
		http.NotFound(w, r)
	}
}

func (f *fakeServer) create(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	length, err := strconv.ParseInt(r.Header.Get("Upload-Length"), 10, 64)
	if err != nil {
		f.t.Error(err)
	}
	u := &fakeUpload{length: length, fields: map[string]string{}}
	for pair := range strings.SplitSeq(r.Header.Get("Upload-Metadata"), ",") {
		name, value, _ := strings.Cut(pair, " ")
		text, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			f.t.Error(err)
		}
		u.fields[name] = string(text)
	}
	id := fmt.Sprintf("U%d", len(f.uploads)+1)
	f.uploads[id] = u
	w.Header().Set("Location", "/api/v1/evidence/"+id)
	w.WriteHeader(http.StatusCreated)
}

func (f *fakeServer) upload(w http.ResponseWriter, r *http.Request, id string) {
	f.mu.Lock()
	u := f.uploads[id]
	f.mu.Unlock()
	if u == nil {
		problem(w, http.StatusNotFound, "not-found", "no such upload")
		return
	}
	switch r.Method {
	case http.MethodPatch:
		if r.Header.Get("Upload-Offset") != strconv.Itoa(len(u.bytes)) {
			problem(w, http.StatusConflict, "offset-mismatch", "elsewhere")
			return
		}
		f.take(u, r.Body, 0)
	case http.MethodDelete:
		f.mu.Lock()
		delete(f.uploads, id)
		f.deleted++
		f.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	w.Header().Set("Upload-Offset", strconv.Itoa(len(u.bytes)))
	if int64(len(u.bytes)) == u.length {
		w.Header().Set("X-Heapdrift-Run", "7")
	}
	w.WriteHeader(http.StatusOK)
}

// take stores the body of an upload, at most limit bytes unless limit is 0.
func (f *fakeServer) take(u *fakeUpload, body io.Reader, limit int64) {
	if limit > 0 {
		body = io.LimitReader(body, limit)
	}
	got, _ := io.ReadAll(body)
	f.mu.Lock()
	defer f.mu.Unlock()
	if u.bytes = append(u.bytes, got...); int64(len(u.bytes)) == u.length {
		sum := sha256.Sum256(u.bytes)
		f.stored[u.fields["filename"]] = hex.EncodeToString(sum[:])
	}
}

func (f *fakeServer) run(w http.ResponseWriter) {
	f.mu.Lock()
	defer f.mu.Unlock()
	run := map[string]any{"id": 7}
	var list []map[string]any
	for name, digest := range f.stored {
		state := "read"
		if name == f.failed {
			state = "failed"
		}
		list = append(list, map[string]any{"name": name, "sha256": digest, "state": state})
	}
	run["evidence"] = list
	if err := json.NewEncoder(w).Encode(run); err != nil {
		f.t.Error(err)
	}
}

func problem(w http.ResponseWriter, status int, code, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"code":%q,"detail":%q}`, code, detail)
}

// cut closes the connection without an answer.
func cut(t *testing.T, w http.ResponseWriter) {
	t.Helper()
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	_ = connection.Close()
}

// client is a client of the fake that does not pause, and the list of the pauses it would make.
func (f *fakeServer) client() (*push.Client, *[]time.Duration) {
	f.t.Helper()
	c, err := push.NewClient(f.URL, "hd_test")
	if err != nil {
		f.t.Fatal(err)
	}
	var mu sync.Mutex
	pauses := new([]time.Duration)
	c.Pause = func(ctx context.Context, d time.Duration) error {
		mu.Lock()
		defer mu.Unlock()
		*pauses = append(*pauses, d)
		return ctx.Err()
	}
	return c, pauses
}

// A fileLog records the outcome of each file.
type fileLog struct {
	mu    sync.Mutex
	moved func(f *push.File, at int64)
	ended map[string]push.Outcome
	order []string
}

func (w *fileLog) Moved(f *push.File, at int64) {
	if w.moved != nil {
		w.moved(f, at)
	}
}

func (w *fileLog) Ended(f *push.File, o push.Outcome, _ error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended == nil {
		w.ended = map[string]push.Outcome{}
	}
	w.ended[filepath.Base(f.Path)] = o
	w.order = append(w.order, filepath.Base(f.Path))
}

// files writes files of the given sizes and returns the plan that sends them.
func files(t *testing.T, sizes map[string]int) *push.Plan {
	t.Helper()
	dir := t.TempDir()
	p := &push.Plan{Target: leaks.UploadTarget{Project: "shop", Build: "b1", Scenario: "soak", Run: "1"}}
	for name, size := range sizes {
		content := make([]byte, size)
		for i := range content {
			content[i] = byte(i*7 + i/251 + len(name))
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		p.Evidence = append(p.Evidence, push.File{Path: path})
	}
	if err := p.Stat(); err != nil {
		t.Fatal(err)
	}
	return p
}

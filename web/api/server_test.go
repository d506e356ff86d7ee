package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"heapdrift/internal/blob"
	"heapdrift/internal/intake"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/internal/store/uploadstore"
	"heapdrift/internal/testdb"
	"heapdrift/web"
	"heapdrift/web/guard"
	"heapdrift/web/problem"
	"heapdrift/worker"
)

func TestMain(m *testing.M) { testdb.Main(m, store.Migrate) }

const maxBytes = 64 << 20

// A node is a server under test; nodes may share a database and a blob store. The method do checks every answer against
// the OpenAPI description.
type node struct {
	*httptest.Server
	t      testing.TB
	store  *store.Store
	blobs  blob.Store
	intake *intake.Intake
	log    *logText
}

// A logText is what a server has logged.
type logText struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logText) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logText) has(s string) bool { return strings.Contains(l.text(), s) }

func start(t testing.TB) *node {
	t.Helper()
	s, err := store.Open(t.Context(), testdb.New(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return startOn(t, s, openBlobs(t))
}

func openBlobs(t testing.TB) blob.Store {
	t.Helper()
	blobs, err := blob.Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return blobs
}

// another is a second node beside n.
func (n *node) another() *node { return startOn(n.t, n.store, n.blobs) }

func startOn(t testing.TB, s *store.Store, blobs blob.Store) *node {
	t.Helper()
	windows := &worker.WindowAnswers{Store: s, Blobs: blobs, ColumnBytes: 256 << 20}
	t.Cleanup(func() { _ = windows.Close() })
	in, log := &intake.Intake{Store: s, Blobs: blobs, MaxBytes: maxBytes}, &logText{}
	server, err := web.New(web.Options{Access: guard.Everybody, Store: s, Blobs: blobs, Intake: in, Windows: windows,
		UploadIdle: 3 * time.Second, Log: slog.New(slog.NewJSONHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	n := &node{Server: httptest.NewServer(server.Handler()), t: t, store: s, blobs: blobs, intake: in, log: log}
	t.Cleanup(n.Close)
	return n
}

// An answer is a response whose body has been read.
type answer struct {
	*http.Response
	body []byte
}

// do sends a request; header holds pairs of names and values.
func (n *node) do(method, path string, body io.Reader, header ...string) answer {
	n.t.Helper()
	req, err := http.NewRequestWithContext(n.t.Context(), method, n.URL+path, body)
	if err != nil {
		n.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	return n.send(req)
}

func (n *node) send(req *http.Request) answer {
	n.t.Helper()
	res, err := n.Client().Do(req)
	if err != nil {
		n.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		n.t.Fatalf("%s %s: %v", req.Method, req.URL.Path, err)
	}
	checkAgainstSpec(n.t, req, res, text)
	return answer{res, text}
}

// want fails the test unless the answer has the status and, for a problem, the code.
func (a answer) want(t testing.TB, status int, code string) answer {
	t.Helper()
	var p problem.Problem
	if a.Header.Get("Content-Type") == "application/problem+json" && len(a.body) > 0 {
		if err := json.Unmarshal(a.body, &p); err != nil {
			t.Errorf("problem: %v", err)
		}
		if p.Status != a.StatusCode || p.Type == "" || p.Title == "" || p.Instance == "" {
			t.Errorf("problem is incomplete: %s", a.body)
		}
	}
	if a.StatusCode != status || p.Code != code {
		t.Fatalf("%s %s: status %d %s, want %d with code %q", a.Request.Method, a.Request.URL,
			a.StatusCode, a.body, status, code)
	}
	return a
}

func decode[T any](t testing.TB, a answer) (v T) {
	t.Helper()
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	return v
}

type uploadedFile struct {
	ID, Run     int64
	SHA256, URL string
	Bytes       int64
}

// evidence is the address to PUT a file to; pairs override or add fields.
func evidence(pairs ...string) string {
	q := url.Values{"project": {"shop"}, "build": {"100"}, "scenario": {"soak"}, "run": {"1"}, "name": {"a.txt"}}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return "/api/v1/evidence?" + q.Encode()
}

// put uploads a file, which the server must accept.
func (n *node) put(body string, pairs ...string) uploadedFile {
	n.t.Helper()
	return decode[uploadedFile](n.t, n.do("PUT", evidence(pairs...), strings.NewReader(body)).want(n.t, 201, ""))
}

// nothingStored fails the test if anything of a refused upload is left.
func (n *node) nothingStored() {
	n.t.Helper()
	if keys := n.keys(""); len(keys) > 0 {
		n.t.Errorf("blobs are left: %v", keys)
	}
	if projects, err := storetest.Now(n.t, n.store).ListProjects(n.t.Context(), storetest.Anybody); err != nil ||
		len(projects) > 0 {
		n.t.Errorf("projects are left: %v %v", projects, err)
	}
	if stale, err := uploadstore.ListStaleUploads(n.t.Context(), storetest.Now(n.t, n.store), -time.Hour); err != nil ||
		len(stale) > 0 {
		n.t.Errorf("uploads are left: %v %v", stale, err)
	}
}

func (n *node) keys(prefix string) (keys []string) {
	n.t.Helper()
	for info, err := range n.blobs.List(n.t.Context(), prefix) {
		if err != nil {
			n.t.Fatal(err)
		}
		keys = append(keys, info.Key)
	}
	return keys
}

// content is the stored file with the digest.
func (n *node) content(sha string) []byte {
	n.t.Helper()
	r, err := n.blobs.Open(n.t.Context(), blob.ContentKey(sha))
	if err != nil {
		n.t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	text, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
	if err != nil {
		n.t.Fatal(err)
	}
	return text
}

// umdhLog is a log as UMDH writes it, of at least the given size in bytes.
func umdhLog(size int) string {
	var b bytes.Buffer
	b.Grow(size + 200)
	b.WriteString("// \r\n// UMDH: version 10.0.19041.1: Logtime 2026-01-02 03:04 - Machine=LAB - PID=4242\r\n// \r\n" +
		"// Loaded modules: \r\n//     Base Size Module\r\n//           400000   2A6000 C:\\Shop\\shop.exe\r\n//\r\n// Process modules enumerated.\r\n\r\n" +
		"*- - - - - - - - - - Start of data for heap @ 3F0000 - - - - - - - - - -\r\n\r\n")
	for i := 0; i == 0 || b.Len() < size; i++ {
		fmt.Fprintf(&b, "00000040 bytes + 00000018 at %08X by BackTrace%07X\r\n\t77650123\r\n\t0040%04X\r\n\r\n",
			0x3F1000+i*0x60, i+1, i&0xFFFF)
	}
	b.WriteString("*- - - - - - - - - - End of data for heap @ 3F0000 - - - - - - - - - -\r\n")
	return b.String()
}

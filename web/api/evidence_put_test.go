package api_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/await"
	"heapdrift/internal/needs"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// bomb is a zip whose one file unpacks to a thousand times its size.
func bomb() string {
	var b bytes.Buffer
	z := zip.NewWriter(&b) // writing to a buffer cannot fail
	w, _ := z.Create("a.txt")
	_, _ = io.WriteString(w, umdhLog(1000))
	zeros := make([]byte, 1<<20)
	for range 64 {
		_, _ = w.Write(zeros)
	}
	_ = z.Close()
	return b.String()
}

func TestPut(t *testing.T) {
	n := start(t)
	log := umdhLog(300_000)
	first := n.do("PUT", evidence("branch", "main", "sequence", "7"), strings.NewReader(log)).want(t, 201, "")
	up := decode[uploadedFile](t, first)
	if up.SHA256 != digest(log) || up.Bytes != int64(len(log)) || up.URL != fmt.Sprintf("/runs/%d", up.Run) {
		t.Errorf("%+v", up)
	}
	if at := first.Header.Get("Location"); at != fmt.Sprintf("/api/v1/runs/%d", up.Run) {
		t.Errorf("Location: %s", at)
	}
	if !bytes.Equal(n.content(up.SHA256), []byte(log)) {
		t.Error("other bytes are stored")
	}
	if again := n.put(log); again.ID != up.ID || again.Run != up.Run {
		t.Errorf("the same file again is %+v, want %+v", again, up)
	}
	if other := n.put(log, "name", "b.txt"); other.ID == up.ID || other.Run != up.Run {
		t.Errorf("another name is %+v", other)
	}
	page, err := storetest.Now(t, n.store).ListBuilds(t.Context(), store.BuildQuery{Project: "shop", Limit: 9})
	if err != nil {
		t.Fatal(err)
	}
	if builds := page.Builds; len(builds) != 1 || builds[0].Branch != "main" ||
		*builds[0].Sequence != 100 && *builds[0].Sequence != 7 {
		t.Errorf("builds: %+v", builds)
	}
}

// A file that is not evidence is refused with a code, by both ways of uploading, and leaves nothing behind.
var refusals = []struct {
	name, body string
	status     int
	code       string
}{
	{"JPEG", "\xff\xd8\xff\xe0 JFIF" + strings.Repeat("x", 5000), 415, "unknown-format"},
	{"noise", strings.Repeat("\x01\x80", 5000), 415, "unknown-format"},
	{"damaged dump", "MDMP" + strings.Repeat("\x00", 5000), 422, "bad-header"},
	{"kernel dump", "PAGEDU64" + strings.Repeat("\x00", 5000), 422, "kernel-dump"},
	{"bomb", bomb(), 422, "archive-bomb"},
	{"cut gzip", "\x1f\x8b\x08\x00\x00\x00", 422, "damaged-archive"},
}

func TestPutRefused(t *testing.T) {
	n := start(t)
	for _, test := range refusals {
		n.do("PUT", evidence(), strings.NewReader(test.body)).want(t, test.status, test.code)
	}
	n.do("PUT", evidence(), strings.NewReader("")).want(t, 422, "empty-file")
	n.nothingStored()
}

func TestPutWrongTarget(t *testing.T) {
	n := start(t)
	for _, test := range []struct{ field, value string }{
		{"project", ""}, {"project", "a/b"}, {"project", "\xff\xfe"}, {"project", strings.Repeat("p", 65)},
		{"build", ""}, {"build", "<script>"},
		{"scenario", "-x"}, {"run", "a\x00b"}, {"sequence", "seven"}, {"sequence", "9223372036854775808"},
		{"branch", "a\x00b"}, {"branch", "\xff"},
		{"branch", strings.Repeat("b", 300)}, {"name", ""}, {"name", "/"}, {"name", "\x01\x02"},
	} {
		n.do("PUT", evidence(test.field, test.value), strings.NewReader(umdhLog(0))).want(t, 422, "invalid-"+test.field)
	}
	n.do("PUT", evidence(), strings.NewReader(umdhLog(0)), "Content-Range", "bytes 0-9/100").want(t, 400, "partial-put")
	n.do("PUT", evidence(), strings.NewReader(umdhLog(0)), "Sec-Fetch-Site", "cross-site").want(t, 403, "cross-origin")
	n.nothingStored()
}

// endlessBody is a body of unknown length.
type endlessBody struct{ left int64 }

func (e *endlessBody) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), e.left)
	e.left -= n
	return int(n), nil
}

func TestPutTooLarge(t *testing.T) {
	n := start(t)
	n.do("PUT", evidence(), &endlessBody{maxBytes + 100_000}).want(t, 413, "too-large") // chunked: noticed on the way
	n.nothingStored()
}

// dial sends the head of a request and the given part of its body.
func (n *node) dial(method, path, header, body string) (net.Conn, *bufio.Reader) {
	n.t.Helper()
	conn, err := net.Dial("tcp", n.Listener.Addr().String())
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(func() { _ = conn.Close() })
	if _, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\n%s\r\n%s", method, path, header, body); err != nil {
		n.t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

func TestPutExpectContinue(t *testing.T) {
	n := start(t)
	log := umdhLog(5000)
	conn, r := n.dial("PUT", evidence(), fmt.Sprintf("Content-Length: %d\r\nExpect: 100-continue\r\n", len(log)), "")
	if line, _ := r.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 100 ") {
		t.Fatalf("%q", line)
	}
	_, _ = r.ReadString('\n')
	_, _ = io.WriteString(conn, log)
	if line, _ := r.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 201 ") {
		t.Errorf("%q", line)
	}
	// A request that its head alone makes wrong is refused before the server asks for a byte of its body.
	_, r = n.dial("PUT", evidence(), fmt.Sprintf("Content-Length: %d\r\nExpect: 100-continue\r\n", maxBytes+1), "")
	if line, _ := r.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 413 ") {
		t.Errorf("%q", line)
	}
	_, r = n.dial("PUT", evidence("project", ""), "Content-Length: 1000\r\nExpect: 100-continue\r\n", "")
	if line, _ := r.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 422 ") {
		t.Errorf("%q", line)
	}
}

func TestPutBroken(t *testing.T) {
	n := start(t)
	conn, _ := n.dial("PUT", evidence(), "Content-Length: 100000\r\n", umdhLog(5000))
	_ = conn.Close()
	await.Until(t, "the end of the request", func() bool { return n.log.has(`"method":"PUT"`) })
	if !n.log.has(`"status":400`) && !n.log.has(`"status":499`) {
		t.Errorf("a broken connection is not told from a failure: %s", n.log.text())
	}
	n.nothingStored()
}

func TestPutStalled(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	n := start(t)
	_, r := n.dial("PUT", evidence(), "Content-Length: 100000\r\n", umdhLog(5000))
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusRequestTimeout {
		t.Errorf("status %d, want 408", res.StatusCode)
	}
	n.nothingStored()
}

func TestPutByCurl(t *testing.T) {
	curl := needs.Program(t, "curl")
	n := start(t)
	file := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(file, []byte(umdhLog(2_000_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), curl, "-sS", "--fail-with-body", "-T", file,
		n.URL+evidence()).CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"url":"/runs/`) {
		t.Errorf("curl: %v: %s", err, out)
	}
}

func BenchmarkPut(b *testing.B) {
	n := start(b)
	n.intake.MaxBytes = 0
	log := umdhLog(256 << 20)
	b.SetBytes(int64(len(log)))
	for i := 0; b.Loop(); i++ {
		n.put(log, "run", fmt.Sprint(i))
	}
}

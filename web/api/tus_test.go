package api_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"heapdrift/internal/await"
	"heapdrift/internal/blob"
	"heapdrift/internal/store/storetest"
	"heapdrift/internal/store/uploadstore"
	"heapdrift/web/api"
)

const offsetStream = "application/offset+octet-stream"

// metadata encodes pairs of keys and values; target fields that are not given are added.
func metadata(pairs ...string) string {
	fields := map[string]string{"project": "shop", "build": "100", "filename": "a.txt"}
	for i := 0; i < len(pairs); i += 2 {
		fields[pairs[i]] = pairs[i+1]
	}
	var list []string
	for key, value := range fields {
		list = append(list, key+" "+base64.StdEncoding.EncodeToString([]byte(value)))
	}
	return strings.Join(list, ", ")
}

// create begins an upload and returns its address.
func (n *node) create(length int, pairs ...string) string {
	n.t.Helper()
	a := n.do("POST", "/api/v1/evidence", nil, "Tus-Resumable", "1.0.0", "Upload-Length", strconv.Itoa(length),
		"Upload-Metadata", metadata(pairs...)).want(n.t, 201, "")
	return a.Header.Get("Location")
}

func (n *node) patch(upload string, offset int, body io.Reader) answer {
	n.t.Helper()
	return n.do("PATCH", upload, body, "Tus-Resumable", "1.0.0", "Content-Type", offsetStream,
		"Upload-Offset", strconv.Itoa(offset))
}

func (n *node) head(upload string) answer {
	n.t.Helper()
	return n.do("HEAD", upload, nil, "Tus-Resumable", "1.0.0")
}

func offset(t testing.TB, a answer) int {
	t.Helper()
	at, err := strconv.Atoi(a.Header.Get("Upload-Offset"))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// evidenceOf is the evidence that a complete upload has become.
func (n *node) evidenceOf(a answer) string {
	n.t.Helper()
	run, err := strconv.ParseInt(a.Header.Get("X-Heapdrift-Run"), 10, 64)
	if err != nil || a.Header.Get("X-Heapdrift-Url") != fmt.Sprintf("/runs/%d", run) {
		n.t.Fatalf("run %q, page %q", a.Header.Get("X-Heapdrift-Run"), a.Header.Get("X-Heapdrift-Url"))
	}
	list, err := storetest.Now(n.t, n.store).ListEvidence(n.t.Context(), run)
	if err != nil || len(list) != 1 {
		n.t.Fatalf("%+v %v", list, err)
	}
	return list[0].SHA256
}

func TestTus(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	n := start(t)
	options := n.do("OPTIONS", "/api/v1/evidence", nil).want(t, 204, "")
	if options.Header.Get("Tus-Max-Size") != strconv.Itoa(maxBytes) ||
		options.Header.Get("Tus-Extension") != "creation,termination" {
		t.Errorf("options: %v", options.Header)
	}
	log := umdhLog(20 << 20) // more than two parts
	upload := n.create(len(log), "branch", "main", "sequence", "12")
	h := n.head(upload).want(t, 200, "")
	if offset(t, h) != 0 || h.Header.Get("Upload-Length") != strconv.Itoa(len(log)) ||
		h.Header.Get("Cache-Control") != "no-store" ||
		!strings.Contains(h.Header.Get("Upload-Metadata"), "filename YS50eHQ=") {
		t.Errorf("head: %v", h.Header)
	}
	var last answer
	for at := 0; at < len(log); at = offset(t, last) {
		last = n.patch(upload, at, strings.NewReader(log[at:min(at+9_000_001, len(log))])).want(t, 204, "")
	}
	if sha := n.evidenceOf(last); sha != digest(log) || !bytes.Equal(n.content(sha), []byte(log)) {
		t.Error("other bytes are stored")
	}
	if keys := n.keys("uploads/"); len(keys) > 0 {
		t.Errorf("parts are left: %v", keys)
	}
	// The answer to the last request may get lost: HEAD and a repeated PATCH give it again.
	for _, again := range []answer{n.head(upload).want(t, 200, ""), n.patch(upload, len(log), nil).want(t, 204, "")} {
		if n.evidenceOf(again) != digest(log) || offset(t, again) != len(log) {
			t.Errorf("again: %v", again.Header)
		}
	}
	n.patch(upload, 0, strings.NewReader("x")).want(t, 409, "offset-mismatch")
	if n.put(log, "scenario", "", "run", "").SHA256 != digest(log) {
		t.Error("PUT disagrees")
	}
	n.do("DELETE", upload, nil, "Tus-Resumable", "1.0.0").want(t, 204, "")
	if n.content(digest(log)) == nil {
		t.Error("the evidence went with its upload")
	}
}

func TestTusResumeOnAnotherNode(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	n := start(t)
	other := n.another()
	log := umdhLog(9 << 20)
	upload := n.create(len(log))
	const sent = 8<<20 + 123 // slightly more than one part
	conn, _ := n.dial("PATCH", upload,
		fmt.Sprintf("Tus-Resumable: 1.0.0\r\nContent-Type: %s\r\nUpload-Offset: 0\r\nContent-Length: %d\r\n",
			offsetStream, len(log)), log[:sent])
	_ = conn.Close()
	await.Until(t, "all that was sent to be kept", func() bool { return offset(t, other.head(upload)) == sent })
	last := other.patch(upload, sent, strings.NewReader(log[sent:])).want(t, 204, "")
	if other.evidenceOf(last) != digest(log) {
		t.Error("other bytes are stored")
	}
}

func TestTusStalled(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	n := start(t)
	log := umdhLog(50_000)
	upload := n.create(len(log))
	_, r := n.dial("PATCH", upload,
		fmt.Sprintf("Tus-Resumable: 1.0.0\r\nContent-Type: %s\r\nUpload-Offset: 0\r\nContent-Length: %d\r\n",
			offsetStream, len(log)), log[:100])
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusRequestTimeout || offset(t, n.head(upload)) != 100 {
		t.Errorf("status %d, offset %d", res.StatusCode, offset(t, n.head(upload)))
	}
}

func TestTusTwoWriters(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	n := start(t)
	log := umdhLog(24 << 20)
	upload := n.create(len(log))
	slow, feed := io.Pipe()
	first := make(chan answer)
	go func() { first <- n.patch(upload, 0, slow) }()
	const sent = 20 << 20 // more than a connection buffers: the server has begun to read when it is gone
	_, _ = io.WriteString(feed, log[:sent])
	n.patch(upload, 0, nil).want(t, 423, "upload-locked")
	n.do("DELETE", upload, nil, "Tus-Resumable", "1.0.0").want(t, 423, "upload-locked")
	_, _ = io.WriteString(feed, log[sent:])
	_ = feed.Close()
	(<-first).want(t, 204, "")
	if sha := n.evidenceOf(n.head(upload)); sha != digest(log) {
		t.Error("other bytes are stored")
	}
}

// Writers on two nodes do not see each other. The one that stores a part first wins, and the other gets an error,
// whether the file is complete by then or not.
func TestTusTwoNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	n := start(t)
	other := n.another()
	log := umdhLog(100_000)
	for _, faster := range []int{len(log), len(log) / 2} {
		upload := n.create(len(log))
		slow, feed := io.Pipe()
		first := make(chan answer)
		go func() { first <- n.patch(upload, 0, slow) }()
		_, _ = io.WriteString(feed, log[:1000])
		for n.patch(upload, 0, nil).StatusCode != http.StatusLocked { // until the server receives the slow request
		}
		last := other.patch(upload, 0, strings.NewReader(log[:faster])).want(t, 204, "")
		_, _ = io.WriteString(feed, log[1000:])
		_ = feed.Close()
		(<-first).want(t, 409, "offset-mismatch")
		if faster < len(log) {
			last = other.patch(upload, faster, strings.NewReader(log[faster:])).want(t, 204, "")
		}
		if other.evidenceOf(last) != digest(log) {
			t.Errorf("of one that had sent %d bytes other bytes are stored", faster)
		}
	}
}

func TestTusTermination(t *testing.T) {
	n := start(t)
	upload := n.create(1000)
	n.patch(upload, 0, strings.NewReader("abc")).want(t, 204, "")
	n.do("DELETE", upload, nil, "Tus-Resumable", "1.0.0").want(t, 204, "")
	n.head(upload).want(t, 404, "")
	n.patch(upload, 3, strings.NewReader("abc")).want(t, 404, "not-found")
	n.do("DELETE", upload, nil, "Tus-Resumable", "1.0.0").want(t, 404, "not-found")
	n.nothingStored()
}

func TestTusOverride(t *testing.T) {
	n := start(t)
	upload := n.create(1000)
	n.do("POST", upload, strings.NewReader("abc"), "Tus-Resumable", "1.0.0", "X-HTTP-Method-Override", "PATCH",
		"Content-Type", offsetStream, "Upload-Offset", "0").want(t, 204, "")
	n.do("POST", upload, nil, "Tus-Resumable", "1.0.0").want(t, 405, "method-not-allowed")
	n.do("POST", upload, nil, "Tus-Resumable", "1.0.0", "X-HTTP-Method-Override", "DELETE").want(t, 204, "")
	n.nothingStored()
}

// Of a body of unknown length the server takes the bytes that the upload still lacks.
func TestTusChunked(t *testing.T) {
	n := start(t)
	log := umdhLog(10_000)
	upload := n.create(len(log))
	a := n.patch(upload, 0, io.MultiReader(strings.NewReader(log), strings.NewReader("more"))).want(t, 204, "")
	if n.evidenceOf(a) != digest(log) {
		t.Error("other bytes are stored")
	}
}

// flakyStore fails the next renames, like a blob store whose disk is full.
type flakyStore struct {
	blob.Store
	failures atomic.Int32
}

func (f *flakyStore) Rename(ctx context.Context, from, to string) error {
	if f.failures.Add(-1) >= 0 {
		return errors.New("disk full at /secret/place")
	}
	return f.Store.Rename(ctx, from, to)
}

// After a failure of the server at the very end the client can go on with the upload.
func TestTusFailureAtTheEnd(t *testing.T) {
	healthy := start(t)
	blobs := &flakyStore{Store: healthy.blobs}
	blobs.failures.Store(1)
	n := startOn(t, healthy.store, blobs)
	log := umdhLog(9 << 20)
	upload := n.create(len(log))
	a := n.patch(upload, 0, strings.NewReader(log)).want(t, 500, "internal")
	if strings.Contains(string(a.body), "secret") || !n.log.has("secret") {
		t.Errorf("the cause belongs into the log only: %s", a.body)
	}
	at := offset(t, n.head(upload).want(t, 200, ""))
	if at == len(log) {
		t.Fatal("the client would take the upload for complete")
	}
	if n.evidenceOf(n.patch(upload, at, strings.NewReader(log[at:])).want(t, 204, "")) != digest(log) {
		t.Error("other bytes are stored")
	}
	if keys := n.keys(""); len(keys) != 1 {
		t.Errorf("blobs: %v", keys)
	}
}

// A part that was damaged in the blob store does not become evidence.
func TestTusDamagedPart(t *testing.T) {
	n := start(t)
	log := umdhLog(10_000)
	upload := n.create(len(log))
	n.patch(upload, 0, strings.NewReader(log[:5000])).want(t, 204, "")
	key := n.keys("uploads/")[0]
	if _, err := n.blobs.Put(t.Context(), key, strings.NewReader(strings.ToLower(log[:5000]))); err != nil {
		t.Fatal(err)
	}
	n.patch(upload, 5000, strings.NewReader(log[5000:])).want(t, 500, "internal")
	if projects, err := storetest.Now(n.t, n.store).ListProjects(t.Context(), storetest.Anybody); err != nil ||
		len(projects) > 0 {
		t.Errorf("projects: %v %v", projects, err)
	}
}

func TestSweepUploads(t *testing.T) {
	n := start(t)
	log := umdhLog(1000)
	given, done := n.create(1000), n.create(len(log))
	n.patch(given, 0, strings.NewReader("abc")).want(t, 204, "")
	n.patch(done, 0, strings.NewReader(log)).want(t, 204, "")
	a := api.New(api.Options{Store: n.store, Blobs: n.blobs, Intake: n.intake})
	if swept, err := a.SweepUploads(t.Context(), 1<<40); err != nil || swept != 0 {
		t.Errorf("%d swept, %v", swept, err)
	}
	if swept, err := a.SweepUploads(t.Context(), 0); err != nil || swept != 2 {
		t.Errorf("%d swept, %v", swept, err)
	}
	n.head(given).want(t, 404, "")
	n.head(done).want(t, 404, "")
	if keys := n.keys(""); len(keys) != 1 || !strings.Contains(keys[0], digest(log)) {
		t.Errorf("blobs: %v, want the evidence alone", keys)
	}
}

// An upload that goes on after the list of stale uploads was read, and before its turn, is not deleted.
func TestSweepSparesWhatGoesOn(t *testing.T) {
	n := start(t)
	upload := n.create(1000)
	id := upload[strings.LastIndexByte(upload, '/')+1:]
	seen, err := uploadstore.FindUpload(t.Context(), storetest.Now(t, n.store), id)
	if err != nil {
		t.Fatal(err)
	}
	n.patch(upload, 0, strings.NewReader("abc")).want(t, 204, "")
	a := api.New(api.Options{Store: n.store, Blobs: n.blobs, Intake: n.intake})
	if err := a.Terminate(t.Context(), id, &seen); !errors.Is(err, uploadstore.ErrBusy) {
		t.Errorf("%v, want %v", err, uploadstore.ErrBusy)
	}
	if at := offset(t, n.head(upload)); at != 3 {
		t.Errorf("the upload stands at %d", at)
	}
	seen.Received = 3
	if err := a.Terminate(t.Context(), id, &seen); err != nil {
		t.Error(err)
	}
	n.head(upload).want(t, 404, "")
}

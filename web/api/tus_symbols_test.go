package api_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"heapdrift/internal/await"
)

// createSymbols begins an upload of symbols; the parameter more is added to its metadata.
func (n *node) createSymbols(name string, length int, more string) answer {
	n.t.Helper()
	meta := "kind " + base64.StdEncoding.EncodeToString([]byte("symbols")) + ",filename " +
		base64.StdEncoding.EncodeToString([]byte(name)) + more
	return n.do("POST", "/api/v1/evidence", nil, "Tus-Resumable", "1.0.0", "Upload-Length", strconv.Itoa(length),
		"Upload-Metadata", meta)
}

func TestTusSymbols(t *testing.T) {
	n := start(t)
	other := n.another()
	pdb, dll := symbolsOf(t, 7)
	large := pdb + strings.Repeat("\x00", 9<<20) // more than a part
	body := zipped("app.pdb", large, "app.dll", dll, "a.txt", "hello")
	upload := n.createSymbols("out.zip", len(body), "").want(t, 201, "").Header.Get("Location")
	half := len(body) / 2
	n.patch(upload, 0, strings.NewReader(body[:half])).want(t, 204, "")
	if h := other.head(upload).want(t, 200, ""); offset(t, h) != half || h.Header.Get("X-Heapdrift-Modules") != "" {
		t.Errorf("%v", h.Header)
	}
	last := other.patch(upload, half, strings.NewReader(body[half:])).want(t, 200, "")
	again := n.patch(upload, len(body), nil).want(t, 200, "")
	for _, a := range []answer{last, again} {
		got := decode[takenSymbols](t, a)
		if len(got.Modules) != 2 || len(got.Refused) != 1 || offset(t, a) != len(body) || !got.Modules[0].New {
			t.Errorf("%s", a.body)
		}
	}
	h := n.head(upload).want(t, 200, "")
	if h.Header.Get("X-Heapdrift-Modules") != "2" || h.Header.Get("X-Heapdrift-Refused") != "1" ||
		offset(t, h) != len(body) || h.Header.Get("X-Heapdrift-Run") != "" {
		t.Errorf("%v", h.Header)
	}
	if keys := n.keys(""); len(keys) != 2 || !bytes.Equal(n.content(digest(large)), []byte(large)) {
		t.Errorf("blobs: %v", keys)
	}
	n.do("DELETE", upload, nil, "Tus-Resumable", "1.0.0").want(t, 204, "")
	if n.content(digest(dll)) == nil {
		t.Error("the symbols went with their upload")
	}
}

func TestTusSymbolsInterrupted(t *testing.T) {
	n := start(t)
	pdb, _ := symbolsOf(t, 7)
	upload := n.createSymbols("app.pdb", len(pdb), "").want(t, 201, "").Header.Get("Location")
	const sent = 12_345
	conn, _ := n.dial("PATCH", upload,
		fmt.Sprintf("Tus-Resumable: 1.0.0\r\nContent-Type: %s\r\nUpload-Offset: 0\r\nContent-Length: %d\r\n",
			offsetStream, len(pdb)), pdb[:sent])
	_ = conn.Close()
	await.Until(t, "all that was sent to be kept", func() bool { return offset(t, n.head(upload)) == sent })
	got := decode[takenSymbols](t, n.patch(upload, sent, strings.NewReader(pdb[sent:])).want(t, 200, ""))
	if len(got.Modules) != 1 || got.Modules[0].Key != pdbKey || string(n.content(digest(pdb))) != pdb {
		t.Errorf("%+v", got)
	}
}

func TestTusSymbolsRefused(t *testing.T) {
	n := start(t)
	pdb, _ := symbolsOf(t, 7)
	for body, code := range map[string]string{umdhLog(0): "not-symbols", pdb[:5000]: "truncated",
		zipped("a.txt", "x"): "no-symbols"} {
		upload := n.createSymbols("a.bin", len(body), "").want(t, 201, "").Header.Get("Location")
		status := map[string]int{"not-symbols": 415, "truncated": 422, "no-symbols": 422}[code]
		n.patch(upload, 0, strings.NewReader(body)).want(t, status, code)
		n.head(upload).want(t, 404, "")
	}
	n.createSymbols("a.pdb", 0, "").want(t, 422, "empty-file")
	n.createSymbols("", 10, "").want(t, 422, "invalid-name")
	n.createSymbols("a.pdb", 10, ",group "+base64.StdEncoding.EncodeToString([]byte("a b"))).want(t, 422, "invalid-group")
	n.do("POST", "/api/v1/evidence", nil, "Tus-Resumable", "1.0.0", "Upload-Length", "10", "Upload-Metadata",
		metadata("kind", "other")).want(t, 422, "invalid-kind")
	n.nothingStored()
}

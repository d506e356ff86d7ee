package api_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"heapdrift/internal/needs"
	"heapdrift/internal/symbols/pdb/pdbtest"
	"heapdrift/internal/symbols/pe/petest"
)

const pdbKey = "000000000000000000000000000000072"

// symbolsOf is the PDB and the DLL of a build.
func symbolsOf(t testing.TB, build byte) (pdb, dll string) {
	t.Helper()
	p := &pdbtest.Program{GUID: [16]byte{15: build}, Age: 2, Signature: 0x5000_0000, Sections: pdbtest.Standard(0x1000)}
	text, err := p.PDB()
	if err != nil {
		t.Fatal(err)
	}
	image, err := petest.Of(p, `C:\build\app.pdb`)
	if err != nil {
		t.Fatal(err)
	}
	file, err := image.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return string(text), string(file)
}

// zipped packs pairs of names and contents.
func zipped(pairs ...string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b) // writing to a buffer cannot fail
	for i := 0; i < len(pairs); i += 2 {
		w, _ := z.Create(pairs[i])
		_, _ = w.Write([]byte(pairs[i+1]))
	}
	_ = z.Close()
	return b.String()
}

func symbolsURL(name, group string) string {
	return "/api/v1/symbols?" + url.Values{"name": {name}, "group": {group}}.Encode()
}

type takenSymbols struct {
	Modules []struct {
		Name, Kind, Key, Symbols string
		DebugID                  string `json:"debug_id"`
		Bits                     int
		Bytes                    int64
		New                      bool
	}
	Refused []struct{ Name, Code, Message string }
}

func (n *node) putSymbols(name, body string) takenSymbols {
	n.t.Helper()
	return decode[takenSymbols](n.t, n.do("PUT", symbolsURL(name, ""), strings.NewReader(body)).want(n.t, 201, ""))
}

func TestPutSymbols(t *testing.T) {
	n := start(t)
	pdb, dll := symbolsOf(t, 7)
	got := n.putSymbols("out.zip", zipped("a/app.pdb", pdb, "a/readme.txt", "hello", "b/app.dll", dll))
	if len(got.Modules) != 2 || len(got.Refused) != 1 || got.Refused[0].Name != "a/readme.txt" ||
		got.Refused[0].Code != "not-symbols" || got.Refused[0].Message == "" {
		t.Fatalf("%+v", got)
	}
	if m := got.Modules[0]; m.Name != "app.pdb" || m.Kind != "pdb" || m.Key != pdbKey || m.DebugID != pdbKey ||
		m.Bits != 64 || m.Bytes != int64(len(pdb)) || !m.New {
		t.Errorf("%+v", m)
	}
	if m := got.Modules[1]; m.Name != "app.dll" || m.Kind != "image" || m.DebugID != pdbKey || m.Symbols != "export" {
		t.Errorf("%+v", m)
	}
	again := n.putSymbols("app.pdb", pdb)
	if len(again.Modules) != 1 || again.Modules[0].New || len(again.Refused) != 0 {
		t.Errorf("again: %+v", again)
	}
	if string(n.content(digest(pdb))) != pdb || len(n.keys("")) != 2 {
		t.Errorf("blobs: %v", n.keys(""))
	}
}

func TestPutSymbolsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	n := start(t)
	pdb, _ := symbolsOf(t, 7)
	for _, test := range []struct {
		name, group, body string
		status            int
		code              string
	}{
		{"a.txt", "", umdhLog(0), 415, "not-symbols"},
		{"a.pdb", "", pdb[:len(pdb)/2], 422, "truncated"},
		{"a.pdb", "", "Microsoft C/C++ program database 2.00\r\n\x1aJG\x00\x00", 415, "pdb-2.00"},
		{"a.pdb", "", "BSJB" + strings.Repeat("\x00", 100), 415, "portable-pdb"},
		{"a.zip", "", zipped("a.txt", "hello"), 422, "no-symbols"},
		{"a.zip", "", zipped("a.pdb", pdb)[:300], 422, "damaged-archive"},
		{"a.zip", "", zipped("a.pdb", pdb, "b.dll", "MZ"+strings.Repeat("\x00", 17<<20)), 422, "archive-bomb"},
		{"", "", pdb, 422, "invalid-name"},
		{"a.pdb", "a b", pdb, 422, "invalid-group"},
	} {
		n.do("PUT", symbolsURL(test.name, test.group), strings.NewReader(test.body)).want(t, test.status, test.code)
	}
	n.do("PUT", symbolsURL("a.pdb", ""), strings.NewReader("")).want(t, 422, "empty-file")
	n.do("PUT", symbolsURL("a.pdb", ""), strings.NewReader(pdb), "Content-Range",
		"bytes 0-9/100").want(t, 400, "partial-put")
	n.do("PUT", symbolsURL("a.pdb", ""), &endlessBody{maxBytes + 100_000}).want(t, 413, "too-large")
	n.nothingStored()
}

// Symbols that are sent as evidence are refused, and the answer names the right endpoint.
func TestPutSymbolsAsEvidence(t *testing.T) {
	n := start(t)
	pdb, dll := symbolsOf(t, 7)
	for _, body := range []string{pdb, dll} {
		a := n.do("PUT", evidence(), strings.NewReader(body)).want(t, 415, "unsupported-format")
		if !strings.Contains(string(a.body), "/api/v1/symbols") {
			t.Errorf("%s", a.body)
		}
	}
	n.nothingStored()
}

func TestPutSymbolsTwoAtOnce(t *testing.T) {
	n := start(t)
	pdb, dll := symbolsOf(t, 7)
	body := zipped("app.pdb", pdb, "app.dll", dll)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if a := n.do("PUT", symbolsURL("a.zip", ""), strings.NewReader(body)); a.StatusCode != http.StatusCreated {
				t.Errorf("%s", a.body)
			}
		})
	}
	all.Wait()
	if keys := n.keys(""); len(keys) != 2 {
		t.Errorf("blobs: %v", keys)
	}
}

func TestPutSymbolsByCurl(t *testing.T) {
	curl := needs.Program(t, "curl")
	n := start(t)
	pdb, _ := symbolsOf(t, 7)
	file := filepath.Join(t.TempDir(), "app.pdb")
	if err := os.WriteFile(file, []byte(pdb), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), curl, "-sS", "--fail-with-body", "-T", file, n.URL+
		"/api/v1/symbols?name=app.pdb").CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"key":"`+pdbKey+`"`) {
		t.Errorf("curl: %v: %s", err, out)
	}
}

func TestSymboliseRun(t *testing.T) {
	n := start(t)
	run := n.put(umdhLog(0)).Run
	n.do("POST", fmt.Sprintf("/api/v1/runs/%d/symbolise", run), nil).want(t, 202, "")
	n.do("POST", fmt.Sprintf("/api/v1/runs/%d/symbolise", run+1), nil).want(t, 404, "not-found")
	n.do("POST", "/api/v1/runs/x/symbolise", nil).want(t, 404, "not-found")
}

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"heapdrift/internal/symbols/cab/cabtest"
	"heapdrift/internal/symbols/pdb/pdbtest"
	"heapdrift/internal/symbols/pe/petest"
)

// program is the program from which the PDB and the image of the tests come.
func program() *pdbtest.Program {
	p := pdbtest.Sample()
	p.GUID, p.Age = [16]byte{15: 7}, 2
	return p
}

// symbolFiles is app.pdb and app.dll of one build.
func symbolFiles(t *testing.T) (pdb, dll []byte) {
	t.Helper()
	p := program()
	pdb, err := p.PDB()
	if err != nil {
		t.Fatal(err)
	}
	image, err := petest.Of(p, `C:\build\app.pdb`)
	if err != nil {
		t.Fatal(err)
	}
	if dll, err = image.Bytes(); err != nil {
		t.Fatal(err)
	}
	return pdb, dll
}

// tree writes files below a directory, by their paths.
func tree(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, body := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSymbolsAdd(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	server := startServer(t)
	pdb, dll := symbolFiles(t)
	c := cabtest.Cabinet{Method: cabtest.MSZIP, Files: []cabtest.File{{Name: "own.pdb", Content: pdb}}}
	packed, err := c.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	dir := tree(t, map[string][]byte{
		"a/app.pdb": pdb, "b/app.dll": dll, "b/readme.txt": []byte("hello"), "c/own.pd_": packed, "c/setup.cab": packed,
		"d/cut.pdb": pdb[:5000], "empty": nil,
	})
	want := []string{
		`^added    a/app.pdb  0{31}72, private, 64-bit$`,
		`^added    b/app.dll  [0-9A-F]{8}[0-9a-f]+, export, 64-bit$`,
		`^added    c/own.pd_  0{31}72, private, 64-bit$`,
		`^refused  d/cut.pdb  truncated: `,
		`^3 added, 0 known, 1 refused, 0 failed$`,
	}
	out, _, code := cli(t, "symbols", "add", "--url", server, dir)
	lines(t, strings.ReplaceAll(out, dir+string(filepath.Separator), ""), want...)
	if code != exitOK {
		t.Errorf("code %d", code)
	}
	// The cabinet is sent again, because its content is not known before.
	out, _, code = cli(t, "symbols", "add", dir, "--url", server+"/")
	lines(t, strings.ReplaceAll(out, dir+string(filepath.Separator), ""), `^known    a/app.pdb  0{31}72$`,
		`^known    b/app.dll  `, `^known    c/own.pd_  `, `^refused `, `^0 added, 3 known, 1 refused, 0 failed$`)
	if code != exitOK {
		t.Errorf("code %d", code)
	}
	t.Setenv("HEAPDRIFT_URL", server)
	out, _, code = cli(t, "symbols", "add", filepath.Join(dir, "d", "cut.pdb"), filepath.Join(dir, "b", "readme.txt"))
	lines(t, out, `^refused  .*cut.pdb  truncated: `, `^refused  .*readme.txt  not-symbols: `,
		`^0 added, 0 known, 2 refused, 0 failed$`)
	if code != exitInput {
		t.Errorf("code %d", code)
	}
	response, err := http.Get(server + "/symbols/own.pdb/" + strings.Repeat("0", 31) + "72/own.pdb")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK || response.ContentLength != int64(len(pdb)) {
		t.Errorf("%s, %d bytes", response.Status, response.ContentLength)
	}
}

// Symbols that a run lacked name its frames as soon as they arrive.
func TestSymbolsAddNamesRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	server := startServer(t)
	pdb, dll := symbolFiles(t)
	p := program()
	image, err := petest.Of(p, "app.pdb")
	if err != nil {
		t.Fatal(err)
	}
	const base = 0x7FF654800000
	var back uint32 // RVA of a return address: after a CALL
	for _, m := range p.Modules {
		for _, f := range m.Functions {
			for _, a := range f.Allocations {
				back = p.RVA(f.Address) + a.Offset + a.Length
			}
		}
	}
	log := fmt.Sprintf("// UMDH: version 10.0.19041.1: Logtime 2025-03-04 12:10 - Machine=LAB - PID=42\r\n// Loaded modules: \r\n//     Base Size Module\r\n//        %X    %X C:\\app\\app.dll\r\n"+
		"//\r\n// Process modules enumerated.\r\n\r\n*- - - - - - - - - - Start of data for heap @ 1D147000000 - - - - - - - - - -\r\n\r\n"+
		"400 bytes + 30 at 1D147000880 by BackTraceBD55953A\r\n\t%X\r\n\r\n*- - - - - - - - - - End of data for heap @ 1D147000000 - - - - - - - - - -\r\n", base, image.SizeOfImage(), base+uint64(back))
	send(t, http.MethodPut, server+"/api/v1/evidence?project=p&build=1&name=a.txt", log)
	decided := func() string { return send(t, http.MethodGet, server+"/api/v1/runs/1/verdict?wait=60s", "") }
	decided()
	dir := tree(t, map[string][]byte{"app.pdb": pdb, "app.dll": dll})
	out, _, code := cli(t, "symbols", "add", "--url", server, filepath.Join(dir, "app.dll"), filepath.Join(dir, "app.pdb"))
	lines(t, out, `^added .*app.dll  `, `^added .*app.pdb  `, `^2 added, `)
	if code != exitOK || !strings.Contains(out, "runs resolved again: 1") {
		t.Errorf("%d %s", code, out)
	}
	decided()
	if report := send(t, http.MethodGet, server+"/api/v1/runs/1/report?format=text", ""); !strings.Contains(report,
		"app!") || strings.Contains(report, "app+0x") {
		t.Errorf("the frame has no name:\n%s", report)
	}
}

// send sends a request that must succeed and returns the answer.
func send(t *testing.T, method, url, body string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		t.Fatalf("%s %s: %s %v %s", method, url, response.Status, err, text)
	}
	return string(text)
}

// lines compares the lines of a text with patterns.
func lines(t *testing.T, text string, want ...string) {
	t.Helper()
	got := strings.Split(strings.TrimSpace(text), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(got), len(want), text)
	}
	for i, line := range got {
		if !regexp.MustCompile(want[i]).MatchString(line) {
			t.Errorf("%q, want %s", line, want[i])
		}
	}
}

func TestSymbolsAddToNobody(t *testing.T) {
	_, dll := symbolFiles(t)
	file := filepath.Join(tree(t, map[string][]byte{"app.dll": dll}), "app.dll")
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch {
		case strings.HasPrefix(r.URL.Path, "/moved"):
			http.Redirect(w, r, "https://else.example.com/", http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/odd"):
			w.WriteHeader(http.StatusCreated)
		default:
			http.Error(w, "no", http.StatusForbidden)
		}
	}))
	defer server.Close()
	for path, want := range map[string]string{"/moved": "points to https://else.example.com/",
		"/odd": "unknown answer", "": "403 Forbidden"} {
		out, _, code := cli(t, "symbols", "add", "--url", server.URL+path, file)
		lines(t, out, `^failed .*`+regexp.QuoteMeta(want), `^0 added, 0 known, 0 refused, 1 failed$`)
		if code != exitInput {
			t.Errorf("%q: code %d", path, code)
		}
	}
	if asked.Load() != 6 {
		t.Errorf("asked %d times, want a HEAD and a PUT each", asked.Load())
	}
}

// A connection that fails is tried again, from the file's beginning.
func TestSymbolsAddAgain(t *testing.T) {
	var puts atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodHead:
			w.WriteHeader(http.StatusNotFound)
		case puts.Add(1) == 1:
			w.WriteHeader(http.StatusBadGateway)
		default:
			body := make([]byte, 10)
			n, _ := r.Body.Read(body)
			if string(body[:min(n, 2)]) != "MZ" {
				t.Errorf("%q comes", body[:n])
			}
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte(`{"modules":[{"name":"a","key":"K","symbols":"export","new":true,"runs":2}],"refused":[]}`))
		}
	}))
	defer server.Close()
	_, dll := symbolFiles(t)
	path := filepath.Join(tree(t, map[string][]byte{"app.dll": dll}), "app.dll")
	s, err := newSymbolServer(server.URL, "g")
	if err != nil {
		t.Fatal(err)
	}
	s.pause = 0
	if o := s.send(t.Context(), symbolCandidate{path: path}); o.state != "added" ||
		o.text != "K, export, runs resolved again: 2" || puts.Load() != 2 {
		t.Errorf("%+v after %d", o, puts.Load())
	}
}

package symsrv_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"heapdrift/internal/symbols/symsrv"
)

const (
	guid  = "A62592418D7807494C4C44205044422E"
	key   = guid + "1"
	right = "right: the PDB that was asked for"
	wrong = "wrong: the PDB of another build"
)

// app is what most tests look for.
var app = symsrv.Identity{Name: "app.pdb", DebugID: key}

// check accepts a file that contains the word "right".
func check(_ context.Context, path string, _ symsrv.Identity) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Contains(content, []byte("right")) {
		return errors.New("another build")
	}
	return nil
}

// plant writes files below a new directory: by path, with slashes.
func plant(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// grown lists the files below a directory that are not empty, with slashes.
func grown(t testing.TB, root string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		files = append(files, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func parse(t testing.TB, path string, opt symsrv.Options) *symsrv.SymbolPath {
	t.Helper()
	p, err := symsrv.Parse(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// find looks for a file and returns its path, or nothing, and a line for each attempt.
func find(t testing.TB, p *symsrv.SymbolPath, want symsrv.Identity) (string, []string) {
	t.Helper()
	found, attempts, err := p.Find(t.Context(), want)
	var missing *symsrv.Error
	if err != nil && (!errors.As(err, &missing) || missing.Code != symsrv.CodeNotFound) {
		t.Fatal(err)
	}
	var lines []string
	for _, a := range attempts {
		lines = append(lines, fmt.Sprintf("%s\t%s\t%s", a.Place, a.Result, a.Detail))
	}
	return found.Path, lines
}

// results are the results of attempts, in order.
func results(lines []string) string {
	var rs []string
	for _, line := range lines {
		rs = append(rs, strings.Split(line, "\t")[1])
	}
	return strings.Join(rs, " ")
}

func read(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// zipped returns a zip of files: name, content, name, content.
func zipped(t testing.TB, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for pair := range slices.Chunk(files, 2) {
		w, err := z.Create(pair[0])
		if err == nil {
			_, err = w.Write([]byte(pair[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// cabinet returns a cabinet with one file that is stored without compression: CFHEADER, CFFOLDER, CFFILE, CFDATA of
// [MS-CAB] 2.1 to 2.4.
func cabinet(name, content string) string {
	const header, folder, file, data = 36, 8, 16, 8
	size := header + folder + file + len(name) + 1 + data + len(content)
	le := binary.LittleEndian
	b := append([]byte("MSCF"), make([]byte, 4)...)
	b = le.AppendUint32(b, uint32(size))
	b = le.AppendUint32(b, 0)
	b = le.AppendUint32(b, header+folder) // coffFiles
	b = le.AppendUint32(b, 0)
	b = append(b, 3, 1)               // version 1.3
	b = le.AppendUint16(b, 1)         // cFolders
	b = le.AppendUint16(b, 1)         // cFiles
	b = append(b, make([]byte, 6)...) // flags, setID, iCabinet
	b = le.AppendUint32(b, uint32(size-data-len(content)))
	b = le.AppendUint16(b, 1) // cCFData
	b = le.AppendUint16(b, 0) // typeCompress: none
	b = le.AppendUint32(b, uint32(len(content)))
	b = append(b, make([]byte, 12)...) // uoffFolderStart, iFolder, date, time, attribs
	b = append(append(b, name...), 0)
	b = append(b, make([]byte, 4)...) // no checksum
	b = le.AppendUint16(b, uint16(len(content)))
	b = le.AppendUint16(b, uint16(len(content)))
	return string(append(b, content...))
}

// A web is a symbol server for tests: files by path, and everything it was asked.
type web struct {
	*httptest.Server
	asked chan string
}

// serve starts a server that answers with the files, or with handle where that is not nil.
func serve(t testing.TB, files map[string]string, handle http.HandlerFunc) *web {
	t.Helper()
	w := &web{asked: make(chan string, 10000)}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.asked <- r.URL.Path
		if handle != nil {
			handle(rw, r)
			return
		}
		content, ok := files[strings.TrimPrefix(r.URL.Path, "/")]
		if !ok {
			http.NotFound(rw, r)
			return
		}
		rw.Header().Set("Content-Type", "application/octet-stream")
		_, _ = rw.Write([]byte(content))
	}))
	t.Cleanup(w.Close)
	return w
}

// host is what an allow-list has for the server.
func (w *web) host() string { return strings.TrimPrefix(w.URL, "http://") }

// questions returns what was asked since the last call, but for index2.txt.
func (w *web) questions() []string {
	var all []string
	for len(w.asked) > 0 {
		if q := <-w.asked; q != "/index2.txt" {
			all = append(all, q)
		}
	}
	return all
}

// quick are limits under which retries do not take long.
var quick = symsrv.Limits{
	Connect: 10 * time.Second, Header: 10 * time.Second, Stall: 10 * time.Second,
	Retries: 2, Backoff: time.Millisecond, MaxWait: 50 * time.Millisecond, Down: time.Nanosecond,
}

// online returns options under which the server may be asked.
func online(t testing.TB, w *web) symsrv.Options {
	t.Helper()
	return symsrv.Options{Allow: []string{w.host()}, Cache: t.TempDir(), Check: check, Limits: quick}
}

func contains(t testing.TB, files []string, file string) {
	t.Helper()
	if !slices.Contains(files, file) {
		t.Errorf("%s is not among %q", file, files)
	}
}

package api_test

import (
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"heapdrift/internal/symbols"
	"heapdrift/internal/symbols/symsrv"
)

func TestSymbolServer(t *testing.T) {
	n := start(t)
	pdb, dll := symbolsOf(t, 7)
	image := n.putSymbols("out.zip", zipped("app.pdb", pdb, "app.dll", dll)).Modules[0]
	if image.Kind != "image" { // the zip's order is that of the names
		t.Fatalf("%+v", image)
	}
	for path, want := range map[string]string{
		"app.pdb/" + pdbKey + "/app.pdb":                           pdb,
		"APP.PDB/" + strings.ToLower(pdbKey) + "/App.pdb":          pdb,
		"app.dll/" + image.Key + "/app.dll":                        dll,
		"App.Dll/" + strings.ToUpper(image.Key) + "/app.dll":       dll,
		"app.dll/" + strings.ToLower(image.Key) + "/APP%2e%44%4cL": dll,
	} {
		a := n.do("GET", "/symbols/"+path, nil).want(t, 200, "")
		h := n.do("HEAD", "/symbols/"+path, nil).want(t, 200, "")
		for _, got := range []answer{a, h} {
			if got.Header.Get("Content-Length") != strconv.Itoa(len(want)) || got.Header.Get("ETag") != `"`+digest(want)+`"` || got.Header.Get("Last-Modified") == "" ||
				got.Header.Get("Content-Type") != "application/octet-stream" {
				t.Errorf("%s: %v", path, got.Header)
			}
		}
		if string(a.body) != want || len(h.body) != 0 {
			t.Errorf("%s: other bytes", path)
		}
	}
}

func TestSymbolServerRanges(t *testing.T) {
	n := start(t)
	pdb, _ := symbolsOf(t, 7)
	n.putSymbols("app.pdb", pdb)
	path := "/symbols/app.pdb/" + pdbKey + "/app.pdb"
	part := n.do("GET", path, nil, "Range", "bytes=4096-8191").want(t, 206, "")
	if string(part.body) != pdb[4096:8192] || part.Header.Get("Content-Range") != "bytes 4096-8191/"+strconv.Itoa(len(pdb)) {
		t.Errorf("%v", part.Header)
	}
	if tail := n.do("GET", path, nil, "Range", "bytes=-10").want(t, 206, ""); string(tail.body) != pdb[len(pdb)-10:] {
		t.Error("other bytes at the end")
	}
	n.do("GET", path, nil, "Range", "bytes=99999999-").want(t, 416, "")
	n.do("GET", path, nil, "If-None-Match", part.Header.Get("ETag")).want(t, 304, "")
	n.do("GET", path, nil, "If-Modified-Since", part.Header.Get("Last-Modified")).want(t, 304, "")
}

func TestSymbolServerMissing(t *testing.T) {
	n := start(t)
	pdb, _ := symbolsOf(t, 7)
	n.putSymbols("app.pdb", pdb)
	for _, path := range []string{
		"", "index2.txt", "pingme.txt", "app.pdb", "app.pdb/" + pdbKey, "app.pdb/" + pdbKey + "/", "app.pdb/" + pdbKey + "/app.pd_", "app.pdb/" + pdbKey + "/file.ptr",
		"app.pdb/" + pdbKey + "/other.pdb", "app.pdb/" + pdbKey + "3/app.pdb", "app.pdb/" + pdbKey[1:] + "/app.pdb", "ap/app.pdb/" + pdbKey + "/app.pdb",
		"app.pdb/" + pdbKey + "/msfz0/app.pdb", "..%2f..%2fapp.pdb/" + pdbKey + "/app.pdb", "app.pdb/%00/app.pdb", "%ff/" + pdbKey + "/%ff", "a/b/c/d/e/f",
	} {
		for _, method := range []string{"GET", "HEAD"} {
			a := n.do(method, "/symbols/"+path, nil, "Accept", "text/html").want(t, 404, "")
			if !strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") || len(a.body) > 40 {
				t.Errorf("%s %s: %q %v", method, path, a.body, a.Header)
			}
		}
	}
	n.do("POST", "/symbols/app.pdb/"+pdbKey+"/app.pdb", nil, "Accept", "application/json").want(t, 405, "method-not-allowed")
}

func BenchmarkSymbolServer(b *testing.B) {
	n := start(b)
	pdb, _ := symbolsOf(b, 7)
	n.putSymbols("app.pdb", pdb)
	b.SetBytes(int64(len(pdb)))
	for b.Loop() {
		req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, n.URL+"/symbols/app.pdb/"+pdbKey+"/app.pdb", nil)
		if err != nil {
			b.Fatal(err)
		}
		n.send(req)
	}
}

// A client of symbol servers finds the team's files among the forms that it asks for.
func TestSymbolServerOfSymbolPath(t *testing.T) {
	n := start(t)
	pdb, dll := symbolsOf(t, 7)
	n.putSymbols("out.zip", zipped("App.pdb", pdb, "app.dll", dll))
	cache := t.TempDir()
	path, err := symsrv.Parse("srv*"+cache+"*"+n.URL+"/symbols", symsrv.Options{Cache: cache, Allow: []string{"*"}, Check: symbols.CheckFile})
	if err != nil {
		t.Fatal(err)
	}
	found, tried, err := path.Find(t.Context(), symsrv.Identity{Name: "app.pdb", DebugID: pdbKey})
	if err != nil {
		t.Fatalf("%v: %+v", err, tried)
	}
	if got, err := os.ReadFile(found.Path); err != nil || string(got) != pdb {
		t.Errorf("other bytes, %v", err)
	}
	_, _, err = path.Find(t.Context(), symsrv.Identity{Name: "app.pdb", DebugID: pdbKey + "1"})
	var missing *symsrv.Error
	if !errors.As(err, &missing) || missing.Code != symsrv.CodeNotFound {
		t.Errorf("%v", err)
	}
}

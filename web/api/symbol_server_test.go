package api_test

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"heapdrift/internal/symbols"
	pdbfile "heapdrift/internal/symbols/pdb"
	"heapdrift/internal/symbols/pdb/pdbtest"
	"heapdrift/internal/symbols/symsrv"
)

func TestSymbolServer(t *testing.T) {
	n := start(t)
	pdb, dll := symbolsOf(t, 7)
	image := n.putSymbols("out.zip", zipped("app.pdb", pdb, "app.dll", dll)).Modules[0]
	if image.Kind != "image" { // the files of the zip are sorted by name
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
			if got.Header.Get("Content-Length") != strconv.Itoa(len(want)) || got.Header.Get("ETag") != `"`+digest(want)+`"` ||
				got.Header.Get("Last-Modified") == "" ||
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
	if string(part.body) != pdb[4096:8192] || part.Header.Get("Content-Range") != "bytes 4096-8191/"+
		strconv.Itoa(len(pdb)) {
		t.Errorf("%v", part.Header)
	}
	if tail := n.do("GET", path, nil, "Range", "bytes=-10").want(t, 206, ""); string(tail.body) != pdb[len(pdb)-10:] {
		t.Error("other bytes at the end")
	}
	if got := part.Header.Get("Cache-Control"); got != "no-cache" { // a fuller PDB may come under the same key
		t.Errorf("it may be kept unasked: %q", got)
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
		"", "index2.txt", "pingme.txt", "app.pdb", "app.pdb/" + pdbKey, "app.pdb/" + pdbKey + "/", "app.pdb/" + pdbKey +
			"/app.pd_", "app.pdb/" + pdbKey + "/file.ptr",
		"app.pdb/" + pdbKey + "/other.pdb", "app.pdb/" + pdbKey + "3/app.pdb", "app.pdb/" + pdbKey[1:] + "/app.pdb",
		"ap/app.pdb/" + pdbKey + "/app.pdb",
		"app.pdb/" + pdbKey + "/msfz0/app.pdb", "..%2f..%2fapp.pdb/" + pdbKey + "/app.pdb", "app.pdb/%00/app.pdb", "%ff/" +
			pdbKey + "/%ff", "a/b/c/d/e/f",
	} {
		for _, method := range []string{"GET", "HEAD"} {
			a := n.do(method, "/symbols/"+path, nil, "Accept", "text/html").want(t, 404, "")
			if !strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") || len(a.body) > 40 ||
				path != "" && a.Header.Get("Cache-Control") != "no-store" { // it may be uploaded the next minute
				t.Errorf("%s %s: %q %v", method, path, a.body, a.Header)
			}
		}
	}
	n.do("POST", "/symbols/app.pdb/"+pdbKey+"/app.pdb", nil, "Accept", "application/json").want(t,
		405, "method-not-allowed")
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

// Clients that ask for MSFZ get the stored container, all others the PDB in it.
func TestSymbolServerOfMSFZ(t *testing.T) {
	n := start(t)
	program := pdbtest.Sample()
	packed, err := program.MSFZ(pdbtest.Zstd, 1<<12)
	if err != nil {
		t.Fatal(err)
	}
	f := n.putSymbols("app.pdb", string(packed)).Modules[0]
	path := "/symbols/" + f.Name + "/" + f.Key + "/"
	for _, ask := range []struct{ path, accept string }{{f.Name, "application/msfz0"},
		{f.Name, "application/msfz0;q=0.5, */*;q=0.1"}, {"msfz0/" + f.Name, ""}} {
		for _, method := range []string{"GET", "HEAD"} {
			a := n.do(method, path+ask.path, nil, "Accept", ask.accept).want(t, 200, "")
			if a.Header.Get("Content-Type") != "application/msfz0" || a.Header.Get("ETag") != `"`+digest(string(packed))+`"` ||
				a.Header.Get("Vary") != "Accept" ||
				a.Header.Get("Content-Length") != strconv.Itoa(len(packed)) || method == "GET" && string(a.body) != string(packed) {
				t.Errorf("%s of %s, Accept %s: %d bytes, %v", method, ask.path, ask.accept, len(a.body), a.Header)
			}
		}
	}
	for _, accept := range []string{"", "*/*", "application/msfz0;q=0", "application/msfz1"} {
		a := n.do("GET", path+f.Name, nil, "Accept", accept).want(t, 200, "")
		plain, err := pdbfile.Open(bytes.NewReader(a.body), int64(len(a.body)))
		if err != nil || plain.Info().Format != pdbfile.FormatMSF ||
			a.Header.Get("Content-Type") != "application/octet-stream" ||
			a.Header.Get("ETag") != `"`+digest(string(packed))+`-msf"` ||
			a.Header.Get("Vary") != "Accept" || a.Header.Get("Last-Modified") == "" ||
			a.Header.Get("Content-Length") != strconv.Itoa(len(a.body)) {
			t.Fatalf("Accept %s: %v, %v", accept, err, a.Header)
		}
		if plain.Info().DebugID != f.Key {
			t.Errorf("%s instead of %s", plain.Info().DebugID, f.Key)
		}
		part := n.do("GET", path+f.Name, nil, "Range", "bytes=4000-9000").want(t, 206, "")
		if string(part.body) != string(a.body[4000:9001]) {
			t.Error("a part differs")
		}
		n.do("GET", path+f.Name, nil, "If-None-Match", a.Header.Get("ETag")).want(t, 304, "")
	}
	n.do("GET", path+f.Name, nil, "If-None-Match", `"`+digest(string(packed))+`"`).want(t, 200, "")
}

// A client of symbol servers finds the team's files among the forms that it asks for.
func TestSymbolServerOfSymbolPath(t *testing.T) {
	n := start(t)
	pdb, dll := symbolsOf(t, 7)
	n.putSymbols("out.zip", zipped("App.pdb", pdb, "app.dll", dll))
	cache := t.TempDir()
	path, err := symsrv.Parse("srv*"+cache+"*"+n.URL+"/symbols",
		symsrv.Options{Cache: cache, Allow: []string{"127.0.0.1"}, Check: symbols.CheckFile})
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

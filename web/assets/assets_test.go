package assets_test

import (
	"bytes"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"heapdrift/web/assets"
)

func get(url, accept string) *http.Response {
	r := httptest.NewRequest(http.MethodGet, url, nil)
	r.Header.Set("Accept-Encoding", accept)
	w := httptest.NewRecorder()
	assets.Handler().ServeHTTP(w, r)
	return w.Result()
}

// decode undoes the content coding of a body.
func decode(t *testing.T, coding string, body []byte) []byte {
	t.Helper()
	var r io.Reader = bytes.NewReader(body)
	var err error
	switch coding {
	case "gzip":
		r, err = gzip.NewReader(r)
	case "br":
		r = brotli.NewReader(r)
	case "zstd":
		r, err = zstd.NewReader(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Error(err)
	}
	return plain
}

func TestEveryFileIsServedForGood(t *testing.T) {
	err := fs.WalkDir(assets.FS, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		want, err := assets.FS.ReadFile(name)
		if err != nil {
			return err
		}
		url := assets.URL(name)
		if !regexp.MustCompile(`^/static/[a-z./-]+\.[0-9a-f]{12}\.(css|js|svg)$`).MatchString(url) {
			t.Errorf("%s has the address %s", name, url)
		}
		res := get(url, "")
		got, _ := io.ReadAll(res.Body)
		if string(got) != string(want) || !strings.Contains(res.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d bytes, headers %v", url, len(got), res.Header)
		}
		if kind := res.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/") && kind != "image/svg+xml" &&
			!strings.Contains(kind, "javascript") {
			t.Errorf("%s is served as %q", url, kind)
		}
		for _, accept := range []string{"gzip, br;q=0.8", "br, gzip, zstd", "zstd", "gzip;q=0"} {
			res := get(url, accept)
			body, _ := io.ReadAll(res.Body)
			if got := decode(t, res.Header.Get("Content-Encoding"), body); string(got) != string(want) ||
				res.Header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s, %s: %d bytes instead of %d", url, accept, len(got), len(want))
			}
			if length := res.Header.Get("Content-Length"); length != strconv.Itoa(len(body)) || len(body) > len(want) {
				t.Errorf("%s, %s: %s bytes announced, %d sent", url, accept, length, len(body))
			}
			if coding := res.Header.Get("Content-Encoding"); len(want) > 1<<10 &&
				coding != accept[:min(len(coding), len(accept))] {
				t.Errorf("%s, %s: coded in %q", url, accept, coding)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOtherAddresses(t *testing.T) {
	for _, url := range []string{"/static/", "/static/pages.css", "/static/pages.000000000000.css", "/static/../assets.go",
		"/static/vendor/VERSIONS.json"} {
		if res := get(url, ""); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", url, res.StatusCode)
		}
	}
	if res := get(assets.URL("pages.css"), "gzip;q=0"); res.Header.Get("Content-Encoding") != "" {
		t.Error("packed for a client that refuses it")
	}
}

// The server's policy forbids inline styles and scripts, so no page may use them.
func TestStylesLoadNothing(t *testing.T) {
	for _, name := range []string{"tokens.css", "pages.css", "layout.css"} {
		text, err := assets.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "@import") || regexp.MustCompile(`url\([^#]`).Match(text) {
			t.Errorf("%s loads something", name)
		}
	}
}

package assets_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"heapdrift/web/assets"
)

func get(url, accept string) *http.Response {
	r := httptest.NewRequest(http.MethodGet, url, nil)
	r.Header.Set("Accept-Encoding", accept)
	w := httptest.NewRecorder()
	assets.Handler().ServeHTTP(w, r)
	return w.Result()
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
		if kind := res.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/") && kind != "image/svg+xml" && !strings.Contains(kind, "javascript") {
			t.Errorf("%s is served as %q", url, kind)
		}
		packed := get(url, "br, gzip;q=0.8")
		z, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			return nil
		}
		if got, _ = io.ReadAll(z); string(got) != string(want) {
			t.Errorf("%s: packed it is %d bytes", url, len(got))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOtherAddresses(t *testing.T) {
	for _, url := range []string{"/static/", "/static/pages.css", "/static/pages.000000000000.css", "/static/../assets.go", "/static/vendor/VERSIONS.json"} {
		if res := get(url, ""); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", url, res.StatusCode)
		}
	}
	if res := get(assets.URL("pages.css"), "gzip;q=0"); res.Header.Get("Content-Encoding") != "" {
		t.Error("packed for a client that refuses it")
	}
}

// The server's policy forbids styles and scripts inside pages, so none may ask for them.
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

// Package assets holds what pages load: styles, scripts, the icon. The address of each file carries its digest, so
// that browsers may keep it for good and still never show an old one.
package assets

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

// FS holds the files under the names that URL takes.
//
//go:embed *.css *.js *.svg vendor/*.js
var FS embed.FS

// Prefix is the path below which Handler serves.
const Prefix = "/static/"

// maxAge is what a digest in the address allows.
const maxAge = "public, max-age=31536000, immutable"

type file struct {
	url         string
	contentType string
	plain       []byte
	packed      []byte // gzip, or nil where that saves nothing
}

// files returns the same files by name and by path. They are made when the first is asked for, since commands that serve
// no pages should not wait for it.
var files = sync.OnceValues(load)

func load() (byName, byPath map[string]*file) {
	byName, byPath = map[string]*file{}, map[string]*file{}
	err := fs.WalkDir(FS, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := FS.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(text)
		extension := path.Ext(name)
		f := &file{plain: text, packed: pack(text), contentType: mime.TypeByExtension(extension)}
		f.url = Prefix + strings.TrimSuffix(name, extension) + "." + hex.EncodeToString(sum[:6]) + extension
		byName[name], byPath[f.url] = f, f
		return nil
	})
	if err != nil {
		panic(fmt.Errorf("assets: %w", err)) // the files are part of the program
	}
	return byName, byPath
}

func pack(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(text)
	if err != nil || w.Close() != nil || b.Len() >= len(text) {
		return nil
	}
	return b.Bytes()
}

// URL is the address of a file by its name. It panics where there is none: names stand in the program.
func URL(name string) string {
	byName, _ := files()
	f := byName[name]
	if f == nil {
		panic("assets: no file " + name)
	}
	return f.url
}

// Handler serves the files below Prefix.
func Handler() http.Handler {
	_, byPath := files()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := byPath[r.URL.Path]
		if f == nil {
			http.NotFound(w, r)
			return
		}
		header, body := w.Header(), f.plain
		header.Set("Content-Type", f.contentType)
		header.Set("Cache-Control", maxAge)
		header.Set("Vary", "Accept-Encoding")
		if f.packed != nil && takesGzip(r.Header.Get("Accept-Encoding")) {
			header.Set("Content-Encoding", "gzip")
			body = f.packed
		}
		header.Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body) // a client that left needs no answer
	})
}

// takesGzip reads an Accept-Encoding header as browsers write it.
func takesGzip(accept string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		if name == "gzip" {
			return strings.TrimSpace(weight) != "q=0"
		}
	}
	return false
}

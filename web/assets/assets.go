// Package assets serves the files that pages load: styles, scripts, the icon. In comes the name of a file, out goes its
// address, which carries the file's digest: browsers may keep each file for good and still never use an old one.
package assets

import (
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

	"heapdrift/web/compress"
)

// FS holds the files under the names that URL takes.
//
// FS holds the files, by the names that URL takes.
//
//go:embed *.css *.js *.svg vendor/*.js
var FS embed.FS

// Prefix is the path below which Handler serves.
const Prefix = "/static/"

// codings are those of the files, the shortest first: they are coded once, so time does not count.
var codings = []compress.Coding{compress.Brotli, compress.Zstd, compress.Gzip}

// maxAge is what a digest in the address allows.
const maxAge = "public, max-age=31536000, immutable"

type file struct {
	url         string
	contentType string
	plain       []byte
	coded       map[compress.Coding]func() []byte // made when the first client asks for it
}

// files returns the same files by name and by path. They are made when the first is asked for, since commands that
// serve no pages should not wait for it.
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
		f := &file{plain: text, contentType: mime.TypeByExtension(extension), coded: map[compress.Coding]func() []byte{}}
		for _, coding := range codings {
			f.coded[coding] = sync.OnceValue(func() []byte { return compress.Smallest(coding, text) })
		}
		f.url = Prefix + strings.TrimSuffix(name, extension) + "." + hex.EncodeToString(sum[:6]) + extension
		byName[name], byPath[f.url] = f, f
		return nil
	})
	if err != nil {
		panic(fmt.Errorf("assets: %w", err)) // the files are part of the program
	}
	return byName, byPath
}

// URL is the address of a file, with its digest in it. It panics for an unknown name: names stand in the program.
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
		compress.Vary(header, "Accept-Encoding")
		if coding := compress.CodingFor(r, codings...); coding != compress.Identity {
			if coded := f.coded[coding](); len(coded) < len(body) {
				header.Set("Content-Encoding", string(coding))
				body = coded
			}
		}
		header.Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body) // a client that left needs no answer
	})
}

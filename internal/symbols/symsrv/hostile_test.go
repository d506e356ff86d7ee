package symsrv_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestServers asks servers that misbehave.
func TestServers(t *testing.T) {
	file := func(rw http.ResponseWriter, content string) { _, _ = rw.Write([]byte(content)) }
	// after answers each address once it has refused it n times: clients ask for several addresses at once.
	after := func(n int, refuse http.HandlerFunc) http.HandlerFunc {
		var mu sync.Mutex
		asked := map[string]int{}
		return func(rw http.ResponseWriter, r *http.Request) {
			mu.Lock()
			asked[r.URL.Path]++
			refused := asked[r.URL.Path] <= n
			mu.Unlock()
			if refused {
				refuse(rw, r)
			} else {
				file(rw, right)
			}
		}
	}
	for _, c := range []struct {
		name   string
		handle http.HandlerFunc
		found  bool
		last   string // result of the last attempt
		detail string
	}{
		{"flaky", after(2, func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusBadGateway) }), true,
			"found", ""},
		{"broken", func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusInternalServerError) }, false,
			"failed", "tried 3 times"},
		{"busy for a moment", after(1, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Retry-After", "0")
			rw.WriteHeader(http.StatusTooManyRequests)
		}), true, "found", ""},
		{"busy for long", func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Retry-After", "3600")
			rw.WriteHeader(http.StatusServiceUnavailable)
		}, false, "failed", "1h0m0s"},
		{"busy until a date", func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
			rw.WriteHeader(http.StatusServiceUnavailable)
		}, false, "failed", "left alone"},
		{"silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, false, "failed", "did not answer"},
		{"stalled", func(rw http.ResponseWriter, r *http.Request) {
			file(rw, right)
			_ = http.NewResponseController(rw).Flush()
			<-r.Context().Done()
		}, false, "failed", "sent nothing"},
		{"wrong file", func(rw http.ResponseWriter, _ *http.Request) { file(rw, wrong) }, false, "mismatch", "another build"},
		{"login page", func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "text/html; charset=utf-8")
			file(rw, "<p>right, who are you?")
		}, false, "refused", "web page"},
		{"login page that says it is not", func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "application/octet-stream")
			file(rw, "<!DOCTYPE html><p>right, who are you?")
		}, false, "refused", "web page"},
		{"login wanted", func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusUnauthorized) },
			false, "refused", "login"},
		{"forbidden", func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusForbidden) },
			false, "refused", "403"},
		{"redirect to itself", func(rw http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/moved") {
				file(rw, right)
				return
			}
			http.Redirect(rw, r, "/moved"+r.URL.Path, http.StatusFound)
		}, true, "found", ""},
		{"redirect without end", func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "/again"+r.URL.Path, http.StatusFound)
		}, false, "refused", "more than 5 times"},
		{"redirect to a foreign host", func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "http://192.0.2.1/x", http.StatusFound)
		}, false, "refused", "192.0.2.1"},
		{"redirect to a file", func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Location", "file:///etc/passwd")
			rw.WriteHeader(http.StatusFound)
		}, false, "refused", "file:"},
		{"cut short", func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Length", "100000")
			file(rw, right)
		}, false, "failed", "cut short"},
		{"gzip", func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(rw)
			_, _ = z.Write([]byte(right))
			_ = z.Close()
		}, true, "found", ""},
		{"gzip cut short", func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Encoding", "gzip")
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, _ = z.Write([]byte(right))
			_ = z.Close()
			_, _ = rw.Write(b.Bytes()[:b.Len()-4])
		}, false, "failed", "cut short"},
		{"an encoding nobody asked for", func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Encoding", "br")
			file(rw, right)
		}, false, "refused", "br"},
		{"announced too large", func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Length", "1000000000000")
		}, false, "refused", "1000000000000 bytes"},
		{"huge", func(rw http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := rw.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}, false, "refused", "larger than"},
		{"a bomb", func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(rw)
			_, _ = z.Write(make([]byte, 4<<20))
			_ = z.Close()
		}, false, "refused", "larger than"},
		{"a stickler for Accept", func(rw http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept") == "application/msfz0" {
				rw.WriteHeader(http.StatusNotAcceptable)
				return
			}
			file(rw, right)
		}, true, "found", ""},
		{"a stickler for the agent", func(rw http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.UserAgent(), "Microsoft-Symbol-Server/") {
				rw.WriteHeader(http.StatusForbidden)
				return
			}
			file(rw, right)
		}, true, "found", ""},
		{"empty answers", func(http.ResponseWriter, *http.Request) {}, false, "failed", "empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, nil, func(rw http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "index2.txt") || strings.HasSuffix(r.URL.Path, "file.ptr") {
					http.NotFound(rw, r)
					return
				}
				c.handle(rw, r)
			})
			opt := online(t, w)
			opt.Limits.MaxBytes = 1 << 20
			if c.name == "silent" || c.name == "stalled" {
				opt.Limits.Header, opt.Limits.Stall, opt.Limits.Retries = 300*time.Millisecond, 300*time.Millisecond, -1
			}
			found, lines := find(t, parse(t, "srv*"+w.URL, opt), app)
			if (found != "") != c.found {
				t.Fatalf("found %q: %q", found, lines)
			}
			last := slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, "\tnot-found\t") })
			if len(last) == 0 || !strings.Contains(last[len(last)-1], "\t"+c.last+"\t") ||
				!strings.Contains(last[len(last)-1], c.detail) {
				t.Errorf("tried %q", lines)
			}
			files := grown(t, opt.Cache)
			if c.found && (len(files) != 1 || read(t, found) != right) || !c.found && len(files) != 0 {
				t.Errorf("the store holds %q", files)
			}
		})
	}
}

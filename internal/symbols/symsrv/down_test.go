package symsrv_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"heapdrift/internal/symbols/symsrv"
)

// A server is left alone after answers that speak of the server: that it is busy, away, or asks for it. What it says of
// one file, even that this is broken, is no reason to keep it from being asked for others.
func TestAnswersThatLeaveAServerAlone(t *testing.T) {
	status := func(code int, after string) http.HandlerFunc {
		return func(rw http.ResponseWriter, _ *http.Request) {
			if after != "" {
				rw.Header().Set("Retry-After", after)
			}
			rw.WriteHeader(code)
		}
	}
	for _, c := range []struct {
		name   string
		handle http.HandlerFunc
		alone  bool
	}{
		{"no such file", status(http.StatusNotFound, ""), false},
		{"gone", status(http.StatusGone, ""), false},
		{"forbidden", status(http.StatusForbidden, ""), false},
		{"login wanted", status(http.StatusUnauthorized, ""), false},
		{"broken", status(http.StatusInternalServerError, ""), false},
		{"broken for a moment", status(http.StatusInternalServerError, "0"), false},
		{"broken for long", status(http.StatusInternalServerError, "3600"), true},
		{"not implemented", status(http.StatusNotImplemented, "3600"), false},
		{"bad gateway", status(http.StatusBadGateway, ""), false},
		{"slow request", status(http.StatusRequestTimeout, ""), false},
		{"too many requests", status(http.StatusTooManyRequests, ""), true},
		{"unavailable", status(http.StatusServiceUnavailable, ""), true},
		{"another build", func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte(wrong)) }, false},
		{"cut connection", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, nil, func(rw http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "index2.txt") {
					http.NotFound(rw, r)
					return
				}
				c.handle(rw, r)
			})
			opt := online(t, w)
			opt.Limits.Down = time.Hour
			p := parse(t, "srv*"+w.URL, opt)
			_, first := find(t, p, app)
			if len(w.questions()) == 0 {
				t.Fatalf("the server was not asked: %q", first)
			}
			_, lines := find(t, p, symsrv.Identity{Name: "other.pdb", DebugID: key})
			said := strings.Contains(strings.Join(lines, "\n"), "left alone for a while")
			if asked := len(w.questions()); said != c.alone || (asked == 0) != c.alone {
				t.Errorf("asked %d more times, left alone is %t: %q", asked, said, lines)
			}
		})
	}
}

// Who stops waiting says nothing about the server: others still ask it.
func TestServerOfACanceledSearch(t *testing.T) {
	for _, during := range []string{"/index2.txt", "/app.pdb/"} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			asked := 0
			opt := symsrv.Options{Allow: []string{"*"}, Cache: t.TempDir(), Limits: quick,
				Client: &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
					if asked++; strings.HasPrefix(r.URL.Path, during) {
						cancel()
						<-r.Context().Done()
						return nil, r.Context().Err()
					}
					return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody, Request: r}, nil
				})}}
			opt.Limits.Down = time.Hour
			p := parse(t, "srv*https://host.example", opt)
			if _, _, err := p.Find(ctx, app); !errors.Is(err, context.Canceled) {
				t.Fatalf("%v", err)
			}
			synctest.Wait() // for what goes on without a caller
			during, asked = "none", 0
			if _, lines := find(t, p, symsrv.Identity{Name: "other.pdb", DebugID: key}); asked == 0 {
				t.Errorf("the server was not asked: %q", lines)
			}
		})
	}
}

package symsrv_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"heapdrift/internal/symbols/symsrv"
)

// TestRemembersMissing counts the requests to a server for a file that it does not have.
func TestRemembersMissing(t *testing.T) {
	var clients sync.Map
	w := serve(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		clients.Store(r.RemoteAddr, true)
		http.Error(rw, strings.Repeat("There is no such file. ", 1000), http.StatusNotFound)
	})
	opt := online(t, w)
	opt.Missing = t.TempDir()
	p := parse(t, "srv*"+w.URL+";srv*"+w.URL+"/", opt)
	find(t, p, app)
	first := w.questions()
	if len(first) != len(slices.Compact(slices.Sorted(slices.Values(first)))) {
		t.Errorf("asked twice: %q", first)
	}
	if len(first) > 7 {
		t.Errorf("%d questions for one file: %q", len(first), first)
	}
	connections := 0
	clients.Range(func(any, any) bool { connections++; return true })
	if connections != 1 {
		t.Errorf("%d connections for %d questions", connections, len(first))
	}
	for range 100 {
		find(t, p, app)
	}
	find(t, parse(t, "srv*"+w.URL, opt), app) // another process
	if again := w.questions(); len(again) != 0 {
		t.Errorf("asked again: %q", again)
	}
	opt.Limits.Missing = time.Nanosecond
	kept := len(grown(t, opt.Missing))
	find(t, parse(t, "srv*"+w.URL, opt), app)
	if again := w.questions(); len(again) == 0 {
		t.Error("never asked again")
	}
	if now := len(grown(t, opt.Missing)); now > kept {
		t.Errorf("%d answers on disk, %d before: old ones are not removed", now, kept)
	}
}

func TestRemembersMismatch(t *testing.T) {
	w := serve(t, map[string]string{in + "app.pdb": wrong}, nil)
	p := parse(t, "srv*"+w.URL, online(t, w))
	find(t, p, app)
	w.questions()
	_, lines := find(t, p, app)
	if again := w.questions(); len(again) != 0 || !strings.Contains(results(lines), "mismatch") {
		t.Errorf("asked again %q: %q", again, lines)
	}
}

func TestServerThatIsDown(t *testing.T) {
	dials := 0
	opt := symsrv.Options{Allow: []string{"*"}, Cache: t.TempDir(), Limits: quick,
		Client: &http.Client{Transport: trip(func(*http.Request) (*http.Response, error) {
			dials++
			return nil, http.ErrHandlerTimeout
		})}}
	opt.Limits.Down = time.Hour
	p := parse(t, "srv*https://host.example", opt)
	for i := range 10 {
		_, lines := find(t, p, symsrv.Identity{Name: fmt.Sprintf("app%d.pdb", i), DebugID: key})
		if results(lines) != "not-found failed" {
			t.Errorf("%q", lines)
		}
	}
	if dials != 3 {
		t.Errorf("%d connections to a server that is down", dials)
	}
}

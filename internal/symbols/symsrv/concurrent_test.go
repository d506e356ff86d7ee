package symsrv_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heapdrift/internal/await"
	"heapdrift/internal/symbols/symsrv"
)

// TestOneDownload has many goroutines want the same file.
func TestOneDownload(t *testing.T) {
	asked, release := make(chan struct{}, 1), make(chan struct{})
	w := serve(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "index2.txt") {
			http.NotFound(rw, r)
			return
		}
		select {
		case asked <- struct{}{}:
		default: // a second download is counted below
		}
		<-release
		_, _ = rw.Write([]byte(right))
	})
	opt := online(t, w)
	p := parse(t, "srv*"+w.URL, opt)
	var wg sync.WaitGroup
	// The first caller begins the download and waits to its end: callers that give up later must not end it. Where all
	// callers give up, a download may end and begin anew.
	wg.Go(func() { find(t, p, app) })
	<-asked
	for i := range 50 {
		wg.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%5 == 0 {
				time.AfterFunc(time.Millisecond, cancel)
			}
			found, attempts, err := p.Find(ctx, app)
			if err == nil && (found.Path == "" || len(attempts) == 0) || err != nil && i%5 != 0 {
				t.Errorf("%+v %+v %v", found, attempts, err)
			}
		})
	}
	time.AfterFunc(20*time.Millisecond, func() { close(release) })
	wg.Wait()
	if asked := w.questions(); len(asked) != 1 {
		t.Errorf("%d downloads", len(asked))
	}
}

func TestParallelLimit(t *testing.T) {
	var now, most atomic.Int32
	w := serve(t, nil, func(rw http.ResponseWriter, _ *http.Request) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		time.Sleep(time.Millisecond) //nolint:forbidigo // an answer takes its time, or requests would not overlap
		now.Add(-1)
		_, _ = rw.Write([]byte(right))
	})
	opt := online(t, w)
	opt.Limits.Parallel = 2
	p := parse(t, "srv*"+w.URL, opt)
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() { find(t, p, symsrv.Identity{Name: fmt.Sprintf("app%d.pdb", i), DebugID: key}) })
	}
	wg.Wait()
	if most.Load() > 2 {
		t.Errorf("%d requests at a time", most.Load())
	}
}

// TestCancelledDownload ends a download in the middle; nothing is left.
func TestCancelledDownload(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cache := t.TempDir()
	w := serve(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "index2.txt") {
			http.NotFound(rw, r)
			return
		}
		_, _ = rw.Write(make([]byte, 1<<16))
		_ = http.NewResponseController(rw).Flush()
		await.Poll(r.Context(), func() bool { return len(grown(t, cache)) > 0 })
		cancel()
		<-r.Context().Done()
	})
	opt := online(t, w)
	opt.Cache = cache
	if _, _, err := parse(t, "srv*"+w.URL, opt).Find(ctx, app); err == nil {
		t.Error("a cancelled search ended well")
	}
	await.Until(t, "the end of what was downloaded", func() bool { return len(grown(t, opt.Cache)) == 0 })
}

// TestSweep removes what a killed process left in a staging folder, and nothing younger.
func TestSweep(t *testing.T) {
	w := serve(t, map[string]string{in + "app.pdb": right}, nil)
	opt := online(t, w)
	staging := filepath.Join(opt.Cache, ".heapdrift")
	old, young := filepath.Join(staging, "old.part"), filepath.Join(staging, "young.part")
	if err := os.MkdirAll(staging, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{old, young} {
		if err := os.WriteFile(file, []byte("half"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	find(t, parse(t, "srv*"+w.URL, opt), app)
	files := grown(t, opt.Cache)
	if len(files) != 2 {
		t.Errorf("left: %q", files)
	}
	contains(t, files, ".heapdrift/young.part")
}

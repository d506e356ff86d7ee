package symsrv_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/await"
	"heapdrift/internal/symbols/symsrv"
)

// TestKilled kills a process in the middle of a download: no half file goes by the real name, and the next process
// finds the whole one. The process is this test, told by its environment what to do.
func TestKilled(t *testing.T) {
	if path := os.Getenv("SYMSRV_TEST_PATH"); path != "" {
		host := os.Getenv("SYMSRV_TEST_HOST")
		_, lines := find(t, parse(t, path, symsrv.Options{Allow: []string{host}}), app)
		t.Fatalf("not killed: %q", lines)
	}
	const half = 1 << 16
	whole := right + strings.Repeat(".", 2*half)
	finish := make(chan struct{})
	w := serve(t, nil, func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "index2.txt") {
			http.NotFound(rw, r)
			return
		}
		_, _ = rw.Write([]byte(whole[:half]))
		_ = http.NewResponseController(rw).Flush()
		select {
		case <-finish:
			_, _ = rw.Write([]byte(whole[half:]))
		case <-r.Context().Done():
		}
	})
	opt := online(t, w)
	path := "srv*" + opt.Cache + "*" + w.URL
	process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$")
	process.Env = append(os.Environ(), "SYMSRV_TEST_PATH="+path, "SYMSRV_TEST_HOST="+w.host())
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	size := func() (n int64) {
		for _, file := range grown(t, opt.Cache) {
			if info, err := os.Stat(filepath.Join(opt.Cache, file)); err == nil {
				n += info.Size()
			}
		}
		return n
	}
	await.Until(t, "half of the file", func() bool { return size() >= half })
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait()
	files := grown(t, opt.Cache)
	if len(files) != 1 || !strings.HasPrefix(files[0], ".heapdrift/") {
		t.Fatalf("left behind: %q", files)
	}
	close(finish)
	if found, lines := find(t, parse(t, path, opt), app); found == "" || read(t, found) != whole {
		t.Errorf("after the kill: %q", lines)
	}
}

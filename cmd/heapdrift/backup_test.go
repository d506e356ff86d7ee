package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/internal/await"
	"heapdrift/internal/embedded"
	"heapdrift/internal/memory"
	"heapdrift/internal/needs"
	"heapdrift/internal/testdb"
)

// postgresProgram finds a program of PostgreSQL beside its server or in the path.
func postgresProgram(t *testing.T, name string) string {
	t.Helper()
	for _, dir := range append([]string{os.Getenv("HEAPDRIFT_PG_BIN")}, globbed("/usr/lib/postgresql/*/bin")...) {
		if path := filepath.Join(dir, name); dir != "" && exists(path) {
			return path
		}
	}
	return needs.Program(t, name)
}

func globbed(pattern string) []string {
	list, _ := filepath.Glob(pattern) // the pattern is well formed
	return list
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// installation runs the parts that the role names on a database and a folder of blobs, until stop is called.
func installation(t *testing.T, database, blobs string, r role) (address string, stop func()) {
	t.Helper()
	redis, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	c := config{DatabaseURL: database, RedisURL: "redis://" + redis.Addr(), BlobURL: "file://" + blobs,
		Listen: "127.0.0.1:0", MaxUpload: 1 << 30, Concurrency: 2, Open: "1"}
	p, err := openParts(t.Context(), c, r, memory.NewBudget(0), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	listens, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- p.run(ctx, r, func(_ context.Context, at serverAddress) error { listens <- at.address; return nil })
	}()
	select {
	case address = <-listens:
	case err := <-ended:
		t.Fatal(err)
	}
	return "http://" + address, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		p.store.Close()
		redis.Stop()
	}
}

func call(t *testing.T, method, url, body string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	b, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return got.StatusCode, string(b)
}

// reportWhenReady waits for the report of a run.
func reportWhenReady(t *testing.T, address string, run int) (text string) {
	t.Helper()
	await.Until(t, fmt.Sprintf("the report of run %d", run), func() bool {
		var status int
		status, text = call(t, "GET", fmt.Sprintf("%s/api/v1/runs/%d/report", address, run), "")
		return status == http.StatusOK
	})
	return text
}

// This is the procedure of docs/operations.md: rows are saved first, then blobs, and restored into an empty
// installation, where waiting jobs run.
func TestBackUpAndRestore(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	dump, restore := postgresProgram(t, "pg_dump"), postgresProgram(t, "pg_restore")
	const raw = "// UMDH: version 10.0.19041.1: Logtime 2026-01-02 03:0%d - Machine=LAB - PID=42\n// Loaded modules:\n//     Base Size Module\n//  400000 10000 C:\\app.exe\n// Process modules enumerated.\n" +
		"*- - - - - - - - - - Start of data for heap @ 3F0000 - - - - - - - - - -\n%X bytes + 10 at 3F0880 by BackTraceA1\n\t401000\n\t402000\n\n*- - - - - - - - - - End of data for heap @ 3F0000 - - - - - - - - - -\n"
	database, blobs := testdb.New(t), t.TempDir()
	put := func(address, run string, n int) {
		t.Helper()
		if status, text := call(t, "PUT", address+"/api/v1/evidence?project=p&build=1&scenario=s&run="+run+"&name=a.txt",
			fmt.Sprintf(raw, n, 100*n)); status >= 300 {
			t.Fatal(status, text)
		}
	}
	address, stop := installation(t, database, blobs, role{web: true, work: true, freshBroker: true, atHome: true})
	put(address, "first", 1)
	put(address, "second", 2)
	reports := map[int]string{1: reportWhenReady(t, address, 1), 2: reportWhenReady(t, address, 2)}
	stop()
	address, stop = installation(t, database, blobs, role{web: true, freshBroker: true, atHome: true}) // no worker runs
	put(address, "waits", 3)

	file := filepath.Join(t.TempDir(), "heapdrift.dump")
	if out, err := exec.CommandContext(t.Context(), dump, "--format=custom", "--file", file,
		database).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	put(address, "behind", 4) // an upload that goes on meanwhile is not in the backup
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(blobs)); err != nil {
		t.Fatal(err)
	}
	stop()

	empty := testdb.New(t)
	if out, err := exec.CommandContext(t.Context(), restore, "--no-owner", "--clean", "--if-exists", "--dbname", empty,
		file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	address, stop = installation(t, empty, copied, role{web: true, work: true, freshBroker: true, atHome: true})
	defer stop()
	for run, want := range reports {
		if got := reportWhenReady(t, address, run); got != want {
			t.Errorf("run %d has another report", run)
		}
	}
	var report struct {
		Totals struct {
			Heap struct{ Outstanding struct{ Bytes int64 } }
		}
	}
	if err := json.Unmarshal([]byte(reportWhenReady(t, address, 3)), &report); err != nil ||
		report.Totals.Heap.Outstanding.Bytes != 300 {
		t.Errorf("what waited gives %+v, %v", report, err)
	}
	if status, text := call(t, "GET", address+"/api/v1/runs/1/evidence/1", ""); status != http.StatusOK ||
		!bytes.Equal([]byte(text), fmt.Appendf(nil, raw, 1, 100)) {
		t.Errorf("the file of the first run: %d, %d bytes", status, len(text))
	}
	if status, _ := call(t, "GET", address+"/api/v1/runs/4", ""); status != http.StatusNotFound {
		t.Errorf("what came after the backup: %d", status)
	}
}

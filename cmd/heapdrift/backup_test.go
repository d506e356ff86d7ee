package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"heapdrift/internal/await"
	"heapdrift/internal/embedded"
	"heapdrift/internal/memory"
	"heapdrift/internal/testdb"
)

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

// lookAfter runs a command of the program on an installation, and returns what it prints and its exit code.
func lookAfter(t *testing.T, database, blobs string, args ...string) (output string, code int) {
	t.Helper()
	t.Setenv("HEAPDRIFT_DATABASE_URL", database)
	t.Setenv("HEAPDRIFT_BLOB_URL", "file://"+blobs)
	t.Setenv("HEAPDRIFT_REDIS_URL", "redis://127.0.0.1:1") // no command needs it
	var out bytes.Buffer
	code = run(t.Context(), args, streams{out: &out, err: &out})
	return out.String(), code
}

// logText is a UMDH log of n allocations.
func logText(n int) string {
	return fmt.Sprintf("// UMDH: version 10.0.19041.1: Logtime 2026-01-02 03:0%d - Machine=LAB - PID=42\n// Loaded modules:\n//     Base Size Module\n//  400000 10000 C:\\app.exe\n// Process modules enumerated.\n"+
		"*- - - - - - - - - - Start of data for heap @ 3F0000 - - - - - - - - - -\n%X bytes + 10 at 3F0880 by BackTraceA1\n\t401000\n\t402000\n\n*- - - - - - - - - - End of data for heap @ 3F0000 - - - - - - - - - -\n", n, 100*n)
}

// everything are pages and answers of an installation, by their addresses.
func everything(t *testing.T, address string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, path := range []string{"/", "/projects/p", "/projects/p/settings", "/runs/1", "/runs/2", "/projects/p/symbols", "/projects/p/policy",
		"/api/v1/runs/1", "/api/v1/runs/1/report", "/api/v1/runs/2/report", "/api/v1/runs/1/verdict",
		"/api/v1/projects/p", "/api/v1/projects/p/audit", "/api/v1/projects/p/retention", "/api/v1/projects/p/signatures", "/api/v1/projects/p/builds/1"} {
		status, text := call(t, "GET", address+path, "")
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, status, text)
		}
		all[path] = strings.ReplaceAll(text, address, "http://server")
	}
	return all
}

// A backup of a server at work, restored into an empty installation, gives the same pages and answers, and waiting jobs
// run. What is deleted after the backup is deleted again, by the tombstones beside the blobs.
func TestBackUpAndRestore(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	database, blobs, place := testdb.New(t), t.TempDir(), t.TempDir()
	put := func(address, run string, n int) {
		t.Helper()
		if status, text := call(t, "PUT", address+"/api/v1/evidence?project=p&build=1&scenario=s&run="+run+"&name=a.txt", logText(n)); status >= 300 {
			t.Fatal(status, text)
		}
	}
	address, stop := installation(t, database, blobs, role{web: true, work: true, freshBroker: true, atHome: true})
	put(address, "first", 1)
	put(address, "second", 2)
	put(address, "goes", 5)
	for run := 1; run <= 3; run++ {
		reportWhenReady(t, address, run)
	}
	call(t, "PUT", address+"/api/v1/projects/p/retention", `{"evidence_days": 30}`)
	call(t, "PUT", address+"/api/v1/runs/1/hold", `{"reason": "case 7"}`)
	stop()
	address, stop = installation(t, database, blobs, role{web: true, freshBroker: true, atHome: true}) // no worker runs
	put(address, "waits", 3)
	want := everything(t, address)
	if out, code := lookAfter(t, database, blobs, "backup", place); code != 0 || !strings.Contains(out, "copied") {
		t.Fatalf("%d %s", code, out)
	}
	put(address, "behind", 4) // it is not in the backup
	again, code := lookAfter(t, database, blobs, "backup", place)
	if code != 0 || !strings.Contains(again, "; 1 blob copied") {
		t.Errorf("the second backup copies more than what is new: %d %s", code, again)
	}
	names, _ := lookAfter(t, database, blobs, "restore", "--list", place)
	first := strings.Fields(names)[0]
	if len(strings.Fields(names)) != 2 {
		t.Fatalf("%q", names)
	}
	if status, text := call(t, "DELETE", address+"/api/v1/runs/3", ""); status != http.StatusNoContent {
		t.Fatal(status, text)
	}
	stop()

	if out, code := lookAfter(t, database, blobs, "restore", place); code == 0 || !strings.Contains(out, "--force") {
		t.Errorf("a database with data: %d %s", code, out)
	}
	empty, copied := testdb.New(t), t.TempDir()
	if out, code := lookAfter(t, empty, copied, "restore", "--backup", first, place); code != 0 {
		t.Fatalf("%d %s", code, out)
	}
	address, stop = installation(t, empty, copied, role{web: true, freshBroker: true, atHome: true})
	for path, text := range everything(t, address) {
		if text != want[path] {
			t.Errorf("%s differs:\n%s", path, firstDifference(want[path], text))
		}
	}
	if status, text := call(t, "GET", address+"/api/v1/runs/1/evidence/1", ""); status != http.StatusOK || text != logText(1) {
		t.Errorf("the file of the first run: %d, %d bytes", status, len(text))
	}
	if status, _ := call(t, "GET", address+"/api/v1/runs/5", ""); status != http.StatusNotFound {
		t.Errorf("what came after the backup: %d", status)
	}
	stop()
	address, stop = installation(t, empty, copied, role{web: true, work: true, freshBroker: true, atHome: true})
	var report struct {
		Totals struct {
			Heap struct{ Outstanding struct{ Bytes int64 } }
		}
	}
	if err := json.Unmarshal([]byte(reportWhenReady(t, address, 4)), &report); err != nil ||
		report.Totals.Heap.Outstanding.Bytes != 300 {
		t.Errorf("what waited gives %+v, %v", report, err)
	}
	stop()

	// The first installation goes back to its backup: what was deleted since is deleted again.
	out, code := lookAfter(t, database, blobs, "restore", "--force", "--backup", first, place)
	if code != 0 || !strings.Contains(out, "deletions after the backup applied: 1 run, 0 files") {
		t.Errorf("%d %s", code, out)
	}
	address, stop = installation(t, database, blobs, role{web: true, freshBroker: true, atHome: true})
	defer stop()
	for path, want := range map[string]int{"/api/v1/runs/1": 200, "/api/v1/runs/3": 404, "/api/v1/runs/5": 404} {
		if status, _ := call(t, "GET", address+path, ""); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
}

// firstDifference is where two texts begin to differ.
func firstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	from := max(0, i-60)
	return a[from:min(len(a), i+60)] + "\n" + b[from:min(len(b), i+60)]
}

// A dry run of a sweep does not claim the blobs.
// A backup that may keep some deletes the others, and says what it has deleted.
func TestBackUpKeeps(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a server")
	}
	database, blobs, place := testdb.New(t), t.TempDir(), t.TempDir()
	_, stop := installation(t, database, blobs, role{web: true})
	stop()
	for i, want := range []string{"", "", "deleted 1 old backup and 0 blobs (0 B)"} {
		out, code := lookAfter(t, database, blobs, "backup", "--keep", "2", place)
		if code != 0 || strings.Contains(out, "deleted") != (want != "") || !strings.Contains(out, want) {
			t.Errorf("backup %d: %d, %s", i+1, code, out)
		}
	}
	if out, code := lookAfter(t, database, blobs, "backup", "--keep", "-1", place); code != exitUsage {
		t.Errorf("%d, %s", code, out)
	}
}

func TestSweepUsage(t *testing.T) {
	for _, args := range [][]string{{"--dry-run", "--claim"}, {"--older", "59m"}, {"more"}} {
		if code, _, errs := ran(t, append([]string{"sweep"}, args...)...); code != exitUsage {
			t.Errorf("%q: %d, %s", args, code, errs)
		}
	}
}

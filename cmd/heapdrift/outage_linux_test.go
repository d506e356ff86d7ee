package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"heapdrift/internal/await"
	"heapdrift/internal/blob"
	"heapdrift/internal/embedded"
	"heapdrift/internal/leaks"
	"heapdrift/internal/outage"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/internal/testdb"
)

// A smallDisk is a file system of its own that a test can fill.
type smallDisk struct {
	dir   string
	stuff string // a file that fills it
}

func newSmallDisk(t *testing.T) *smallDisk {
	t.Helper()
	d := &smallDisk{dir: t.TempDir()}
	if err := syscall.Mount("tmpfs", d.dir, "tmpfs", 0, fmt.Sprintf("size=%d", 2*outage.MinFree)); err != nil {
		t.Skipf("no small disk: %v; mounting one needs root", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(d.dir, syscall.MNT_DETACH) })
	d.stuff = filepath.Join(d.dir, "stuff")
	return d
}

// fill leaves nothing free.
func (d *smallDisk) fill(t *testing.T) {
	t.Helper()
	f, err := os.Create(d.stuff)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 1<<20))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func (d *smallDisk) clear(t *testing.T) {
	t.Helper()
	if err := os.Remove(d.stuff); err != nil {
		t.Fatal(err)
	}
}

// A diskTrial is a database, a broker and a blob folder, and the processes that a test starts for it.
type diskTrial struct {
	store       *store.Store
	blobs       blob.Store
	environment []string
}

func newDiskTrial(t *testing.T, blobs string) *diskTrial {
	t.Helper()
	redis, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(redis.Stop)
	url := testdb.New(t)
	i := &diskTrial{environment: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "HEAPDRIFT_DATABASE_URL=" + url,
		"HEAPDRIFT_REDIS_URL=redis://" + redis.Addr(), "HEAPDRIFT_BLOB_URL=file://" + blobs}}
	if i.store, err = store.Open(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(i.store.Close)
	if i.blobs, err = blob.Open(t.Context(), "file://"+blobs); err != nil {
		t.Fatal(err)
	}
	return i
}

// process starts the program, and returns the address of its health.
func (i *diskTrial) process(t *testing.T, command string, environment ...string) (health string) {
	t.Helper()
	path, err := builtBinary()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	health = listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	process := exec.Command(path, command)
	process.Env = append(append(i.environment, "HEAPDRIFT_METRICS_LISTEN="+health, "HEAPDRIFT_LISTEN=127.0.0.1:0"), environment...)
	var log logBuffer
	process.Stdout, process.Stderr = &log, &log
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Signal(syscall.SIGTERM)
		_ = process.Wait() // a job may be given back
		if t.Failed() {
			t.Logf("%s said:\n%s", command, log.String())
		}
	})
	return "http://" + health
}

// says is the status of a process's /readyz and what it says of its worker.
func says(t *testing.T, health string) (status int, worker string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, health+"/readyz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = answer.Body.Close() }()
	var view struct{ Checks map[string]string }
	if err := json.NewDecoder(answer.Body).Decode(&view); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, view.Checks["worker"]
}

// add adds runs of one log each.
func (i *diskTrial) add(t *testing.T, name string, runs int) (ids []int64) {
	t.Helper()
	for n := range runs {
		f, err := os.Open(writeLog(t, "a.txt", n, 40+n))
		if err != nil {
			t.Fatal(err)
		}
		digest, err := blob.PutContent(t.Context(), i.blobs, f)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		e, err := i.store.CreateEvidence(t.Context(), leaks.UploadTarget{Project: "p", Build: "1", Scenario: "s", Run: fmt.Sprint(name, n)},
			store.Evidence{Name: "a.txt", SHA256: digest.SHA256, Bytes: digest.Bytes, Kind: "umdh"})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.RunID)
	}
	return ids
}

// end waits until the runs have reports, and checks that no job of them lost an attempt.
func (i *diskTrial) end(t *testing.T, runs []int64) {
	t.Helper()
	for _, run := range runs {
		await.Until(t, fmt.Sprintf("the report of run %d", run), func() bool {
			r, err := storetest.Now(t, i.store).FindRun(t.Context(), run)
			return err == nil && (r.PendingJobs == 0)
		})
		jobs, err := storetest.Now(t, i.store).ListJobs(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range jobs {
			if j.State != "done" || j.Attempt > 1 {
				t.Errorf("%+v", j)
			}
		}
	}
}

// waiting is the state of a run's first job, and its attempts.
func (i *diskTrial) waiting(t *testing.T, run int64) string {
	t.Helper()
	jobs, err := storetest.Now(t, i.store).ListJobs(t.Context(), run)
	if err != nil || len(jobs) == 0 {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %d", jobs[0].State, jobs[0].Attempt)
}

// A worker whose TMPDIR is full, beside a healthy one, burns no attempts: all runs get their reports. It is not ready,
// says why, and goes on by itself when space is free.
func TestWorkerOnFullTempDir(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	disk := newSmallDisk(t)
	i := newDiskTrial(t, t.TempDir())
	sick := i.process(t, "work", "TMPDIR="+disk.dir)
	i.end(t, i.add(t, "before-", 1))
	disk.fill(t)
	met := i.add(t, "met-", 1) // before the worker looks again
	await.Until(t, "a worker that is not ready", func() bool {
		status, worker := says(t, sick)
		return status == http.StatusServiceUnavailable && strings.Contains(worker, "is full: 0 B of 128 MB free")
	})
	await.Until(t, "the job given back", func() bool { return i.waiting(t, met[0]) == "queued 0" })
	i.process(t, "work", "TMPDIR="+t.TempDir())
	i.end(t, append(met, i.add(t, "beside-", 20)...))
	disk.clear(t)
	await.Until(t, "a worker that is ready", func() bool {
		status, worker := says(t, sick)
		return status == http.StatusOK && worker == "ok"
	})
}

// Everything on one machine whose disk is full waits, however long, and goes on by itself.
func TestUpOnFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	disk := newSmallDisk(t)
	i := newDiskTrial(t, filepath.Join(disk.dir, "blobs"))
	runs := i.add(t, "run-", 5)
	disk.fill(t)
	up := i.process(t, "up", "TMPDIR="+disk.dir, "HEAPDRIFT_STATE_DIR="+t.TempDir(), "HEAPDRIFT_MIN_FREE=0")
	await.Until(t, "a worker that is not ready", func() bool {
		status, worker := says(t, up)
		return status == http.StatusServiceUnavailable && strings.Contains(worker, "is full: 0 B of 128 MB free")
	})
	for _, run := range runs {
		if got := i.waiting(t, run); got != "queued 0" {
			t.Errorf("run %d is %s", run, got)
		}
	}
	disk.clear(t)
	i.end(t, runs)
}

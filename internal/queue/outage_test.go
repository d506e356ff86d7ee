package queue_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"heapdrift/internal/await"
	"heapdrift/internal/outage"
	"heapdrift/internal/queue"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/internal/testdb"
)

// newStore is a database and a broker of this test alone.
func newStore(t *testing.T) (s *store.Store, redisURL string) {
	t.Helper()
	redisURL = brokers["miniredis"](t)
	s, err := store.Open(t.Context(), testdb.New(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, redisURL
}

// A disk that can be filled.
type disk struct{ full atomic.Bool }

func (d *disk) probe(context.Context) *outage.Outage {
	if d.full.Load() {
		return &outage.Outage{Part: outage.TempDir, Sentence: "TMPDIR of worker w2 is full: 0 B of 512 MB free"}
	}
	return nil
}

// A worker whose disk is full, beside a healthy one, takes no jobs after its first: no attempt is lost, all jobs end,
// and it says why it takes none until its disk has room again.
func TestFullDiskCostsNoAttempts(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	s, redisURL := newStore(t)
	var d disk
	var bySick, byHealthy atomic.Int32
	handlers := func(read queue.Handler) map[string]queue.Handler {
		return map[string]queue.Handler{store.JobSymbolise: nothing, store.JobAnalyse: nothing, store.JobRead: read}
	}
	opt := fast(redisURL)
	opt.Outages = outage.NewWatch("w2", outage.Probe{Try: d.probe})
	node, err := queue.New(s, handlers(func(ctx context.Context, job *queue.Job) error {
		bySick.Add(1)
		if d.full.Load() {
			return fmt.Errorf("worker: store artifact: %w", syscall.ENOSPC)
		}
		return save(ctx, s, job, "w2")
	}), opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()

	d.full.Store(true)
	first := addEvidence(t, s, "first")
	await.Until(t, "the outage", func() bool { return node.Outage() != nil })
	job := jobs(t, s, first.RunID)[0]
	await.Until(t, "the job given back", func() bool {
		job = jobs(t, s, first.RunID)[0]
		return job.State == "queued"
	})
	if job.Attempt != 0 || job.ErrorCode != store.CodeOutage || !strings.HasPrefix(job.Error, "TMPDIR of worker w2 is full") {
		t.Errorf("given back as %+v", job)
	}
	if err := node.CheckOutage(t.Context()); err == nil || !strings.Contains(err.Error(), "0 B of 512 MB free") {
		t.Errorf("not ready: %v", err)
	}
	await.Until(t, "its word on the page for operators", func() bool {
		list, err := storetest.Now(t, s).ListNodes(t.Context())
		return err == nil && len(list) == 1 && list[0].ID == node.ID() && strings.HasPrefix(list[0].Says, "TMPDIR of worker w2 is full") && list[0].PID > 0
	})

	start(t, s, handlers(func(ctx context.Context, job *queue.Job) error {
		byHealthy.Add(1)
		return save(ctx, s, job, "w1")
	}), fast(redisURL))
	runs := []int64{first.RunID}
	for i := range 20 {
		runs = append(runs, addEvidence(t, s, fmt.Sprint("run-", i)).RunID)
	}
	for _, run := range runs {
		await.Until(t, "job done", inState(t, s, run, "done"))
		if job := jobs(t, s, run)[0]; job.Attempt != 1 {
			t.Errorf("run %d ended in attempt %d", run, job.Attempt)
		}
	}
	if bySick.Load() != 1 || byHealthy.Load() != int32(len(runs)) {
		t.Errorf("%d jobs began on the full disk and %d beside it", bySick.Load(), byHealthy.Load())
	}
	d.full.Store(false)
	await.Until(t, "the end of the outage", func() bool { return node.Outage() == nil })
	await.Until(t, "work of the worker that was sick", func() bool { // the other may be faster for a while
		e := addEvidence(t, s, fmt.Sprint("later-", bySick.Load(), byHealthy.Load()))
		await.Until(t, "job done", inState(t, s, e.RunID, "done"))
		return bySick.Load() > 1
	})
}

// A failure of unknown cause counts as an outage while a probe fails, and costs an attempt otherwise. A file that is
// refused is refused in an outage, too.
func TestProbesDecideOnUnknownFailures(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	s, redisURL := newStore(t)
	var d disk
	failing := errors.New("the reader ended before its task did")
	var final atomic.Bool
	opt := fast(redisURL)
	opt.Outages = outage.NewWatch("w2", outage.Probe{Try: d.probe})
	start(t, s, map[string]queue.Handler{store.JobSymbolise: nothing, store.JobAnalyse: nothing,
		store.JobRead: func(ctx context.Context, job *queue.Job) error {
			if final.Load() {
				return &queue.Error{Code: "unknown-format", Message: "x", Final: true}
			}
			return failing
		}}, opt)
	e := addEvidence(t, s, "healthy")
	await.Until(t, "a lost attempt", func() bool {
		job := jobs(t, s, e.RunID)[0]
		return job.State == "queued" && job.Attempt == 1 && job.ErrorCode == "internal"
	})
	d.full.Store(true)
	await.Until(t, "an attempt that does not count", func() bool {
		job := jobs(t, s, e.RunID)[0]
		return job.State == "queued" && job.Attempt == 1 && job.ErrorCode == store.CodeOutage
	})
	final.Store(true)
	d.full.Store(false)
	await.Until(t, "the refusal", inState(t, s, e.RunID, "failed"))
	if job := jobs(t, s, e.RunID)[0]; job.ErrorCode != "unknown-format" {
		t.Errorf("%+v", job)
	}
}

// A database whose disk is full takes no job back. The worker tries until it does, and the attempt does not count.
func TestOutageOfFullDatabaseCostsNoAttempt(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	s, conn := storetest.Open(t)
	sql := func(query string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	sql(`create sequence refused`)
	sql(`create function refuse() returns trigger language plpgsql as $$ begin
		perform nextval('refused'); raise 'could not extend file' using errcode = '53100'; end $$`)
	sql(`create trigger full_disk before update on jobs for each row when (new.error_code = 'outage')
		execute function refuse()`)
	var d disk
	opt := fast(brokers["miniredis"](t))
	opt.Outages = outage.NewWatch("w2", outage.Probe{Try: d.probe})
	start(t, s, map[string]queue.Handler{store.JobSymbolise: nothing, store.JobAnalyse: nothing,
		store.JobRead: func(context.Context, *queue.Job) error {
			d.full.Store(true)
			return fmt.Errorf("worker: store artifact: %w", syscall.ENOSPC)
		}}, opt)
	e := addEvidence(t, s, "first")
	await.Until(t, "a refusal of the database", func() bool {
		var called bool
		err := conn.QueryRow(t.Context(), `select is_called from refused`).Scan(&called)
		return err == nil && called
	})
	sql(`drop trigger full_disk on jobs`)
	await.Until(t, "the job given back", inState(t, s, e.RunID, "queued"))
	if job := jobs(t, s, e.RunID)[0]; job.Attempt != 0 || job.ErrorCode != store.CodeOutage {
		t.Errorf("given back as %+v", job)
	}
}

package queue

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"heapdrift/internal/await"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

// A record is a log that goroutines write and a test reads.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// count is how many lines of the log hold a text.
func (r *record) count(text string) int { return strings.Count(r.String(), text) }

// A bench is a node without a broker, with a database, and what it says.
type bench struct {
	*Node
	store *store.Store
	url   string
	exec  func(statement string, args ...any) error
	scan  func(query string, id int64, to ...any) error
	log   record
	ended []string // "kind outcome"
}

func newBench(t *testing.T, handlers map[string]Handler, opt Options) *bench {
	t.Helper()
	s, conn := storetest.Open(t)
	b := &bench{store: s, url: conn.Config().ConnString(), exec: func(statement string, args ...any) error {
		_, err := conn.Exec(t.Context(), statement, args...)
		return err
	}, scan: func(query string, id int64, to ...any) error {
		return conn.QueryRow(t.Context(), query, id).Scan(to...)
	}}
	opt.RedisURL, opt.Version = "redis://127.0.0.1:1", "1.2.3"
	opt.Log = slog.New(slog.NewTextHandler(&b.log, nil))
	opt.Ended = func(kind, outcome string, took time.Duration) {
		if took <= 0 || took > time.Minute {
			t.Errorf("%s took %s", kind, took)
		}
		b.ended = append(b.ended, kind+" "+outcome)
	}
	var err error
	if b.Node, err = New(b.store, handlers, opt); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(b.client.Close(), b.inspector.Close(), b.probe.Close()) })
	return b
}

// file adds a file to a run, and returns the job that is to read it.
func (b *bench) file(t *testing.T, run string) store.Job {
	t.Helper()
	e, err := b.store.CreateEvidence(t.Context(), leaks.UploadTarget{Project: "p", Build: "1", Scenario: "s", Run: run},
		store.Evidence{Name: "a.txt", SHA256: run, Bytes: 1, Kind: "umdh"})
	if err != nil {
		t.Fatal(err)
	}
	list, err := store.Read(t.Context(), b.store, func(v store.View) ([]store.Job, error) { return v.ListJobs(t.Context(), e.RunID) })
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	return list[0]
}

func (b *bench) claim(t *testing.T, job store.Job) store.Lease {
	t.Helper()
	lease, err := b.store.ClaimJob(t.Context(), job.ID, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// row is what the database has of a job: its state, attempt, code, and the version that failed it.
func (b *bench) row(t *testing.T, job int64) string {
	t.Helper()
	var state, code, by string
	var attempt int
	if err := b.scan(`select state, attempt, error_code, failed_by from jobs where id = $1`, job, &state, &attempt, &code, &by); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(fmt.Sprint(state, " ", attempt, " ", code, " ", by))
}

// A job's row says how its handler ended, Ended hears of it once, and the log complains of nothing that went well.
func TestOutcomeOfEachEnd(t *testing.T) {
	for _, test := range []struct {
		name    string
		err     error
		outcome string
		done    bool
		row     string
	}{
		{"done", nil, "done", true, "running 1"}, // the handler's own statement ends it
		{"ended elsewhere", fmt.Errorf("store: %w", store.ErrFenced), "passed on", false, "running 1"},
		{"shutdown", fmt.Errorf("read: %w", errShutdown), "given back", false, "queued 0"},
		{"refused", &Error{Code: "no-heap", Message: "there is no heap", Final: true}, "failed", false, "failed 1 no-heap 1.2.3"},
		{"again", &Error{Code: "memory-exceeded", Message: "too large"}, "failed", false, "queued 1 memory-exceeded 1.2.3"},
		{"internal", errors.New("a column"), "failed", false, "queued 1 internal 1.2.3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, map[string]Handler{store.JobRead: func(context.Context, *Job) error { return test.err }}, Options{})
			job := b.file(t, "r")
			if done := b.work(t.Context(), b.claim(t, job)); done != test.done {
				t.Errorf("done is %t", done)
			}
			if got := b.row(t, job.ID); got != test.row {
				t.Errorf("the row is %q, want %q", got, test.row)
			}
			if want := []string{"read " + test.outcome}; !slices.Equal(b.ended, want) {
				t.Errorf("it ended as %q, want %q", b.ended, want)
			}
			if n := b.log.count("the outcome could not be stored"); n != 0 {
				t.Errorf("it says that the outcome was not stored: %s", &b.log)
			}
			if b.Retired() != nil {
				t.Errorf("retired: %v", b.Retired())
			}
		})
	}
}

// Where a newer version has changed the database, a failure is not the job's fault, except where the handler says what
// is wrong with the evidence.
func TestOutcomeBesideANewerVersion(t *testing.T) {
	for _, test := range []struct {
		name    string
		err     error
		retires bool
		row     string
	}{
		{"a column that is new", errors.New("null value"), true, "queued 0"},
		{"refused evidence", &Error{Code: "no-heap", Message: "there is no heap", Final: true}, false, "failed 1 no-heap 1.2.3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b *bench
			b = newBench(t, map[string]Handler{store.JobRead: func(ctx context.Context, _ *Job) error {
				return errors.Join(test.err, storetest.ChangeSchema(ctx, b.url))
			}}, Options{})
			job := b.file(t, "r")
			if b.work(t.Context(), b.claim(t, job)) {
				t.Error("it counts as done")
			}
			if got := b.row(t, job.ID); got != test.row {
				t.Errorf("the row is %q, want %q", got, test.row)
			}
			if retired := b.Retired(); errors.Is(retired, store.ErrSchema) != test.retires || (retired != nil) != test.retires {
				t.Errorf("retired: %v", retired)
			}
		})
	}
}

// A node retires once, for the first reason, and tells its loops.
func TestRetiresOnce(t *testing.T) {
	b := newBench(t, nil, Options{})
	first := errors.New("the first reason")
	select {
	case <-b.leave:
		t.Fatal("it leaves before it retires")
	default:
	}
	b.retire(first)
	b.retire(errors.New("the second reason"))
	<-b.leave
	if !errors.Is(b.Retired(), first) || b.log.count("takes no more jobs") != 1 {
		t.Errorf("%v\n%s", b.Retired(), &b.log)
	}
}

// An outcome that the database does not take is logged, whichever it is; that of a job that ended elsewhere is not.
func TestOutcomeThatCannotBeStored(t *testing.T) {
	var b *bench
	b = newBench(t, map[string]Handler{store.JobRead: func(context.Context, *Job) error {
		b.store.Close()
		return errors.New("no database")
	}}, Options{})
	b.work(t.Context(), b.claim(t, b.file(t, "r")))
	if b.log.count("the outcome could not be stored") != 1 {
		t.Errorf("the log: %s", &b.log)
	}
	b = newBench(t, map[string]Handler{store.JobRead: func(ctx context.Context, job *Job) error {
		_, err := b.store.CancelRun(ctx, job.RunID, "somebody")
		return errors.Join(err, errors.New("stopped"))
	}}, Options{})
	b.work(t.Context(), b.claim(t, b.file(t, "r")))
	if b.log.count("the outcome could not be stored") != 0 || !slices.Equal(b.ended, []string{"read failed"}) {
		t.Errorf("%q, the log: %s", b.ended, &b.log)
	}
}

// What a handler's error becomes: why it was stopped says more than that it was, and a panic is an error that says where.
func TestErrorOfAHandler(t *testing.T) {
	stopped, own := errors.New("why it stopped"), errors.New("its own error")
	for _, test := range []struct {
		name    string
		cancel  error // of the context
		handler Handler
		want    error
		says    string
	}{
		{"none", nil, func(context.Context, *Job) error { return nil }, nil, ""},
		{"its own", nil, func(context.Context, *Job) error { return own }, own, ""},
		{"stopped", stopped, func(context.Context, *Job) error { return own }, stopped, ""},
		{"stopped after its work", stopped, func(context.Context, *Job) error { return nil }, nil, ""},
		{"fenced", stopped, func(context.Context, *Job) error { return store.ErrFenced }, store.ErrFenced, ""},
		{"panic", nil, func(context.Context, *Job) error { panic("at the disco") }, nil, "panicked: at the disco\n"},
		{"none known", nil, nil, nil, `no handler for jobs of kind "read"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, map[string]Handler{store.JobRead: test.handler}, Options{})
			ctx, cancel := context.WithCancelCause(t.Context())
			if test.cancel != nil {
				cancel(test.cancel)
			}
			defer cancel(nil)
			err := b.run(ctx, b.claim(t, b.file(t, "r")))
			switch {
			case test.says != "":
				if err == nil || !strings.Contains(err.Error(), test.says) {
					t.Errorf("%v, want %q", err, test.says)
				}
			case test.want == nil && err != nil, !errors.Is(err, test.want):
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
}

func task(job int64) *asynq.Task {
	return asynq.NewTask(taskType, binary.BigEndian.AppendUint64(nil, uint64(job)))
}

// A delivery counts as busy while its job runs, has the next jobs handed over behind it, and says nothing of a job that
// is not waiting any more.
func TestDelivery(t *testing.T) {
	var b *bench
	ran, busy, claimed := 0, int64(0), 0
	b = newBench(t, map[string]Handler{store.JobRead: func(context.Context, *Job) error {
		ran++
		busy = b.busy.Load()
		return errors.New("failed")
	}}, Options{})
	b.beforeClaim = func() { claimed++ }
	job := b.file(t, "r")
	kicked := func() bool {
		select {
		case <-b.kicked:
			return true
		default:
			return false
		}
	}
	for _, bad := range [][]byte{nil, make([]byte, 7), make([]byte, 9)} {
		if err := b.deliver(t.Context(), asynq.NewTask(taskType, bad)); err != nil || claimed != 0 {
			t.Errorf("%d bytes: %v, %d claims", len(bad), err, claimed)
		}
	}
	if b.log.count("task without a job number") != 3 {
		t.Errorf("the log: %s", &b.log)
	}
	if err := b.deliver(t.Context(), task(job.ID)); err != nil || ran != 1 || busy != 1 || b.busy.Load() != 0 || !kicked() {
		t.Errorf("%v, ran %d times, %d busy, then %d", err, ran, busy, b.busy.Load())
	}
	before := b.log.String()
	if err := b.exec(`update jobs set state = 'done'`); err != nil {
		t.Fatal(err)
	}
	if err := b.deliver(t.Context(), task(job.ID)); err != nil || ran != 1 || kicked() || b.log.String() != before {
		t.Errorf("delivered twice: %v, ran %d times\n%s", err, ran, strings.TrimPrefix(b.log.String(), before))
	}
	if err := storetest.ChangeSchema(t.Context(), b.url); err != nil {
		t.Fatal(err)
	}
	other := b.file(t, "other")
	if err := b.deliver(t.Context(), task(other.ID)); err != nil || !errors.Is(b.Retired(), store.ErrSchema) || ran != 1 {
		t.Errorf("%v, %v, ran %d times", err, b.Retired(), ran)
	}
	b.store.Close()
	if err := b.deliver(t.Context(), task(other.ID)); err != nil || b.log.count("cannot claim a job") != 1 {
		t.Errorf("%v\n%s", err, &b.log)
	}
	b.await(time.Minute) // no delivery is open
	if b.log.count("jobs do not stop") != 0 {
		t.Errorf("the log: %s", &b.log)
	}
}

// The lease is renewed while the handler works: two more of its times pass, and nobody takes the job back.
func TestLeaseIsKept(t *testing.T) {
	var b *bench
	b = newBench(t, map[string]Handler{store.JobRead: func(ctx context.Context, job *Job) error {
		if err := b.exec(`update jobs set lease_until = now() - interval '1 hour' where id = $1`, job.ID); err != nil {
			return err
		}
		await.Until(t, "a renewed lease", func() bool {
			var held bool
			err := b.scan(`select lease_until > now() from jobs where id = $1`, job.ID, &held)
			return err == nil && held
		})
		job.Progress(40, "reading")
		await.Until(t, "the progress", func() bool {
			var at string
			err := b.scan(`select percent || ' ' || stage from jobs where id = $1`, job.ID, &at)
			return err == nil && at == "40 reading"
		})
		return nil
	}}, Options{Lease: 2 * time.Second})
	job := b.file(t, "r")
	if !b.work(t.Context(), b.claim(t, job)) {
		t.Errorf("the log: %s", &b.log)
	}
	if b.log.count("another worker") != 0 {
		t.Errorf("it warns: %s", &b.log)
	}
}

// A heartbeat stops the handler of a job that has ended, warns once where another worker has the job too, and warns
// each time that the database does not answer.
func TestHeartbeat(t *testing.T) {
	t.Run("ended", func(t *testing.T) {
		b := newBench(t, nil, Options{Lease: 2 * time.Second})
		lease := b.claim(t, b.file(t, "r"))
		if err := b.exec(`update jobs set state = 'done'`); err != nil {
			t.Fatal(err)
		}
		var causes []error
		b.renew(t.Context(), lease, func(cause error) { causes = append(causes, cause) })
		if len(causes) != 1 || !errors.Is(causes[0], store.ErrFenced) || b.log.count("another worker") != 0 {
			t.Errorf("%v\n%s", causes, &b.log)
		}
	})
	// beats has a heart beat until enough is so, and returns how often the handler was stopped.
	beats := func(t *testing.T, b *bench, lease store.Lease, enough func() bool) (stopped int) {
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			defer close(over)
			b.renew(ctx, lease, func(error) { stopped++ })
		}()
		await.Until(t, "heartbeats", enough)
		cancel()
		<-over
		return stopped
	}
	t.Run("passed on", func(t *testing.T) {
		b := newBench(t, nil, Options{Lease: 400 * time.Millisecond})
		job := b.file(t, "r")
		lease := b.claim(t, job)
		if err := b.exec(`update jobs set state = 'queued'`); err != nil {
			t.Fatal(err)
		}
		b.claim(t, job)
		asked := func() (n int) {
			n = b.log.count("another worker has the job too")
			return n
		}
		since := time.Time{}
		if stopped := beats(t, b, lease, func() bool {
			if asked() > 0 && since.IsZero() {
				since = time.Now()
			}
			return !since.IsZero() && time.Since(since) > 300*time.Millisecond // three beats
		}); stopped != 0 || asked() != 1 {
			t.Errorf("stopped %d times, warned %d times", stopped, asked())
		}
	})
	t.Run("no answer", func(t *testing.T) {
		b := newBench(t, nil, Options{Lease: 40 * time.Millisecond})
		lease := b.claim(t, b.file(t, "r"))
		b.store.Close()
		if stopped := beats(t, b, lease, func() bool { return b.log.count("cannot renew a lease") >= 3 }); stopped != 0 ||
			b.log.count("another worker") != 0 {
			t.Errorf("stopped %d times\n%s", stopped, &b.log)
		}
	})
	t.Run("over", func(t *testing.T) { // a job that is over does not warn of a beat that was on its way
		b := newBench(t, nil, Options{Lease: 40 * time.Millisecond})
		lease := b.claim(t, b.file(t, "r"))
		b.store.Close()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		b.renew(ctx, lease, func(error) { t.Error("stopped") })
		progress := make(chan report, 1)
		progress <- report{1, "reading"}
		b.passProgress(ctx, lease, progress)
		if b.log.String() != "" {
			t.Errorf("it warns: %s", &b.log)
		}
	})
	t.Run("over while it beats", func(t *testing.T) {
		b := newBench(t, nil, Options{Lease: 4 * time.Second})
		lease := b.claim(t, b.file(t, "r"))
		if err := errors.Join(b.exec(`begin`), b.exec(`select from jobs for update`)); err != nil {
			t.Fatal(err)
		}
		beats(t, b, lease, func() bool {
			var waits bool
			err := b.scan(`select exists (select from pg_locks where not granted and $1 > 0)`, lease.ID, &waits)
			return err == nil && waits
		})
		if b.log.String() != "" {
			t.Errorf("it warns: %s", &b.log)
		}
		if err := b.exec(`rollback`); err != nil {
			t.Error(err)
		}
	})
}

// Progress that the database does not take is a warning, each time.
func TestProgressThatCannotBeStored(t *testing.T) {
	b := newBench(t, nil, Options{})
	lease := b.claim(t, b.file(t, "r"))
	b.store.Close()
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	progress := make(chan report)
	go func() {
		defer close(over)
		b.passProgress(ctx, lease, progress)
	}()
	progress <- report{1, "reading"}
	progress <- report{2, "reading"}
	await.Until(t, "two warnings", func() bool { return b.log.count("cannot store progress") == 2 })
	cancel()
	<-over
}

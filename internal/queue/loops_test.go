package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hibiken/asynq"

	"heapdrift/ingest/capture"
	"heapdrift/internal/await"
	"heapdrift/internal/embedded"
	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/internal/testdb"
)

// What is not set takes its default; what is set stays, however small.
func TestDefaultsOfOptions(t *testing.T) {
	want := Options{Concurrency: 2, Lease: 6 * time.Second, Poll: 200 * time.Millisecond, Resend: 5 * time.Second, Grace: 20 * time.Second}
	for _, given := range []Options{{}, {Concurrency: -1, Lease: -1, Poll: -1, Resend: -1, Grace: -1}} {
		got := given
		got.defaults()
		if got.Log == nil {
			t.Fatal("no log")
		}
		got.Log.Error("is discarded")
		if got.Concurrency != want.Concurrency || got.Lease != want.Lease || got.Poll != want.Poll || got.Resend != want.Resend || got.Grace != want.Grace {
			t.Errorf("%+v of %+v", got, given)
		}
	}
	log := slog.New(slog.DiscardHandler)
	given := Options{Concurrency: 1, Lease: 1, Poll: 1, Resend: 1, Grace: 1, Log: log}
	if given.defaults(); given.Concurrency != 1 || given.Lease != 1 || given.Poll != 1 || given.Resend != 1 || given.Grace != 1 ||
		given.Log != log {
		t.Errorf("%+v", given)
	}
}

// What a loop does is done again after a pause and after an error, until the node ends or retires.
func TestLoopGoesOn(t *testing.T) {
	for _, test := range []struct {
		end    string
		failed int // rounds of which the log tells
	}{{"ends", 3}, {"retires", 4}} { // at its end a node has nothing to complain of
		synctest.Test(t, func(t *testing.T) {
			var log record
			n := &Node{opt: Options{Log: slog.New(slog.NewTextHandler(&log, nil))}, leave: make(chan struct{})}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			rounds, begun := 0, time.Now()
			n.every(ctx, time.Second, "count", func(context.Context) error {
				switch rounds++; {
				case rounds == 4 && test.end == "ends":
					cancel()
				case rounds == 4:
					n.retire(errors.New("newer"))
				case rounds > 4:
					t.Fatal("it goes on")
				}
				return errors.New("failed")
			})
			if rounds != 4 || log.count("will try again") != test.failed || time.Since(begun) != 3*time.Second {
				t.Errorf("%s: %d rounds in %s\n%s", test.end, rounds, time.Since(begun), &log)
			}
		})
	}
}

// A shutdown waits for deliveries that run, and says so where they outlast its patience.
func TestWaitForDeliveries(t *testing.T) {
	for _, test := range []struct {
		ends time.Duration
		says bool
	}{{0, false}, {time.Second, false}, {3 * time.Second, true}} {
		synctest.Test(t, func(t *testing.T) {
			var log record
			n := &Node{opt: Options{Log: slog.New(slog.NewTextHandler(&log, nil))}}
			n.running.Add(1)
			time.AfterFunc(test.ends, n.running.Done)
			begun := time.Now()
			n.await(2 * time.Second)
			if took := time.Since(begun); took != min(test.ends, 2*time.Second) || log.count("jobs do not stop") != map[bool]int{true: 1}[test.says] {
				t.Errorf("ends after %s: waited %s\n%s", test.ends, took, &log)
			}
			time.Sleep(test.ends) //nolint:forbidigo // of the bubble: the delivery ends before the test
		})
	}
}

// One kick waits, however often there is a reason.
func TestKick(t *testing.T) {
	n := &Node{kicked: make(chan struct{}, 1)}
	n.kick()
	n.kick()
	if <-n.kicked; len(n.kicked) != 0 {
		t.Error("it is kicked twice")
	}
}

// What the broker's client says is logged at its level; what it calls fatal is an error.
func TestBrokerSays(t *testing.T) {
	var log record
	l := asynqLog{slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	l.Debug("de", "bug")
	l.Info("info")
	l.Warn("warn")
	l.Error("error")
	l.Fatal("fatal")
	for _, want := range []string{"DEBUG says=debug", "INFO says=info", "WARN says=warn", "ERROR says=error", "ERROR says=fatal"} {
		level, says, _ := strings.Cut(want, " ")
		if !slices.ContainsFunc(strings.Split(log.String(), "\n"), func(line string) bool {
			return strings.Contains(line, "level="+level+" ") && strings.HasSuffix(line, says)
		}) {
			t.Errorf("nothing like %q in\n%s", want, &log)
		}
	}
}

// Progress of a job goes where the node wants it.
func TestProgressOfAJob(t *testing.T) {
	heard := ""
	j := &Job{progress: func(percent int, stage string) { heard = fmt.Sprint(percent, " ", stage) }}
	if j.Progress(7, "reading"); heard != "7 reading" {
		t.Errorf("%q", heard)
	}
}

// How many jobs may wait at the broker is read again after a while, and not before.
func TestSlotsAreReadAgain(t *testing.T) {
	n := brokerOnly(t)
	n.slots, n.slotsAt = DispatchLimit{Light: 10, Heavy: 10}, time.Now()
	if got := n.room(); got != (DispatchLimit{Light: 20, Heavy: 20}) {
		t.Errorf("%+v: read too early", got)
	}
	n.slotsAt = time.Now().Add(-slotsTime - time.Millisecond)
	if got := n.room(); got != (DispatchLimit{Light: 4, Heavy: 2}) || time.Since(n.slotsAt) > time.Minute {
		t.Errorf("%+v, as of %s: not read again", got, n.slotsAt)
	}
}

// A task that has ended at the broker does not keep its job from being handed over under the same name.
func TestTaskThatHasEnded(t *testing.T) {
	n := brokerOnly(t)
	server := asynq.NewServer(n.redis, asynq.Config{Concurrency: 1, Queues: map[string]int{lightQueue: 1}, LogLevel: asynq.FatalLevel})
	if err := server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error { return errors.New("failed") })); err != nil {
		t.Fatal(err)
	}
	if err := n.hand(t.Context(), store.DueJob{ID: 7}); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the end of the task", func() bool {
		info, err := n.inspector.GetTaskInfo(lightQueue, "job-7-0")
		return err == nil && info.State == asynq.TaskStateArchived
	})
	server.Shutdown()
	if err := n.hand(t.Context(), store.DueJob{ID: 7}); err != nil {
		t.Fatal(err)
	}
	if got, want := waiting(t, n), []string{"light job-7-0"}; !slices.Equal(got, want) {
		t.Errorf("%q wait, want %q", got, want)
	}
}

// A probe is gone after a while: it is not what fills a broker.
func TestProbeOfTheBroker(t *testing.T) {
	n := brokerOnly(t)
	if err := n.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, err := n.probe.TTL(t.Context(), probeKey).Result(); err != nil || left <= 0 || left > time.Minute {
		t.Errorf("it stays for %s, %v", left, err)
	}
	n.retire(errors.New("newer"))
	if n.Ping(t.Context()) == nil {
		t.Error("a node that takes no more jobs is well")
	}
}

// A node says how many jobs it can run and runs, why it takes none, and once what its searches found.
func TestNodeSaysHowItIs(t *testing.T) {
	b := newBench(t, map[string]Handler{}, Options{Concurrency: 3, Role: "work"})
	b.Searched("symbols.example", "found")
	b.Searched("symbols.example", "found")
	b.Searched("symbols.example", "not-found")
	b.busy.Store(2)
	for range 2 {
		if err := b.announce(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	node := func() store.NodeRecord {
		list, err := storetest.Now(t, b.store).ListNodes(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		return list[0]
	}
	if n := node(); n.Running != 2 || n.Slots != 4 || n.Says != "" || n.Host == "" || n.Host == "unknown" {
		t.Errorf("%+v", n)
	}
	answers := map[string]int64{}
	list, err := storetest.Now(t, b.store).ListSymbolSources(t.Context())
	for _, a := range list {
		answers[a.Place+" "+a.Result] = a.Count
	}
	if err != nil || len(answers) != 2 || answers["symbols.example found"] != 2 || answers["symbols.example not-found"] != 1 {
		t.Errorf("%v, %v", answers, err)
	}
	b.retire(errors.New("a newer version has the database"))
	if err := b.announce(t.Context()); err != nil || node().Says != "a newer version has the database" {
		t.Errorf("%+v, %v", node(), err)
	}
	b.announceEnd(t.Context())
	if list, err := storetest.Now(t, b.store).ListNodes(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// Jobs that were taken back from lost workers are a line of the log; none are no line.
func TestReapSaysWhatItTook(t *testing.T) {
	b := newBench(t, nil, Options{})
	job := b.file(t, "r")
	b.claim(t, job)
	if err := b.reap(t.Context()); err != nil || b.log.String() != "" {
		t.Errorf("%v\n%s", err, &b.log)
	}
	if err := b.exec(`update jobs set lease_until = now() - interval '1 second'`); err != nil {
		t.Fatal(err)
	}
	if err := b.reap(t.Context()); err != nil || b.log.count("jobs=1") != 1 || b.row(t, job.ID) != "queued 1 worker-lost" {
		t.Errorf("%v, %s\n%s", err, b.row(t, job.ID), &b.log)
	}
}

// onBroker is a store with one file of a size, and the address of a broker.
func onBroker(t *testing.T, bytes int64) (s *store.Store, broker *embedded.Redis, run int64) {
	t.Helper()
	broker, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Stop)
	if s, err = store.Open(t.Context(), testdb.New(t)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	e, err := s.CreateEvidence(t.Context(), leaks.UploadTarget{Project: "p", Build: "1", Scenario: "s", Run: "r"},
		store.Evidence{Name: "a.etl", SHA256: "r", Bytes: bytes, Kind: "etl"})
	if err != nil {
		t.Fatal(err)
	}
	return s, broker, e.RunID
}

// begin has a node run, and returns what ends it.
func begin(t *testing.T, n *Node) (end func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// A heavy run, too, needs one delivery: the slot for heavy jobs goes on with what follows.
func TestHeavyRunNeedsOneDelivery(t *testing.T) {
	s, broker, run := onBroker(t, 1<<30)
	named := make(chan struct{})
	n, err := New(s, map[string]Handler{
		store.JobRead: func(ctx context.Context, job *Job) error {
			broker.Stop()
			c := &capture.Capture{Kind: capture.KindUMDHSnapshot, Snapshots: make([]capture.Snapshot, 1)}
			return s.CreateCaptures(ctx, job.Lease, []store.StoredCapture{{Capture: c, ArtifactKey: "a"}})
		},
		store.JobSymbolise: func(_ context.Context, job *Job) error {
			if job.RunID == run {
				close(named)
			}
			return store.ErrFenced
		},
	}, Options{RedisURL: "redis://" + broker.Addr(), Poll: 50 * time.Millisecond, Lease: time.Minute, Grace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	end := begin(t, n)
	select {
	case <-named:
	case <-time.After(30 * time.Second):
		t.Error("nobody goes on")
	}
	if err := end(); err != nil {
		t.Log(err) // the broker is gone
	}
}

// A job that outlasts the grace of a shutdown is stopped and given back before Run returns.
func TestShutdownGivesJobsBack(t *testing.T) {
	s, broker, run := onBroker(t, 1)
	begun := make(chan struct{})
	var why atomic.Value
	n, err := New(s, map[string]Handler{store.JobRead: func(ctx context.Context, _ *Job) error {
		close(begun)
		<-ctx.Done()
		why.Store(context.Cause(ctx))
		return ctx.Err()
	}}, Options{RedisURL: "redis://" + broker.Addr(), Poll: 50 * time.Millisecond, Lease: time.Minute, Grace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	end := begin(t, n)
	<-begun
	if err := end(); err != nil {
		t.Error(err)
	}
	list, err := storetest.Now(t, s).ListJobs(t.Context(), run)
	if err != nil || len(list) != 1 || list[0].State != "queued" || list[0].Attempt != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if cause, _ := why.Load().(error); !errors.Is(cause, errShutdown) {
		t.Errorf("it was stopped for %v", cause)
	}
}

// A node that retires hands no job over and takes none, and runs until it is stopped.
func TestRetiredNodeTakesNothing(t *testing.T) {
	s, broker, run := onBroker(t, 1)
	n, err := New(s, map[string]Handler{store.JobRead: func(context.Context, *Job) error {
		t.Error("it takes a job")
		return nil
	}}, Options{RedisURL: "redis://" + broker.Addr(), Poll: time.Millisecond, Lease: time.Minute, Grace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	n.retire(errors.New("a newer version"))
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		if err := n.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	await.Until(t, "the node in the list", func() bool {
		list, err := storetest.Now(t, s).ListNodes(t.Context())
		return err == nil && len(list) == 1 && list[0].Says == "a newer version"
	})
	select {
	case <-ended:
		t.Error("it ends by itself")
	default:
	}
	cancel()
	<-ended
	list, err := storetest.Now(t, s).ListJobs(t.Context(), run)
	if err != nil || len(list) != 1 || list[0].State != "queued" {
		t.Errorf("%+v, %v", list, err)
	}
}

package queue_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/internal/await"
	"heapdrift/internal/embedded"
	"heapdrift/internal/leaks"
	"heapdrift/internal/needs"
	"heapdrift/internal/queue"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
	"heapdrift/internal/testdb"
)

func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) != "" {
		childWorker()
		return
	}
	testdb.Main(m, store.Migrate)
}

// brokers are the brokers for all tests: the one inside the process, and a real server if one is installed.
var brokers = map[string]func(*testing.T) string{
	"miniredis": func(t *testing.T) string {
		r, err := embedded.StartRedis()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Stop)
		return "redis://" + r.Addr()
	},
	"redis-server": func(t *testing.T) string {
		binary := needs.Program(t, "redis-server")
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(l.Addr().String())
		_ = l.Close()
		server := exec.Command(binary, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly",
			"no", "--dir", t.TempDir())
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
		await.Until(t, "an answer of redis-server", func() bool {
			c, err := net.Dial("tcp", "127.0.0.1:"+port)
			if err == nil {
				_ = c.Close()
			}
			return err == nil
		})
		return "redis://127.0.0.1:" + port
	},
}

func onBrokers(t *testing.T, test func(t *testing.T, s *store.Store, databaseURL, redisURL string)) {
	for name, start := range brokers {
		t.Run(name, func(t *testing.T) {
			redisURL := start(t)
			url := testdb.New(t)
			s, err := store.Open(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			test(t, s, url, redisURL)
		})
	}
}

// fast are options by which lost workers and lost messages are noticed soon.
func fast(redisURL string) queue.Options {
	return queue.Options{RedisURL: redisURL, Concurrency: 2, Lease: 1500 * time.Millisecond, Poll: 50 * time.Millisecond,
		Resend: time.Second, Grace: time.Second}
}

// start runs a node until the test ends or stop is called.
func start(t *testing.T, s *store.Store, handlers map[string]queue.Handler, opt queue.Options) (stop func()) {
	t.Helper()
	node, err := queue.New(s, handlers, opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	var stopped atomic.Bool
	stop = func() {
		if stopped.Swap(true) {
			return
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return stop
}

func addEvidence(t *testing.T, s *store.Store, run string) store.Evidence {
	t.Helper()
	e, err := s.CreateEvidence(t.Context(), leaks.UploadTarget{Project: "p", Build: "1", Scenario: "s", Run: run},
		store.Evidence{Name: "a.txt", SHA256: run, Bytes: 1, Kind: "umdh"})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func jobs(t *testing.T, s *store.Store, run int64) []store.Job {
	t.Helper()
	list, err := storetest.Now(t, s).ListJobs(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func inState(t *testing.T, s *store.Store, run int64, state string) func() bool {
	return func() bool { return jobs(t, s, run)[0].State == state }
}

// save stores a capture that names its worker, as the read job does.
func save(ctx context.Context, s *store.Store, job *queue.Job, by string) error {
	c := &capture.Capture{Kind: capture.KindUMDHSnapshot, Process: capture.Process{Name: by},
		Snapshots: make([]capture.Snapshot, 1)}
	return s.CreateCaptures(ctx, job.Lease, []store.StoredCapture{{Capture: c, ArtifactKey: by}})
}

// nothing handles the jobs that follow a read.
func nothing(context.Context, *queue.Job) error { return nil }

func TestJobsRunOnceEach(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	onBrokers(t, func(t *testing.T, s *store.Store, _, redisURL string) {
		var ran atomic.Int32
		handlers := map[string]queue.Handler{store.JobSymbolise: nothing, store.JobAnalyse: nothing,
			store.JobRead: func(ctx context.Context, job *queue.Job) error {
				ran.Add(1)
				job.Progress(50, "halfway")
				return save(ctx, s, job, "once")
			}}
		for range 2 { // two workers compete
			start(t, s, handlers, fast(redisURL))
		}
		var evidence []store.Evidence
		for i := range 40 {
			evidence = append(evidence, addEvidence(t, s, fmt.Sprint("run-", i)))
		}
		for _, e := range evidence {
			await.Until(t, "job done", inState(t, s, e.RunID, "done"))
			if in, _ := storetest.Now(t, s).FindAnalysisInput(t.Context(), e.RunID); len(in.Captures) != 1 {
				t.Errorf("run %d has %d captures", e.RunID, len(in.Captures))
			}
		}
		if ran.Load() != 40 {
			t.Errorf("40 jobs ran %d times", ran.Load())
		}
	})
}

// workerEnv makes this test binary a worker that hangs at a point: "database redis point". A point is "taken", before
// it claims its first job, or a kind of job. It does the jobs of other kinds.
const workerEnv = "HEAPDRIFT_TEST_WORKER"

// childWorker works, reports that it has come to its point, and hangs until it is killed.
func childWorker() {
	var databaseURL, redisURL, point string
	if _, err := fmt.Sscan(os.Getenv(workerEnv), &databaseURL, &redisURL, &point); err != nil {
		panic(err)
	}
	s, err := store.Open(context.Background(), databaseURL)
	if err != nil {
		panic(err)
	}
	handlers := working(s, func(*queue.Job) {})
	handlers[point] = func(ctx context.Context, job *queue.Job) error {
		fmt.Println(point, job.ID)
		<-ctx.Done()
		return ctx.Err()
	}
	node, err := queue.New(s, handlers, fast(redisURL))
	if err != nil {
		panic(err)
	}
	if point == "taken" {
		queue.BeforeClaim(node, func() {
			fmt.Println("taken")
			select {}
		})
	}
	_ = node.Run(context.Background())
}

// startChild starts a worker in a process of its own and waits until it has come to its point.
func startChild(t *testing.T, databaseURL, redisURL, point string) *exec.Cmd {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^$")
	child.Env = append(os.Environ(), workerEnv+"="+databaseURL+" "+redisURL+" "+point)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, point) {
		t.Fatalf("the child said %q, %v", line, err)
	}
	return child
}

func TestKilledWorkerLosesNoJob(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	onBrokers(t, func(t *testing.T, s *store.Store, databaseURL, redisURL string) {
		e := addEvidence(t, s, "killed")
		for kill := 1; kill <= 2; kill++ {
			child := startChild(t, databaseURL, redisURL, store.JobRead)
			if err := child.Process.Kill(); err != nil { // SIGKILL, in the middle of the job
				t.Fatal(err)
			}
			_ = child.Wait() // killed
			if job := jobs(t, s, e.RunID)[0]; job.State != "running" || job.Attempt != kill {
				t.Fatalf("after kill %d: %+v", kill, job)
			}
		}
		var ran atomic.Int32
		start(t, s, map[string]queue.Handler{store.JobSymbolise: nothing, store.JobAnalyse: nothing,
			store.JobRead: func(ctx context.Context, job *queue.Job) error {
				ran.Add(1)
				return save(ctx, s, job, "survivor")
			}}, fast(redisURL))
		await.Until(t, "job done by the survivor", inState(t, s, e.RunID, "done"))
		time.Sleep(2 * time.Second) //nolint:forbidigo // a second delivery would come now: that none does shows in no other way
		in, err := storetest.Now(t, s).FindAnalysisInput(t.Context(), e.RunID)
		if err != nil || len(in.Captures) != 1 || in.Captures[0].ArtifactKey != "survivor" ||
			in.Revision != 1 || ran.Load() != 1 {
			t.Errorf("%+v, ran %d times, %v: the result must be stored once", in, ran.Load(), err)
		}
		if job := jobs(t, s, e.RunID)[0]; job.Attempt != 3 {
			t.Errorf("attempt %d, want 3", job.Attempt)
		}
	})
}

// If a lease passes on to another worker, the first result counts, whichever worker brings it, and the other worker is
// stopped.
func TestFirstResultCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for _, winner := range []int{1, 2} {
		t.Run(fmt.Sprint("attempt ", winner), func(t *testing.T) {
			onBrokers(t, func(t *testing.T, s *store.Store, _, redisURL string) {
				e := addEvidence(t, s, "slow")
				running, late := make(chan store.Lease, 10), make(chan error, 10)
				both := make(chan struct{})
				start(t, s, map[string]queue.Handler{store.JobSymbolise: nothing, store.JobAnalyse: nothing,
					store.JobRead: func(ctx context.Context, job *queue.Job) error {
						running <- job.Lease
						<-both
						if job.Attempt == winner {
							return save(ctx, s, job, "winner")
						}
						<-ctx.Done() // until the heartbeat finds that the job has ended
						err := save(context.WithoutCancel(ctx), s, job, "late")
						late <- err
						return err
					}}, fast(redisURL))
				first := <-running
				await.Until(t, "a second worker", func() bool {
					if jobs(t, s, e.RunID)[0].Attempt == 1 {
						if _, err := s.RenewLease(t.Context(), first, -time.Hour); err != nil {
							t.Fatal(err)
						}
						if _, err := s.ReapJobs(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
					select {
					case <-running:
						return true
					default:
						return false
					}
				})
				close(both)
				if err := <-late; !errors.Is(err, store.ErrFenced) {
					t.Errorf("the later result: %v", err)
				}
				await.Until(t, "the end", inState(t, s, e.RunID, "done"))
				if in, _ := storetest.Now(t, s).FindAnalysisInput(t.Context(), e.RunID); len(in.Captures) != 1 ||
					in.Captures[0].ArtifactKey != "winner" {
					t.Errorf("stored %+v", in)
				}
			})
		})
	}
}

// A worker that stops for longer than its lease keeps its job if no other worker has taken the job.
func TestLeaseThatRanOutIsTakenBack(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	onBrokers(t, func(t *testing.T, s *store.Store, _, redisURL string) {
		e := addEvidence(t, s, "still")
		running, release := make(chan store.Lease, 10), make(chan struct{})
		opt := fast(redisURL)
		opt.Concurrency = 1 // nobody else can take it
		start(t, s, map[string]queue.Handler{store.JobSymbolise: nothing, store.JobAnalyse: nothing,
			store.JobRead: func(ctx context.Context, job *queue.Job) error {
				running <- job.Lease
				<-release
				return save(ctx, s, job, "only")
			}}, opt)
		lease := <-running
		if _, err := s.RenewLease(t.Context(), lease, -time.Hour); err != nil {
			t.Fatal(err)
		}
		if _, err := s.ReapJobs(t.Context()); err != nil {
			t.Fatal(err)
		}
		await.Until(t, "the lease taken back", inState(t, s, e.RunID, "running"))
		close(release)
		await.Until(t, "the end", inState(t, s, e.RunID, "done"))
		if job := jobs(t, s, e.RunID)[0]; job.Attempt != 1 || len(running) > 0 {
			t.Errorf("%+v", job)
		}
	})
}

// A worker that dies between taking a task and claiming its job leaves the task, with the job's id, at the broker.
func TestKilledBeforeItClaims(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	onBrokers(t, func(t *testing.T, s *store.Store, databaseURL, redisURL string) {
		e := addEvidence(t, s, "taken")
		for range 2 {
			child := startChild(t, databaseURL, redisURL, "taken")
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = child.Wait() // killed
			if job := jobs(t, s, e.RunID)[0]; job.State != "queued" || job.Attempt != 0 {
				t.Fatalf("%+v: a job that nobody has claimed", job)
			}
		}
		start(t, s, map[string]queue.Handler{store.JobSymbolise: nothing, store.JobAnalyse: nothing,
			store.JobRead: func(ctx context.Context, job *queue.Job) error {
				return save(ctx, s, job, "survivor")
			}}, fast(redisURL))
		await.Until(t, "job done by the survivor", inState(t, s, e.RunID, "done"))
		if job := jobs(t, s, e.RunID)[0]; job.Attempt != 1 {
			t.Errorf("%+v", job)
		}
	})
}

// A node runs one heavy job at a time, and light jobs beside it.
func TestHeavyJobsWaitForEachOther(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	onBrokers(t, func(t *testing.T, s *store.Store, _, redisURL string) {
		var heavy, most atomic.Int32
		lightDone := make(chan struct{})
		start(t, s, map[string]queue.Handler{store.JobSymbolise: nothing, store.JobAnalyse: nothing,
			store.JobRead: func(ctx context.Context, job *queue.Job) error {
				if *job.EvidenceID == 4 {
					close(lightDone)
					return save(ctx, s, job, "light")
				}
				if n := heavy.Add(1); n > most.Load() {
					most.Store(n)
				}
				defer heavy.Add(-1)
				<-lightDone // it cannot end before the light one has run
				return save(ctx, s, job, "heavy")
			}}, fast(redisURL))
		var runs []int64
		for i := range 4 {
			to := leaks.UploadTarget{Project: "p", Build: "1", Scenario: "s", Run: fmt.Sprint(i)}
			added, err := s.CreateEvidence(t.Context(), to,
				store.Evidence{Name: "a.etl", SHA256: to.Run, Bytes: []int64{1 << 30, 1 << 30, 1 << 30, 1}[i], Kind: "etl"})
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, added.RunID)
		}
		for _, run := range runs {
			await.Until(t, "job done", inState(t, s, run, "done"))
		}
		if most.Load() != 1 {
			t.Errorf("%d heavy jobs ran at once", most.Load())
		}
	})
}

// A worker takes no more jobs, and fails none, once a newer version has changed the schema of its database.
func TestNewerSchemaRetiresWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	onBrokers(t, func(t *testing.T, s *store.Store, databaseURL, redisURL string) {
		node, err := queue.New(s, map[string]queue.Handler{store.JobRead: func(ctx context.Context, job *queue.Job) error {
			if err := storetest.ChangeSchema(ctx, databaseURL); err != nil {
				return err
			}
			return errors.New("null value in a column that is new")
		}}, fast(redisURL))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- node.Run(ctx) }()
		e := addEvidence(t, s, "first")
		await.Until(t, "retirement", func() bool { return node.Retired() != nil })
		later := addEvidence(t, s, "later")
		await.Until(t, "the job given back", inState(t, s, e.RunID, "queued"))
		if !errors.Is(node.Retired(), store.ErrSchema) || jobs(t, s, e.RunID)[0].Attempt != 0 ||
			jobs(t, s, later.RunID)[0].State != "queued" {
			t.Errorf("%v, %+v", node.Retired(), jobs(t, s, e.RunID))
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		// A worker that starts now does not claim either.
		if _, err := s.ClaimJob(t.Context(), jobs(t, s, later.RunID)[0].ID, time.Minute); !errors.Is(err, store.ErrSchema) {
			t.Errorf("claimed: %v", err)
		}
	})
}

// Even if the broker loses everything, all jobs are handed over again.
func TestLostBrokerDelaysOnly(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	_, url := "", testdb.New(t)
	s, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	first, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	e := addEvidence(t, s, "lost")
	stop := start(t, s, nil, fast("redis://"+first.Addr())) // hands over, runs nothing
	await.Until(t, "handed over", func() bool {
		due, err := s.DispatchAllJobs(t.Context(), time.Hour)
		return err == nil && len(due) == 0
	})
	stop()
	first.Stop()
	second, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(second.Stop)
	start(t, s, map[string]queue.Handler{store.JobSymbolise: nothing, store.JobAnalyse: nothing,
		store.JobRead: func(ctx context.Context, job *queue.Job) error {
			return save(ctx, s, job, "late")
		}}, fast("redis://"+second.Addr()))
	await.Until(t, "job done through the second broker", inState(t, s, e.RunID, "done"))
}

func TestFailuresReachTheEvidence(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	onBrokers(t, func(t *testing.T, s *store.Store, _, redisURL string) {
		final, panics := addEvidence(t, s, "final"), addEvidence(t, s, "panics")
		start(t, s, map[string]queue.Handler{store.JobSymbolise: nothing, store.JobAnalyse: nothing,
			store.JobRead: func(ctx context.Context, job *queue.Job) error {
				switch {
				case *job.EvidenceID == final.ID:
					return fmt.Errorf("reading: %w", &queue.Error{Code: "unknown-format", Message: "not evidence", Final: true})
				case job.Attempt == 1:
					panic("a bug")
				}
				return save(ctx, s, job, "second attempt")
			}}, fast(redisURL))
		await.Until(t, "final failure", inState(t, s, final.RunID, "failed"))
		e, err := storetest.Now(t, s).FindEvidence(t.Context(), final.ID)
		if err != nil || e.ErrorCode != "unknown-format" || e.Error != "not evidence" {
			t.Errorf("%+v, %v", e, err)
		}
		await.Until(t, "the job that panicked once", inState(t, s, panics.RunID, "done"))
	})
}

// A shutdown gives running jobs back and does not count them as failures.
func TestShutdownGivesJobsBack(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	onBrokers(t, func(t *testing.T, s *store.Store, _, redisURL string) {
		e := addEvidence(t, s, "shutdown")
		running := make(chan struct{})
		stop := start(t, s, map[string]queue.Handler{store.JobRead: func(ctx context.Context, _ *queue.Job) error {
			close(running)
			<-ctx.Done()
			return ctx.Err()
		}}, fast(redisURL))
		<-running
		stop()
		if job := jobs(t, s, e.RunID)[0]; job.State != "queued" || job.Attempt != 0 {
			t.Errorf("after shutdown: %+v", job)
		}
	})
}

func TestProgressIsStored(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	onBrokers(t, func(t *testing.T, s *store.Store, _, redisURL string) {
		e := addEvidence(t, s, "progress")
		release := make(chan struct{})
		start(t, s, map[string]queue.Handler{store.JobSymbolise: nothing, store.JobAnalyse: nothing,
			store.JobRead: func(ctx context.Context, job *queue.Job) error {
				for i := range 1000 {
					job.Progress(i/20, "reading")
				}
				<-release
				return save(ctx, s, job, "x")
			}}, fast(redisURL))
		await.Until(t, "progress", func() bool {
			job := jobs(t, s, e.RunID)[0]
			return job.Percent > 0 && job.Stage == "reading"
		})
		close(release)
		await.Until(t, "done", inState(t, s, e.RunID, "done"))
	})
}

func TestStoppedBeforeItStarts(t *testing.T) {
	if testing.Short() {
		t.Skip("it is large")
	}
	onBrokers(t, func(t *testing.T, s *store.Store, _, redisURL string) {
		node, err := queue.New(s, map[string]queue.Handler{}, queue.Options{RedisURL: redisURL, FreshBroker: true})
		if err != nil {
			t.Fatal(err)
		}
		stopped, stop := context.WithCancel(t.Context())
		stop()
		if err := node.Run(stopped); err != nil {
			t.Error(err)
		}
	})
}

package queue_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"heapdrift/internal/analysis"
	"heapdrift/internal/await"
	"heapdrift/internal/embedded"
	"heapdrift/internal/queue"
	"heapdrift/internal/store"
	"heapdrift/internal/testdb"
)

// working are handlers of all kinds that store their results. They call begun first.
func working(s *store.Store, begun func(*queue.Job)) map[string]queue.Handler {
	return map[string]queue.Handler{
		store.JobRead: func(ctx context.Context, job *queue.Job) error {
			begun(job)
			return save(ctx, s, job, "read")
		},
		store.JobSymbolise: func(ctx context.Context, job *queue.Job) error {
			begun(job)
			naming, err := s.BeginSymbolSearch(ctx, job.RunID)
			if err != nil {
				return err
			}
			return s.UpdateNames(ctx, job.Lease, naming, "names")
		},
		store.JobAnalyse: func(ctx context.Context, job *queue.Job) error {
			begun(job)
			in, err := store.Read(ctx, s, func(v store.View) (store.AnalysisInput, error) { return v.FindAnalysisInput(ctx, job.RunID) })
			if err != nil {
				return err
			}
			return s.UpdateResult(ctx, job.Lease, store.Result{Report: &analysis.Report{}, ReportKey: "report", Revision: in.Revision})
		},
	}
}

// A diary has which jobs began.
type diary struct {
	mu   sync.Mutex
	jobs []string
}

func (d *diary) begun(job *queue.Job) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.jobs = append(d.jobs, fmt.Sprint(job.Kind, " ", job.Attempt))
}

func (d *diary) has() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.jobs)
}

func analysed(t *testing.T, s *store.Store, run int64) func() bool {
	t.Helper()
	return func() bool {
		list := jobs(t, s, run)
		last := list[len(list)-1]
		return last.Kind == store.JobAnalyse && last.State == "done"
	}
}

// The worker that has read a run's evidence goes on to its report; the broker is not needed for that.
func TestFirstPassNeedsOneDelivery(t *testing.T) {
	broker, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), testdb.New(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	var d diary
	e := addEvidence(t, s, "alone")
	var once sync.Once
	start(t, s, working(s, func(job *queue.Job) {
		once.Do(broker.Stop)
		d.begun(job)
	}), fast("redis://"+broker.Addr()))
	await.Until(t, "the report", analysed(t, s, e.RunID))
	if want := []string{"read 1", "symbolise 1", "analyse 1"}; !slices.Equal(d.has(), want) {
		t.Errorf("%v, want %v", d.has(), want)
	}
	run, err := store.Read(t.Context(), s, func(v store.View) (store.Run, error) { return v.FindRun(t.Context(), e.RunID) })
	if err != nil || run.ReportKey != "report" || run.PendingJobs != 0 {
		t.Errorf("%+v, %v", run, err)
	}
}

// A worker that is killed at any step loses nothing. What was done before is not done again.
func TestKilledAtEachStep(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for point, want := range map[string][]string{
		store.JobRead:      {"read 2", "symbolise 1", "analyse 1"},
		store.JobSymbolise: {"symbolise 2", "analyse 1"},
		store.JobAnalyse:   {"analyse 2"},
	} {
		t.Run(point, func(t *testing.T) {
			onBrokers(t, func(t *testing.T, s *store.Store, databaseURL, redisURL string) {
				e := addEvidence(t, s, "killed")
				child := startChild(t, databaseURL, redisURL, point)
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				_ = child.Wait() // killed
				var d diary
				start(t, s, working(s, d.begun), fast(redisURL))
				await.Until(t, "the report", analysed(t, s, e.RunID))
				if !slices.Equal(d.has(), want) {
					t.Errorf("%v, want %v", d.has(), want)
				}
				if list := jobs(t, s, e.RunID); len(list) != 3 {
					t.Errorf("%d jobs: %+v", len(list), list)
				}
			})
		})
	}
}

// A worker that is asked to stop ends the job that it does and leaves what follows to others.
func TestStopEndsAfterTheJob(t *testing.T) {
	broker, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Stop)
	s, err := store.Open(t.Context(), testdb.New(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	e := addEvidence(t, s, "stopped")
	reading, goOn := make(chan struct{}), make(chan struct{})
	handlers := working(s, func(job *queue.Job) {
		if job.Kind != store.JobRead {
			t.Errorf("it goes on with %s", job.Kind)
			return
		}
		close(reading)
		<-goOn
	})
	opt := fast("redis://" + broker.Addr())
	opt.Grace = time.Minute
	node, err := queue.New(s, handlers, opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	<-reading
	stop()
	await.Until(t, "the stop", func() bool { return queue.Stopping(node) })
	close(goOn)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	list := jobs(t, s, e.RunID)
	if len(list) != 2 || list[0].State != "done" || list[1].State != "queued" || list[1].Attempt != 0 {
		t.Errorf("%+v", list)
	}
}

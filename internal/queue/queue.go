// Package queue runs jobs. In come rows of the jobs table and a Handler for each kind; out go their results. The table
// is the truth and the outbox; the broker (Redis, through asynq) carries job numbers only. A job may start more than
// once, after a crash say, but its result is stored exactly once: the store takes it only from the holder of the job's
// lease. A worker that has ended a job continues with the next one of the same run where the store allows it, so that
// the broker carries a run once.
package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"heapdrift/internal/outage"
	"heapdrift/internal/store"
	"heapdrift/internal/tracing"
)

// taskType is the only type of task: what is to be done stands in the job's row.
const taskType = "job"

// asynqTimeout is far beyond any job's time: the lease, not the broker, ends a job that hangs.
const asynqTimeout = 24 * time.Hour

// Options tune a node. Zero durations take the defaults.
type Options struct {
	RedisURL    string        // redis://[:password@]host:port/db
	Concurrency int           // light jobs at once on this node; 2 by default. One heavy job may run beside them
	Lease       time.Duration // how long a job stays with a worker that does not renew its lease; 6 s
	Poll        time.Duration // how often due jobs are looked for; 200 ms
	Resend      time.Duration // after which time a job that has not started is handed to the broker again; 5 s
	Grace       time.Duration // how long a shutdown waits for running jobs; 20 s
	// FreshBroker says that the broker belongs to this process and starts empty: all queued jobs are handed to it
	// again.
	FreshBroker bool
	// Ended is called when a job has ended on this node, with the outcome "done", "failed", "given back" or "passed
	// on"; nil for no call.
	Ended func(kind, outcome string, took time.Duration)
	// Role is what this node's process is called by operators: serve, work, up.
	Role string
	// Version is the version of this program, stored with the jobs that fail.
	Version string
	// Tracer begins a span for each attempt of a job; nil for none.
	Tracer *tracing.Tracer
	// Outages watches what the handlers need; nil for nothing.
	Outages *outage.Watch
	Log     *slog.Logger
}

func (o *Options) defaults() {
	for _, d := range []struct {
		value    *time.Duration
		fallback time.Duration
	}{{&o.Lease, 6 * time.Second}, {&o.Poll, 200 * time.Millisecond}, {&o.Resend, 5 * time.Second},
		{&o.Grace, 20 * time.Second}} {
		if *d.value <= 0 {
			*d.value = d.fallback
		}
	}
	if o.Concurrency <= 0 {
		o.Concurrency = 2
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// An Error is the reason that a handler gives for a failed job. A job that fails with any other error is tried again.
type Error struct {
	Code    string // stable, shown to users
	Message string
	Final   bool   // another attempt would fail in the same way
	Cause   string // for operators; "" where Message says all
}

func (e *Error) Error() string { return e.Message }

// A Job is a claimed job, for its handler.
type Job struct {
	store.Lease
	progress func(percent int, stage string)
}

// Progress tells pages how far the job is: percent of the whole job, and the name of the stage. It may be called often;
// the store is told a few times a second.
func (j *Job) Progress(percent int, stage string) { j.progress(percent, stage) }

// A Handler does a job and stores its result through the lease. It must return soon after ctx is done.
type Handler func(ctx context.Context, job *Job) error

// A Node hands due jobs to the broker and, when it has handlers, runs jobs.
type Node struct {
	opt      Options
	store    *store.Store
	redis    asynq.RedisConnOpt
	client   *asynq.Client
	handlers map[string]Handler // by kind; nil for a node that only hands over
	running  sync.WaitGroup     // deliveries

	host      string // of this machine
	presence  *presence
	seats     map[string]chan struct{} // of jobs that run here, by the queue of the broker
	busy      atomic.Int64             // jobs that run here
	stopping  atomic.Bool              // what runs comes to its end, and nothing follows it
	inspector *asynq.Inspector
	probe     redis.UniversalClient
	kicked    chan struct{} // one, when there may be room with the broker
	retired   atomic.Pointer[error]
	leave     chan struct{} // closed when retired is set

	slots       DispatchLimit // of all workers, as of
	slotsAt     time.Time     // this time; of dispatch alone
	beforeClaim func()        // tests stop here
}

// DispatchLimit is how many jobs of each class are handed to the broker at once.
type DispatchLimit = store.DispatchLimit

// New makes a node. Run starts it.
func New(s *store.Store, handlers map[string]Handler, opt Options) (*Node, error) {
	opt.defaults()
	broker, err := asynq.ParseRedisURI(opt.RedisURL)
	if err != nil {
		return nil, fmt.Errorf("queue: Redis URL: %w", err)
	}
	probe, ok := broker.MakeRedisClient().(redis.UniversalClient)
	if !ok {
		return nil, errNoRedis
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	if opt.Outages == nil {
		opt.Outages = outage.NewWatch(host)
	}
	return &Node{
		host: host,
		seats: map[string]chan struct{}{
			lightQueue: make(chan struct{}, opt.Concurrency), heavyQueue: make(chan struct{}, 1),
		},
		opt: opt, store: s, redis: broker, client: asynq.NewClient(broker), handlers: handlers, probe: probe,
		presence:  newPresence(),
		inspector: asynq.NewInspector(broker), kicked: make(chan struct{}, 1), leave: make(chan struct{}),
	}, nil
}

// probeKey is written by Ping, and gone soon after.
const probeKey = "heapdrift:probe"

// Ping returns an error unless the broker stores what is written: one that is full, or a replica, answers and stores
// nothing. It also returns one if the node takes no more jobs.
func (n *Node) Ping(ctx context.Context) error {
	if err := n.probe.Set(ctx, probeKey, 1, time.Minute).Err(); err != nil {
		return fmt.Errorf("queue: Redis takes no writes: %w", err)
	}
	return n.Retired()
}

// Run works until ctx is done, then waits for running jobs and gives back those that do not end in time.
func (n *Node) Run(ctx context.Context) error {
	if n.opt.FreshBroker {
		if err := n.store.ResetDispatch(ctx); err != nil && ctx.Err() == nil { // a node that is stopped at once has nothing to say
			return err
		}
	}
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	var crews crews
	var loops sync.WaitGroup
	if n.handlers != nil {
		n.opt.Outages.Look(ctx) // before the first job is taken
		loops.Go(func() { n.opt.Outages.Run(ctx) })
		loops.Go(func() { n.heed(ctx, work, &crews) })
	}
	loops.Go(func() { n.announceLoop(ctx) })
	loops.Go(func() { n.every(ctx, n.opt.Poll, "hand jobs over", n.dispatch) })
	loops.Go(func() { n.every(ctx, n.opt.Lease/beats, "take lost jobs back", n.reap) })
	<-ctx.Done()
	n.stopping.Store(true)
	loops.Wait()
	if n.handlers != nil {
		timer := time.AfterFunc(n.opt.Grace-n.opt.Grace/10, func() { stop(errShutdown) })
		crews.end()
		crews.await(n.opt.Grace)
		timer.Stop()
		n.await(giveBackTime)
	}
	if err := errors.Join(n.client.Close(), n.inspector.Close(), n.probe.Close()); err != nil {
		return fmt.Errorf("queue: stop: %w", err)
	}
	return nil
}

// giveBackTime is how long a shutdown waits, behind its grace, for jobs that were stopped to be given back.
const giveBackTime = 10 * time.Second

// await waits until no job is running, or for the time.
func (n *Node) await(limit time.Duration) {
	ended := make(chan struct{})
	go func() {
		n.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(limit):
		n.opt.Log.Error("queue: jobs do not stop; their leases will run out")
	}
}

// every calls f again and again. A failure is logged and tried again: database and broker come back.
func (n *Node) every(ctx context.Context, pause time.Duration, what string, f func(context.Context) error) {
	for {
		if err := f(ctx); err != nil && ctx.Err() == nil {
			n.opt.Log.Error("queue: will try again", "to", what, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-n.leave:
			return
		case <-time.After(pause):
		}
	}
}

func (n *Node) reap(ctx context.Context) error {
	count, err := n.store.ReapJobs(ctx)
	if count > 0 {
		n.opt.Log.Warn("queue: took jobs back from lost workers", "jobs", count)
	}
	return err
}

// asynqLog passes the broker's complaints on.
type asynqLog struct{ log *slog.Logger }

// Debug implements asynq.Logger.
func (l asynqLog) Debug(args ...any) { l.write(slog.LevelDebug, args) }

// Info implements asynq.Logger.
func (l asynqLog) Info(args ...any) { l.write(slog.LevelInfo, args) }

// Warn implements asynq.Logger.
func (l asynqLog) Warn(args ...any) { l.write(slog.LevelWarn, args) }

// Error implements asynq.Logger.
func (l asynqLog) Error(args ...any) { l.write(slog.LevelError, args) }

// Fatal implements asynq.Logger; what runs jobs decides for itself when to end.
func (l asynqLog) Fatal(args ...any) { l.write(slog.LevelError, args) }

func (l asynqLog) write(level slog.Level, args []any) {
	l.log.Log(context.Background(), level, "queue: broker", "says", fmt.Sprint(args...))
}

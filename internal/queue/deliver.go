package queue

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"

	"heapdrift/internal/store"
	"heapdrift/internal/tracing"
)

// errShutdown ends jobs that outlast the grace of a shutdown.
var errShutdown = errors.New("queue: this worker shuts down")

// progressInterval is how often progress goes to the store at most.
const progressInterval = 250 * time.Millisecond

// deliver runs a job and those that follow it for the same run, as long as the store lets this worker go on with them.
// It returns nil whatever happens, because the database and not the broker keeps the state of jobs.
func (n *Node) deliver(ctx context.Context, task *asynq.Task) error {
	n.running.Add(1)
	defer n.running.Done()
	if len(task.Payload()) != 8 {
		n.opt.Log.Error("queue: task without a job number", "payload", task.Payload())
		return nil
	}
	id := int64(binary.BigEndian.Uint64(task.Payload()))
	if n.beforeClaim != nil {
		n.beforeClaim()
	}
	queue, _ := asynq.GetQueueName(ctx)
	leave, ok := n.takeSeat(ctx, queue)
	if !ok {
		return nil // it came just before this worker stopped: it is handed over again
	}
	defer leave()
	lease, err := n.store.ClaimJob(ctx, id, n.opt.Lease)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil // a second delivery
	case errors.Is(err, store.ErrSchema):
		n.retire(err)
		return nil // another worker gets it
	case err != nil:
		n.opt.Log.Error("queue: cannot claim a job", "job", id, "error", err) // it is handed over again
		return nil
	}
	n.busy.Add(1)
	defer n.busy.Add(-1)
	defer n.kick()
	for n.work(ctx, lease) {
		if n.stopping.Load() || n.Retired() != nil || n.Outage() != nil {
			return nil // other workers go on
		}
		next, err := n.store.ClaimNext(ctx, lease, queue == heavyQueue, n.opt.Lease)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			n.opt.Log.Error("queue: cannot claim the next job of the run", "run", lease.RunID, "error", err) // it is handed over
			return nil
		}
		lease = next
	}
	return nil
}

// work does a claimed job and reports whether it is done.
func (n *Node) work(ctx context.Context, lease store.Lease) (done bool) {
	log := n.opt.Log.With("job", lease.ID, "kind", lease.Kind, "run", lease.RunID, "attempt", lease.Attempt)
	start := time.Now()
	ctx, endSpan := n.opt.Tracer.BeginJob(ctx, tracing.Job{ID: lease.ID, Run: lease.RunID, Evidence: lease.EvidenceID,
		Kind: lease.Kind, Attempt: lease.Attempt, Parent: lease.TraceParent})
	err := n.run(ctx, lease)
	after := context.WithoutCancel(ctx)
	outcome, code := "failed", ""
	switch {
	case err == nil:
		outcome, done = "done", true
		log.Info("queue: job done", "took", time.Since(start).Round(time.Millisecond))
	case errors.Is(err, store.ErrFenced):
		outcome = "passed on"
		log.Warn("queue: the job has ended already", "error", err)
		err = nil
	case errors.Is(err, errShutdown):
		outcome = "given back"
		log.Info("queue: job given back for shutdown")
		err = n.store.ReleaseJob(after, lease)
	case n.retireIfOutdated(after, err):
		outcome = "given back"
		log.Warn("queue: job left to a newer version", "error", err)
		err = n.store.ReleaseJob(after, lease)
	default:
		f := n.failure(err, lease)
		if out := n.outageOf(after, err, f); out != nil {
			outcome, code = "outage", f.Code
			log.Error("queue: job given back for an outage", "outage", out.Sentence, "error", err)
			f.Message, f.Cause = out.Sentence, err.Error()
			err = n.release(ctx, lease, f)
			break
		}
		log.Error("queue: job failed", "error", err)
		code = f.Code
		if err = n.store.FailJob(after, lease, f); errors.Is(err, store.ErrFenced) {
			err = nil
		}
	}
	endSpan(outcome, code)
	if n.opt.Ended != nil {
		n.opt.Ended(lease.Kind, outcome, time.Since(start))
	}
	if err != nil {
		log.Error("queue: the outcome could not be stored; the lease will run out", "error", err)
	}
	return done
}

// failure is what the job's row says of an error. The text of an error that is not meant for users goes to operators,
// who find it by the number of the job.
func (n *Node) failure(err error, l store.Lease) store.Failure {
	f := store.Failure{Version: n.opt.Version, Worker: n.host, PID: os.Getpid()}
	var known *Error
	if errors.As(err, &known) {
		f.Code, f.Message, f.Final, f.Cause = known.Code, known.Message, known.Final, known.Cause
		return f
	}
	f.Code, f.Cause = "internal", err.Error()
	f.Message = fmt.Sprintf("Internal error in worker %s (PID %d). Retry, or send this ID to your administrator: job-%d",
		f.Worker, f.PID, l.ID)
	return f
}

// run calls the handler while keeping the lease alive.
func (n *Node) run(ctx context.Context, lease store.Lease) (err error) {
	handler := n.handlers[lease.Kind]
	if handler == nil {
		return &Error{Code: "internal",
			Message: fmt.Sprintf("no handler for jobs of kind %q; is an older version running?", lease.Kind)}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	progress := make(chan report, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n.watchJob(ctx, lease, progress, cancel)
	}()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("queue: job %d panicked: %v\n%s", lease.ID, p, debug.Stack())
		}
		if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, store.ErrFenced) {
			err = cause // why the handler was stopped says more than that it was
		}
		cancel(nil)
		<-ended
	}()
	var last atomic.Value // stage
	return handler(ctx, &Job{Lease: lease, progress: func(percent int, stage string) {
		if n.opt.Tracer != nil && last.Swap(stage) != any(stage) {
			tracing.Stage(ctx, stage)
		}
		select { // only the latest counts
		case <-progress:
		default:
		}
		select {
		case progress <- report{percent, stage}:
		default:
		}
	}})
}

type report struct {
	percent int
	stage   string
}

// watchJob renews the lease and passes progress on until ctx is done. A job that has ended elsewhere is cancelled.
func (n *Node) watchJob(ctx context.Context, lease store.Lease, progress <-chan report,
	cancel context.CancelCauseFunc) {
	var both sync.WaitGroup
	both.Go(func() { n.renew(ctx, lease, cancel) })
	both.Go(func() { n.passProgress(ctx, lease, progress) })
	both.Wait()
}

// beats is how many heartbeats come in the time of a lease: some may be late.
const beats = 4

func (n *Node) renew(ctx context.Context, lease store.Lease, cancel context.CancelCauseFunc) {
	beat := time.NewTicker(n.opt.Lease / beats)
	defer beat.Stop()
	told := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
		}
		passed, err := n.renewOnce(ctx, lease)
		switch {
		case errors.Is(err, store.ErrFenced):
			cancel(store.ErrFenced)
			return
		case err != nil && ctx.Err() == nil:
			n.opt.Log.Warn("queue: cannot renew a lease", "job", lease.ID, "error", err)
		case passed && !told:
			told = true
			n.opt.Log.Warn("queue: another worker has the job too; the first result counts", "job", lease.ID)
		}
	}
}

// renewOnce does not wait for longer than the lease lasts: the next attempt may find a database that answers.
func (n *Node) renewOnce(ctx context.Context, lease store.Lease) (passed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, n.opt.Lease)
	defer cancel()
	return n.store.RenewLease(ctx, lease, n.opt.Lease)
}

// passProgress passes progress on, a few times a second.
func (n *Node) passProgress(ctx context.Context, lease store.Lease, progress <-chan report) {
	for {
		select {
		case <-ctx.Done():
			return
		case p := <-progress:
			if err := n.store.UpdateProgress(ctx, lease, p.percent, p.stage); err != nil && ctx.Err() == nil {
				n.opt.Log.Warn("queue: cannot store progress", "job", lease.ID, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(progressInterval):
		}
	}
}

package queue

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/hibiken/asynq"

	"heapdrift/internal/store"
)

// The queues of the broker. A worker has slots for light jobs and one for a heavy one, so that what is small never
// waits for what is large. What waits in a queue keeps its place: the order is the database's.
const (
	lightQueue = "light"
	heavyQueue = "heavy"
	oldQueue   = "default" // of versions before there were two
)

// slotsTime is how long the known number of slots of all workers is used before it is read again.
const slotsTime = 2 * time.Second

// room is how many jobs may wait at the broker: twice what runs at once, so that no slot waits for this loop.
func (n *Node) room() DispatchLimit {
	if time.Since(n.slotsAt) > slotsTime {
		n.slots, n.slotsAt = DispatchLimit{}, time.Now()
		servers, err := n.inspector.Servers()
		if err != nil {
			servers = nil // the broker is away; handing over says so
		}
		for _, s := range servers {
			if s.Queues[lightQueue] > 0 {
				n.slots.Light += s.Concurrency
			}
			if s.Queues[heavyQueue] > 0 {
				n.slots.Heavy += s.Concurrency
			}
		}
	}
	return DispatchLimit{Light: max(2*n.slots.Light, 4), Heavy: max(2*n.slots.Heavy, 2)}
}

// dispatch hands due jobs to the broker, and again when a job has ended here: the next may go then.
func (n *Node) dispatch(ctx context.Context) error {
	for {
		due, err := n.store.DispatchJobs(ctx, n.opt.Resend, n.room())
		if err != nil {
			return err
		}
		for _, job := range due {
			if err := n.hand(ctx, job); err != nil {
				return fmt.Errorf("queue: hand job %d over: %w", job.ID, err) // sent again after the resend interval
			}
		}
		select {
		case <-n.kicked:
		case <-ctx.Done():
			return nil
		case <-n.leave:
			return nil
		case <-time.After(n.opt.Poll):
			return nil
		}
	}
}

// kick has the next jobs handed over now.
func (n *Node) kick() {
	select {
	case n.kicked <- struct{}{}:
	default:
	}
}

// hand hands a job to the broker, unless it waits there under the same attempt. A task of that id which does not wait
// was left by a worker that died before it claimed the job; the job is handed over under another id then. A job that
// comes twice does no harm, because it is claimed once.
func (n *Node) hand(ctx context.Context, job store.DueJob) error {
	queue := lightQueue
	if job.Heavy {
		queue = heavyQueue
	}
	id := "job-" + strconv.FormatInt(job.ID, 10) + "-" + strconv.Itoa(job.Attempt)
	enqueue := func(id string) error {
		_, err := n.client.EnqueueContext(ctx, asynq.NewTask(taskType, binary.BigEndian.AppendUint64(nil, uint64(job.ID))),
			asynq.Queue(queue), asynq.TaskID(id), asynq.MaxRetry(0), asynq.Timeout(asynqTimeout))
		return err //nolint:wrapcheck // named by who calls
	}
	err := enqueue(id)
	if !errors.Is(err, asynq.ErrTaskIDConflict) {
		return err
	}
	switch info, err := n.inspector.GetTaskInfo(queue, id); {
	case err != nil: // it went between the two calls
	case info.State == asynq.TaskStatePending:
		return nil
	case info.State != asynq.TaskStateActive:
		if err := n.inspector.DeleteTask(queue, id); err == nil {
			return enqueue(id)
		}
	}
	return enqueue(id + "-" + strconv.FormatUint(rand.Uint64(), 36))
}

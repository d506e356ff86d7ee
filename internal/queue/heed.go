package queue

import (
	"context"
	"errors"
	"time"

	"heapdrift/internal/outage"
	"heapdrift/internal/store"
)

// Outage is the outage for which the node takes no jobs; nil while it takes some.
func (n *Node) Outage() *outage.Outage {
	if n.handlers == nil {
		return nil
	}
	out, _ := n.opt.Outages.Current()
	return out
}

// CheckOutage is Outage as an error, for those who ask whether the worker is ready.
func (n *Node) CheckOutage(context.Context) error {
	if out := n.Outage(); out != nil {
		return out
	}
	return nil
}

// heed stops the servers while there is an outage, and for good when the node retires.
func (n *Node) heed(ctx, work context.Context, c *crews) {
	var said string
	for {
		out, changed := n.opt.Outages.Current()
		switch {
		case out != nil:
			c.end()
			said = out.Sentence
			n.opt.Log.Error("queue: takes no jobs", "outage", out)
		default:
			if err := c.begin(n, work); err != nil {
				n.opt.Log.Error("queue: will try again", "to", "take jobs", "error", err)
				changed = closedLater(ctx, n.opt.Poll)
			} else if said != "" {
				n.opt.Log.Info("queue: takes jobs again", "outage", said)
				said = ""
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-n.leave:
			c.end()
			return
		case <-changed:
		}
	}
}

// closedLater is a channel that is closed after a time, or with ctx.
func closedLater(ctx context.Context, pause time.Duration) <-chan struct{} {
	ctx, cancel := context.WithTimeout(ctx, pause)
	context.AfterFunc(ctx, cancel)
	return ctx.Done()
}

// outageOf is the outage that a job has met; nil where the job, its file or this program is at fault. A failure that is
// final says what is wrong with the file.
func (n *Node) outageOf(ctx context.Context, err error, f store.Failure) *outage.Outage {
	if f.Final {
		return nil
	}
	return n.opt.Outages.Report(ctx, err)
}

// How long an attempt to give a job back takes at most, and the pause before the next.
const (
	releaseTime  = 5 * time.Second
	releasePause = time.Second
)

// release gives a job back that an outage has stopped. The database may be what is away or full: then it is tried until
// the worker stops, because a lease that runs out costs an attempt.
func (n *Node) release(ctx context.Context, l store.Lease, f store.Failure) error {
	for {
		err := n.releaseOnce(ctx, l, f)
		if err == nil || !store.IsUnavailable(err) && !store.IsDiskFull(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, context.Cause(ctx))
		case <-time.After(releasePause):
		}
	}
}

func (n *Node) releaseOnce(ctx context.Context, l store.Lease, f store.Failure) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	return n.store.ReleaseForOutage(ctx, l, f)
}

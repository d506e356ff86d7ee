package queue

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hibiken/asynq"
)

// crews are the broker's servers that take jobs for a node. A server that has stopped cannot start again: behind an
// outage new ones begin, while jobs of the old ones may run on.
type crews struct {
	mu      sync.Mutex
	working []*asynq.Server
	ending  sync.WaitGroup
}

// begin starts servers, unless some take jobs.
func (c *crews) begin(n *Node, work context.Context) error { //nolint:revive // the context is of the jobs, not of the call
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.working) > 0 {
		return nil
	}
	for _, s := range []struct {
		slots  int
		queues map[string]int
	}{{n.opt.Concurrency, map[string]int{lightQueue: 3, oldQueue: 1}}, {1, map[string]int{heavyQueue: 1}}} {
		server := asynq.NewServer(n.redis, asynq.Config{
			Concurrency: s.slots, Queues: s.queues, TaskCheckInterval: n.opt.Poll, LogLevel: asynq.ErrorLevel,
			Logger: asynqLog{n.opt.Log},
			// Jobs end by themselves, or by their context: the broker is not to give them up.
			ShutdownTimeout: asynqTimeout, BaseContext: func() context.Context { return work },
		})
		if err := server.Start(asynq.HandlerFunc(n.deliver)); err != nil {
			c.endLocked()
			return fmt.Errorf("queue: start: %w", err)
		}
		c.working = append(c.working, server)
	}
	return nil
}

// end has the servers take no more jobs. What runs goes on.
func (c *crews) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endLocked()
}

func (c *crews) endLocked() {
	for _, server := range c.working {
		c.ending.Go(server.Shutdown)
	}
	c.working = nil
}

// await waits until the jobs of all servers have ended, or for the time.
func (c *crews) await(limit time.Duration) {
	ended := make(chan struct{})
	go func() {
		c.ending.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(limit):
	}
}

// takeSeat waits until a job may run here: behind an outage, jobs of servers that have stopped still hold seats. It
// reports false where the node takes no jobs any more.
func (n *Node) takeSeat(ctx context.Context, queue string) (leave func(), ok bool) {
	seats := n.seats[queue]
	if seats == nil {
		seats = n.seats[lightQueue] // queues of older versions
	}
	select {
	case seats <- struct{}{}:
	case <-ctx.Done():
		return nil, false
	}
	leave = func() { <-seats }
	if n.Outage() != nil || n.stopping.Load() {
		leave()
		return nil, false
	}
	return leave, true
}

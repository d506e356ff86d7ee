package queue

import (
	"context"
	"testing"

	"heapdrift/internal/outage"
)

// A job takes a seat of its queue, or of the light one where the queue is of an older version. A node that is to stop,
// or that met an outage, gives the seat back at once.
func TestSeats(t *testing.T) {
	away := outage.NewWatch("w1", outage.Probe{Try: func(context.Context) *outage.Outage { return &outage.Outage{} }})
	if away.Report(t.Context(), context.DeadlineExceeded) == nil {
		t.Fatal("no outage was met")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for name, test := range map[string]struct {
		queue    string
		full     bool // no seat is free, and the context has ended
		stopping bool
		away     bool
		ok       bool
	}{
		"light": {queue: lightQueue, ok: true}, "heavy": {queue: heavyQueue, ok: true}, "an older queue": {queue: oldQueue, ok: true},
		"light, full": {queue: lightQueue, full: true}, "heavy, full": {queue: heavyQueue, full: true},
		"an older queue, full": {queue: oldQueue, full: true},
		"stopping":             {queue: heavyQueue, stopping: true}, "an outage": {queue: lightQueue, away: true},
	} {
		n := &Node{handlers: map[string]Handler{}, seats: map[string]chan struct{}{lightQueue: make(chan struct{}, 1), heavyQueue: make(chan struct{}, 1)}}
		n.opt.Outages = outage.NewWatch("w1")
		if test.away {
			n.opt.Outages = away
		}
		n.stopping.Store(test.stopping)
		seats := n.seats[lightQueue]
		if test.queue == heavyQueue {
			seats = n.seats[heavyQueue]
		}
		ctx := t.Context()
		if test.full {
			seats <- struct{}{}
			ctx = ended
		}
		leave, ok := n.takeSeat(ctx, test.queue)
		if ok != test.ok || (leave != nil) != ok || (len(seats) == 1) != (ok || test.full) {
			t.Errorf("%s: a seat is taken: %t, and %d are", name, ok, len(seats))
		}
		if ok {
			if leave(); len(seats) != 0 {
				t.Errorf("%s: the seat is not given back", name)
			}
		}
	}
}

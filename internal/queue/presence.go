package queue

import (
	"context"
	"crypto/rand"
	"os"
	"sync"
	"time"

	"heapdrift/internal/store"
)

// announceInterval is how often a node says that it is there.
const announceInterval = 5 * time.Second

// A presence says of a node that it is there, and what its searches for symbols were answered.
type presence struct {
	id string

	mu      sync.Mutex
	answers map[[2]string]int64 // by place and result, since the last time
}

// ID is what the node is called in the database.
func (n *Node) ID() string { return n.presence.id }

// Searched counts a search for a symbol file by the place that was asked and its result, for the page of operators.
func (n *Node) Searched(place, result string) {
	n.presence.mu.Lock()
	defer n.presence.mu.Unlock()
	n.presence.answers[[2]string{place, result}]++
}

func newPresence() *presence {
	return &presence{id: rand.Text(), answers: map[[2]string]int64{}}
}

// announce tells the database of this node.
func (n *Node) announce(ctx context.Context) error {
	self := store.Node{ID: n.presence.id, Role: n.opt.Role, Host: n.host, PID: os.Getpid(), Version: n.opt.Version,
		SchemaVersion: store.KnownSchema(), Running: int(n.busy.Load())}
	if n.handlers != nil {
		self.Slots = n.opt.Concurrency + 1
	}
	if why := n.Retired(); why != nil {
		self.Says = why.Error()
	} else if out := n.Outage(); out != nil {
		self.Says = out.Error()
	}
	if err := n.store.UpdateNode(ctx, self); err != nil {
		return err
	}
	n.presence.mu.Lock()
	answers := n.presence.answers
	n.presence.answers = map[[2]string]int64{}
	n.presence.mu.Unlock()
	list := make([]store.SymbolSourceAnswer, 0, len(answers))
	for at, count := range answers {
		list = append(list, store.SymbolSourceAnswer{Place: at[0], Result: at[1], Count: count})
	}
	return n.store.UpdateSymbolSources(ctx, list)
}

// announceLoop says so until ctx is done, also while the node takes no more jobs, and then that it ends.
func (n *Node) announceLoop(ctx context.Context) {
	for {
		_, changed := n.opt.Outages.Current()
		if err := n.announce(ctx); err != nil && ctx.Err() == nil {
			n.opt.Log.Warn("queue: cannot say that this node is there", "error", err)
		}
		select {
		case <-ctx.Done():
			n.announceEnd(context.WithoutCancel(ctx))
			return
		case <-changed: // operators hear of an outage at once
		case <-time.After(announceInterval):
		}
	}
}

// announceEnd says that the node ends.
func (n *Node) announceEnd(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_ = n.store.DeleteNode(ctx, n.presence.id) // it is forgotten after an hour anyway
}

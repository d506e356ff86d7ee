// Package watch tells the streams of the pages and of the API which run has changed.
//
// In come the notifications of the store, on one connection for the whole process. Out goes a signal to everybody who
// watches the run: it says that something changed, and the watcher reads from the store what it is.
package watch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"heapdrift/internal/store"
)

// A Hub signals which runs change: one connection to the database listens for the whole process. While it is broken
// there are no signals, and watchers must look for themselves.
type Hub struct {
	store *store.Store
	log   *slog.Logger

	mu       sync.Mutex
	watchers map[int64]map[chan struct{}]bool // by run
}

// New makes a hub; Run lets it listen.
func New(s *store.Store, log *slog.Logger) *Hub {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Hub{store: s, log: log, watchers: map[int64]map[chan struct{}]bool{}}
}

const (
	listenPause    = time.Second
	maxListenPause = 30 * time.Second
)

// Run listens until ctx is done. A connection that breaks is made again after a pause that grows up to half a minute.
func (h *Hub) Run(ctx context.Context) {
	pause := listenPause
	for {
		start := time.Now()
		err := h.store.Subscribe(ctx, h.notify)
		if ctx.Err() != nil {
			return
		}
		if time.Since(start) > maxListenPause {
			pause = listenPause
		}
		h.log.Warn("watch: not listening for changes; streams look for themselves", "error", err, "again_in", pause)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, maxListenPause)
	}
}

// Watch signals changes of a run's jobs until stop is called. Changes that come faster than they are received are one
// signal.
func (h *Hub) Watch(run int64) (changed <-chan struct{}, stop func()) {
	if h == nil {
		return nil, func() {}
	}
	c := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers[run] == nil {
		h.watchers[run] = map[chan struct{}]bool{}
	}
	h.watchers[run][c] = true
	return c, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watchers[run], c)
		if len(h.watchers[run]) == 0 {
			delete(h.watchers, run)
		}
	}
}

func (h *Hub) notify(run int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.watchers[run] {
		select {
		case c <- struct{}{}:
		default: // it has not received the change before yet
		}
	}
}

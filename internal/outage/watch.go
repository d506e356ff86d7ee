package outage

import (
	"context"
	"sync"
	"time"
)

// How often a worker looks, and how long it pauses between trials.
const (
	lookEvery    = 2 * time.Second
	firstPause   = time.Second // doubles up to longestPause
	longestPause = 30 * time.Second
)

// A Watch knows whether a worker may take jobs. It is safe for concurrent use.
type Watch struct {
	worker string
	probes []Probe
	tried  chan struct{} // one, when an outage was reported

	mu      sync.Mutex
	current *Outage
	changed chan struct{} // closed, and made anew, when current begins or ends
}

// NewWatch makes a watch of the worker of that name. Run starts it.
func NewWatch(worker string, probes ...Probe) *Watch {
	return &Watch{worker: worker, probes: probes, tried: make(chan struct{}, 1), changed: make(chan struct{})}
}

// Current is the outage for which the worker takes no jobs, nil where it takes some, and a channel that is closed when
// that changes.
func (w *Watch) Current() (*Outage, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.current, w.changed
}

// Report is told why a job failed, and returns the outage that was met: what a probe finds, or what the error is about.
// From then on the worker takes no jobs. It returns nil where the error is one of the job.
func (w *Watch) Report(ctx context.Context, err error) *Outage {
	part := Of(err)
	found := w.try(ctx)
	if found == nil {
		if part == None {
			return nil
		}
		found = met(part, w.worker, err)
	}
	w.set(found)
	select {
	case w.tried <- struct{}{}:
	default:
	}
	return found
}

func (w *Watch) set(o *Outage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.setLocked(o)
}

// replace is set unless the outage is another than former by now: then it reports false.
func (w *Watch) replace(former, o *Outage) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.current != former {
		return false
	}
	w.setLocked(o)
	return true
}

func (w *Watch) setLocked(o *Outage) {
	if (w.current == nil) != (o == nil) {
		close(w.changed)
		w.changed = make(chan struct{})
	}
	w.current = o
}

// Look makes the cheap probes once.
func (w *Watch) Look(ctx context.Context) { w.set(w.look(ctx)) }

// Run looks until ctx is done. An outage ends when every trial succeeds.
func (w *Watch) Run(ctx context.Context) {
	pause := firstPause
	for {
		wait := lookEvery
		current, _ := w.Current()
		if current != nil {
			wait = pause
		}
		select {
		case <-ctx.Done():
			return
		case <-w.tried: // pause before the first trial
			pause = firstPause
			continue
		case <-time.After(wait):
		}
		found := w.look(ctx)
		if current != nil && found == nil {
			found = w.try(ctx)
		}
		if ctx.Err() != nil {
			return
		}
		if !w.replace(current, found) { // reported since it was read: it has a trial of its own
			continue
		}
		switch {
		case found == nil:
			pause = firstPause
		case current != nil:
			pause = min(2*pause, longestPause)
		}
	}
}

// look makes the cheap probes.
func (w *Watch) look(ctx context.Context) *Outage {
	for _, p := range w.probes {
		if p.Look == nil {
			continue
		}
		if found := p.Look(ctx); found != nil {
			return found
		}
	}
	return nil
}

// try makes all trials. One that does not end in its time is an outage.
func (w *Watch) try(ctx context.Context) *Outage {
	for _, p := range w.probes {
		found := func() *Outage {
			ctx, cancel := context.WithTimeout(ctx, tryTime)
			defer cancel()
			return p.Try(ctx)
		}()
		if found != nil {
			return found
		}
	}
	return nil
}

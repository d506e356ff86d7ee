package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/push"
	"heapdrift/internal/record"
)

const (
	// watchTries is how often a push of a watch tries to reach the server: it holds up the next snapshot.
	watchTries = 3
	// watchRetry is how long after a failure the runs that have ended are pushed again, where no snapshot does it before.
	watchRetry = time.Minute
)

// A watchedRun is a run of the program whose evidence the server does not have as a whole.
type watchedRun struct {
	rec    *record.Recording
	sent   int    // files that the server has
	ended  bool   // no further snapshot comes
	failed string // the last failure that was said; "" after a push that came through
}

// A watchPush pushes the runs of a watch. Where the server cannot be reached, it keeps them, and pushes them in their
// order when it can be reached again.
type watchPush struct {
	send func(context.Context, *record.Recording) error // all files; those that the server has are not sent again
	tell func(context.Context, *record.Recording) error // the end, and which settings are still changed
	say  func(format string, args ...any)

	mu   sync.Mutex
	runs []*watchedRun
}

// find returns the run of a recording, or nil.
func (w *watchPush) find(rec *record.Recording) *watchedRun {
	for _, run := range w.runs {
		if run.rec.Dir == rec.Dir {
			return run
		}
	}
	return nil
}

// taken pushes a run that has a new snapshot, and what is kept of those before.
func (w *watchPush) taken(ctx context.Context, rec *record.Recording) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.find(rec) == nil {
		w.runs = append(w.runs, &watchedRun{rec: rec})
	}
	w.flush(ctx, false)
}

// end tells the server that a run has ended, after all its files.
func (w *watchPush) end(ctx context.Context, rec *record.Recording) {
	w.mu.Lock()
	defer w.mu.Unlock()
	own := *rec // the watch goes on to change the other one's settings
	if run := w.find(rec); run != nil {
		run.rec, run.ended = &own, true
		w.flush(ctx, false)
		return
	}
	w.runs = append(w.runs, &watchedRun{rec: &own, sent: len(own.Files), ended: true}) // again, with its settings restored
	w.flush(ctx, false)
}

// isOutage reports whether the server could not be reached. What it refuses concerns one run, and others go on.
func isOutage(err error) bool {
	var own *push.Error
	return errors.As(err, &own) && own.Code == push.CodeUnreachable
}

// flush pushes what the server does not have, up to an outage. The callers hold the lock.
func (w *watchPush) flush(ctx context.Context, onlyEnded bool) {
	kept := w.runs[:0]
	outage := false
	for _, run := range w.runs {
		if outage || onlyEnded && !run.ended {
			kept = append(kept, run)
			continue
		}
		err := w.push(ctx, run)
		w.note(run, err)
		outage = isOutage(err)
		if !run.ended || run.sent < len(run.rec.Files) || outage {
			kept = append(kept, run)
		}
	}
	clear(w.runs[len(kept):])
	w.runs = kept
}

// push pushes the files of a run that the server does not have, and then tells it of the run's end.
func (w *watchPush) push(ctx context.Context, run *watchedRun) error {
	if files := len(run.rec.Files); files > run.sent {
		if err := w.send(ctx, run.rec); err != nil {
			return fmt.Errorf("%w; the snapshots are kept, and pushed later", err)
		}
		run.sent = files
	}
	if run.ended {
		return w.tell(ctx, run.rec)
	}
	return nil
}

// note says the failure of a run, once while it lasts.
func (w *watchPush) note(run *watchedRun, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != "" && text != run.failed {
		w.say("watch: %s", text)
	}
	run.failed = text
}

// retry pushes the runs that have ended, now and then, until ctx ends: the program may not start again for days.
func (w *watchPush) retry(ctx context.Context) {
	tick := time.NewTicker(watchRetry)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.mu.Lock()
			w.flush(ctx, true)
			w.mu.Unlock()
		}
	}
}

// close says which snapshots the server does not have when the watch ends.
func (w *watchPush) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, run := range w.runs {
		if missing := len(run.rec.Files) - run.sent; missing > 0 {
			w.say("kept       %s that the server does not have; heapdrift push \"%s\" pushes them, with --run \"%s\"",
				quantity.Plural(missing, "snapshot"), filepath.Join(run.rec.Dir, "*"+filepath.Ext(run.rec.Files[0])), watchedName(run.rec))
		}
	}
}

// watchedName is the name of a run on the server: the same for each of its snapshots.
func watchedName(rec *record.Recording) string {
	return fmt.Sprintf("%s %s PID %d", rec.Host, rec.Process.Started.UTC().Format(time.DateTime), rec.Process.PID)
}

// newWatchPush pushes to the server of --push.
func (f *recordFlags) newWatchPush(s streams) *watchPush {
	f.push.tries = watchTries
	return &watchPush{
		send: func(ctx context.Context, rec *record.Recording) error {
			p := *f
			p.push.run = watchedName(rec)
			_, err := p.conclude(ctx, rec, s)
			return err
		},
		tell: func(ctx context.Context, rec *record.Recording) error {
			run, known := f.pushed[rec.Dir]
			if !known {
				return nil // no push came through
			}
			client, err := push.NewClient(f.push.url, cmp.Or(f.push.token, os.Getenv("HEAPDRIFT_TOKEN")))
			if err != nil {
				return err
			}
			return f.tell(ctx, client, run, rec)
		},
		say: func(format string, args ...any) { fmt.Fprintf(s.err, format+"\n", args...) },
	}
}

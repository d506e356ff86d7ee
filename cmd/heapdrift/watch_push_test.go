package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"heapdrift/internal/push"
	"heapdrift/internal/record"
)

// A fakeServer is what the server of a watch has heard.
type fakeServer struct {
	*watchPush
	away  bool
	heard []string
	said  strings.Builder
}

func newFakeServer() *fakeServer {
	f := &fakeServer{}
	f.watchPush = &watchPush{
		send: func(_ context.Context, rec *record.Recording) error {
			if f.away {
				return &push.Error{Code: push.CodeUnreachable, Message: "the server fails"}
			}
			f.heard = append(f.heard, fmt.Sprintf("%s %d", rec.Dir, len(rec.Files)))
			return nil
		},
		tell: func(_ context.Context, rec *record.Recording) error {
			if f.away {
				return &push.Error{Code: push.CodeUnreachable, Message: "the server fails"}
			}
			f.heard = append(f.heard, rec.Dir+" ended")
			return nil
		},
		say: func(format string, args ...any) { fmt.Fprintf(&f.said, format+"\n", args...) },
	}
	return f
}

// log is a copy of what the server has heard.
func (f *fakeServer) log() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.heard)
}

// snapshot takes the next snapshot of a recording.
func (f *fakeServer) snapshot(t *testing.T, rec *record.Recording) {
	t.Helper()
	rec.Files = append(rec.Files, fmt.Sprintf("%s/%d.txt", rec.Dir, len(rec.Files)))
	f.taken(t.Context(), rec)
}

// What the server refuses of one run does not hold up the others.
func TestWatchPushesOthers(t *testing.T) {
	f := newFakeServer()
	send := f.send
	f.send = func(ctx context.Context, rec *record.Recording) error {
		if rec.Dir == "a" {
			return errors.New("the server refuses the file")
		}
		return send(ctx, rec)
	}
	a, b := &record.Recording{Dir: "a"}, &record.Recording{Dir: "b"}
	f.snapshot(t, a)
	f.end(t.Context(), a)
	f.snapshot(t, b)
	f.snapshot(t, b)
	f.end(t.Context(), b)
	if want := []string{"b 1", "b 2", "b ended"}; !slices.Equal(f.heard, want) {
		t.Errorf("%q, want %q", f.heard, want)
	}
	if n := strings.Count(f.said.String(), "refuses"); n != 1 {
		t.Errorf("the failure is said %d times:\n%s", n, f.said.String())
	}
}

// The end of a run is told when the server is back, also where all snapshots had been sent before.
func TestWatchTellsTheEndLater(t *testing.T) {
	f := newFakeServer()
	a := &record.Recording{Dir: "a"}
	f.snapshot(t, a)
	f.away = true
	f.end(t.Context(), a)
	f.away = false
	f.flush(t.Context(), true)
	f.flush(t.Context(), true)
	if want := []string{"a 1", "a ended"}; !slices.Equal(f.heard, want) {
		t.Errorf("%q, want %q", f.heard, want)
	}
}

// Snapshots that were taken while the server was away are pushed in their order, and then the end of their run.
func TestWatchPush(t *testing.T) {
	f := newFakeServer()
	a, b := &record.Recording{Dir: "a"}, &record.Recording{Dir: "b"}
	f.snapshot(t, a)
	f.away = true
	f.snapshot(t, a)
	f.snapshot(t, a)
	f.end(t.Context(), a)
	f.snapshot(t, b)
	f.away = false
	f.snapshot(t, b)
	f.end(t.Context(), b)
	f.end(t.Context(), b) // with its settings restored
	f.close()
	if want := []string{"a 1", "a 3", "a ended", "b 2", "b ended", "b ended"}; !slices.Equal(f.heard, want) {
		t.Errorf("%q, want %q", f.heard, want)
	}
	if said := f.said.String(); said != "watch: the server fails; the snapshots are kept, and pushed later\n" {
		t.Errorf("said %q", said)
	}
}

// A watch that ends while the server is away says what the server does not have.
func TestWatchPushKeeps(t *testing.T) {
	f := newFakeServer()
	a := &record.Recording{Dir: "a"}
	f.snapshot(t, a)
	f.away = true
	f.snapshot(t, a)
	f.end(t.Context(), a)
	f.close()
	if said := f.said.String(); !strings.Contains(said, "kept       1 snapshot that the server does not have") || !strings.Contains(said, "*.txt") {
		t.Errorf("said %q", said)
	}
}

// The end of a run reaches the server although the program does not start again. A run that goes on waits for its
// next snapshot.
func TestWatchPushRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeServer()
		ctx, stop := context.WithCancel(t.Context())
		go f.retry(ctx)
		a, b := &record.Recording{Dir: "a"}, &record.Recording{Dir: "b"}
		f.away = true
		f.snapshot(t, a)
		f.end(ctx, a)
		f.snapshot(t, b)
		f.mu.Lock()
		f.away = false
		f.mu.Unlock()
		<-time.After(watchRetry - time.Second) // of the bubble's clock
		synctest.Wait()
		if heard := f.log(); len(heard) > 0 {
			t.Errorf("too early: %q", heard)
		}
		<-time.After(time.Second)
		synctest.Wait()
		if heard, want := f.log(), []string{"a 1", "a ended"}; !slices.Equal(heard, want) {
			t.Errorf("%q, want %q", heard, want)
		}
		stop()
		synctest.Wait()
	})
}

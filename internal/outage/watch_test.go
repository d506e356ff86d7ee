package outage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A machine is what a watch of a test looks at.
type machine struct {
	low, broken bool
	began       time.Time
	tried       []time.Duration // since began
	beside      func()          // done once, during a look or a trial
}

func (m *machine) other() {
	if beside := m.beside; beside != nil {
		m.beside = nil
		beside()
	}
}

func (m *machine) look(context.Context) *Outage {
	passOn()
	m.other()
	if m.low {
		return &Outage{Part: TempDir, Sentence: "low"}
	}
	return nil
}

func (m *machine) try(context.Context) *Outage {
	passOn()
	m.tried = append(m.tried, time.Since(m.began))
	if m.broken {
		return &Outage{Part: Blobs, Sentence: "broken"}
	}
	return nil
}

// watched runs a watch of a machine in a bubble of time.
func watched(t *testing.T, test func(t *testing.T, m *machine, w *Watch)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := &machine{began: time.Now()}
		w := NewWatch("w2", Probe{m.look, m.try})
		ctx, cancel := context.WithCancel(t.Context())
		go w.Run(ctx)
		test(t, m, w)
		cancel()
		synctest.Wait()
	})
}

func says(w *Watch) string {
	if o, _ := w.Current(); o != nil {
		return o.Sentence
	}
	return ""
}

var changed atomic.Int32

// passOn orders what a test sets in a machine before what the watch reads there behind the next pause.
func passOn() { changed.Add(1) }

// after lets time pass, and the watch do what is due then.
func after(d time.Duration) {
	passOn()
	time.Sleep(d) //nolint:forbidigo // in a bubble of synctest
	synctest.Wait()
}

// A worker that runs out of space stops before a job fails, within the time between two looks.
func TestWatchLooks(t *testing.T) {
	watched(t, func(t *testing.T, m *machine, w *Watch) {
		after(time.Hour)
		if says(w) != "" || len(m.tried) > 0 {
			t.Errorf("%q, %d trials on a healthy machine", says(w), len(m.tried))
		}
		_, changed := w.Current()
		m.low = true
		after(lookEvery)
		if says(w) != "low" {
			t.Errorf("%q", says(w))
		}
		select {
		case <-changed:
		default:
			t.Error("nobody is told that it began")
		}
		after(time.Hour)
		if says(w) != "low" || len(m.tried) > 0 {
			t.Errorf("%q, %d trials while space is low", says(w), len(m.tried))
		}
		m.low = false
		after(longestPause)
		if says(w) != "" || len(m.tried) != 1 {
			t.Errorf("%q, %d trials behind it", says(w), len(m.tried))
		}
	})
}

// A worker that starts on a full disk takes no job at all.
func TestWatchLooksBeforeTheFirstJob(t *testing.T) {
	m := &machine{low: true}
	w := NewWatch("w2", Probe{Try: m.try}, Probe{m.look, m.try})
	w.Look(t.Context())
	if says(w) != "low" || len(m.tried) > 0 {
		t.Errorf("%q, %d trials", says(w), len(m.tried))
	}
	m.low = false
	w.Look(t.Context())
	if says(w) != "" {
		t.Errorf("%q", says(w))
	}
}

// An outage that a job met lasts for a pause, then until a trial succeeds. The pauses double up to the longest.
func TestWatchPauses(t *testing.T) {
	watched(t, func(t *testing.T, m *machine, w *Watch) {
		if o := w.Report(t.Context(), errors.New("a bug")); o != nil || says(w) != "" {
			t.Errorf("a bug is an outage: %v", o)
		}
		o := w.Report(t.Context(), fmt.Errorf("put: %w", syscall.ENOSPC))
		if o == nil || o.Part != Disk || says(w) != "A disk of worker w2 takes no files" {
			t.Fatalf("%v", o)
		}
		m.tried, m.began = nil, time.Now()
		after(firstPause - time.Millisecond)
		if says(w) == "" {
			t.Error("it ended before the pause did")
		}
		after(time.Millisecond)
		if says(w) != "" || !slices.Equal(m.tried, []time.Duration{firstPause}) {
			t.Errorf("%q, trials at %v", says(w), m.tried)
		}

		m.broken = true
		if o := w.Report(t.Context(), errors.New("the reader is gone")); o == nil || o.Part != Blobs {
			t.Fatalf("an unknown failure while a trial fails: %v", o)
		}
		m.tried, m.began = nil, time.Now()
		after(125 * time.Second)
		var want []time.Duration
		for _, seconds := range []int{1, 3, 7, 15, 31, 61, 91, 121} {
			want = append(want, time.Duration(seconds)*time.Second)
		}
		if !slices.Equal(m.tried, want) || says(w) != "broken" {
			t.Errorf("%q, trials at %v, want %v", says(w), m.tried, want)
		}
		m.broken = false
		after(longestPause)
		if says(w) != "" {
			t.Errorf("%q", says(w))
		}
		m.low = true // the next outage begins with a short pause
		after(lookEvery)
		m.low, m.tried, m.began = false, nil, time.Now()
		after(firstPause)
		if says(w) != "" || !slices.Equal(m.tried, []time.Duration{firstPause}) {
			t.Errorf("%q, trials at %v", says(w), m.tried)
		}
	})
}

// An outage that is reported while the watch looks, or while it ends another, lasts until a trial of its own.
func TestReportDuringLook(t *testing.T) {
	watched(t, func(t *testing.T, m *machine, w *Watch) {
		for _, pause := range []time.Duration{lookEvery, firstPause} { // without an outage, and in one
			if pause == firstPause {
				_ = w.Report(t.Context(), syscall.ENOMEM)
			}
			m.beside = func() {
				_ = w.Report(t.Context(), syscall.ENOSPC)
				m.tried, m.began = nil, time.Now()
			}
			after(pause)
			if o, _ := w.Current(); m.beside != nil || o == nil || o.Part != Disk {
				t.Errorf("behind %v: %v", pause, o)
			}
			m.tried = nil
			after(firstPause - time.Millisecond)
			if says(w) == "" || len(m.tried) > 0 {
				t.Errorf("%q, trials at %v", says(w), m.tried)
			}
			after(time.Millisecond)
			if says(w) != "" || !slices.Equal(m.tried, []time.Duration{firstPause}) {
				t.Errorf("%q, trials at %v", says(w), m.tried)
			}
		}
	})
}

// A trial that hangs is ended and counts as an outage.
func TestTrialThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewWatch("w2", OfDatabase("w2", func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}))
		began := time.Now()
		if o := w.Report(t.Context(), errors.New("x")); o == nil || o.Part != Database || time.Since(began) != tryTime {
			t.Errorf("%v after %v", o, time.Since(began))
		}
	})
}

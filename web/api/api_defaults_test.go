package api

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"heapdrift/internal/memory"
	"heapdrift/internal/query"
	"heapdrift/internal/slots"
)

// What an option leaves out is there all the same, and what it gives is kept.
func TestDefaultsOfAnAPI(t *testing.T) {
	a := New(Options{})
	if a.log == nil || a.windows == nil || a.queries == nil || a.watch == nil || a.poll != time.Second ||
		a.idle != 30*time.Second || a.claims.patience != 3*time.Second {
		t.Errorf("%+v", a)
	}
	if changed, stop := a.watch(1); changed != nil {
		t.Error("somebody watches the run")
	} else {
		stop()
	}
	log, windows, queries := slog.New(slog.DiscardHandler), noWindows{}, &query.IndexCache{Budget: &memory.Budget{}}
	changes := make(chan struct{})
	a = New(Options{Log: log, Windows: windows, Queries: queries, Poll: 2 * time.Second, Idle: 20 * time.Second,
		Watch: func(int64) (<-chan struct{}, func()) { return changes, func() {} }})
	if changed, _ := a.watch(1); a.log != log || a.queries != queries || changed == nil || a.poll != 2*time.Second ||
		a.idle != 20*time.Second || a.claims.patience != 2*time.Second {
		t.Errorf("%+v", a)
	}
}

// One account and one project leave slots for the others, of what costs memory and of what costs connections. The
// latter are far below the ten connections that a store has at least.
func TestLimitsOfUploads(t *testing.T) {
	for name, test := range map[string]struct {
		limits             slots.Limits
		all, project, each int // slots
	}{"receiving": {receivingLimits, 32, 16, 8}, "finishing": {finishingLimits, 3, 2, 2}} {
		t.Run(name, func(t *testing.T) {
			enter := func(t *testing.T, s *slots.Slots, h slots.Holder, want int) {
				t.Helper()
				for n := 0; ; n++ {
					ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // of the bubble
					_, err := s.Enter(ctx, h)
					cancel()
					if err == nil && n < want {
						continue
					}
					if !errors.Is(err, context.DeadlineExceeded) || n != want {
						t.Errorf("%+v gets %d slots and more: %v; want %d", h, n, err, want)
					}
					return
				}
			}
			synctest.Test(t, func(t *testing.T) {
				account := slots.New(test.limits)
				enter(t, account, slots.Holder{Account: "a"}, test.each)
				enter(t, account, slots.Holder{Account: "b"}, min(test.each, test.all-test.each))
				project := slots.New(test.limits)
				enter(t, project, slots.Holder{ProjectID: 1, Account: "a"}, test.each)
				enter(t, project, slots.Holder{ProjectID: 1, Account: "b"}, test.project-test.each)
				enter(t, project, slots.Holder{ProjectID: 2, Account: "c"}, min(test.each, test.all-test.project))
				all := slots.New(test.limits)
				enter(t, all, slots.Holder{}, test.all) // whom nothing else bounds
			})
		})
	}
}

package store_test

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heapdrift/internal/leaks"
	"heapdrift/internal/store"
	"heapdrift/internal/store/storetest"
)

// A View shows the database as of its first query, whatever changes meanwhile; the next View shows the changes.
func TestViewIsOfOneInstant(t *testing.T) {
	l := newLab(t)
	id := l.run("1", leaksReport(finding{signature: "A", class: leak}))
	type runSnapshot struct {
		run       store.Run
		jobs      []store.Job
		signature store.Signature
		builds    int
	}
	look := func(v store.View) (s runSnapshot, err error) {
		if s.run, err = v.FindRun(t.Context(), id); err != nil {
			return s, err
		}
		if s.jobs, err = v.ListJobs(t.Context(), id); err != nil {
			return s, err
		}
		if s.signature, err = v.FindSignature(t.Context(), "demo", "A"); err != nil {
			return s, err
		}
		page, err := v.ListBuilds(t.Context(), store.BuildQuery{Project: "demo", Limit: 10})
		if err == nil {
			s.builds = page.Total
		}
		return s, err
	}
	err := l.View(t.Context(), func(v store.View) error {
		before, err := look(v)
		if err != nil {
			return err
		}
		if before.run.CompletedAt != nil || before.builds != 1 || before.signature.State != leaks.StateFound {
			t.Errorf("%+v", before)
		}
		if err := l.CompleteRun(t.Context(), id); err != nil { // through another connection
			return err
		}
		l.again("1")
		l.change("A", leaks.TriageChange{Known: &leaks.Toleration{Reason: "vendor"}})
		addEvidence(t, l.Store, leaks.UploadTarget{Project: "demo", Build: "2"}, "a.txt")
		after, err := look(v)
		if err == nil && !reflect.DeepEqual(after, before) {
			t.Errorf("the View shows %+v, before %+v", after, before)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	now := must[runSnapshot](t)(look(l.now()))
	if now.run.CompletedAt == nil || now.run.PendingJobs != 1 || len(now.jobs) != 2 || now.builds != 2 ||
		now.signature.State != leaks.StateKnown {
		t.Errorf("the next View shows %+v", now)
	}
}

// A View returns its connection however it ends: the store has ten connections.
func TestViewsEnd(t *testing.T) {
	s, _ := open(t)
	refused := errors.New("refused")
	for range 30 {
		if err := s.View(t.Context(), func(store.View) error { return refused }); err != refused { //nolint:errorlint // as it is, not wrapped
			t.Fatalf("%v", err)
		}
		func() {
			defer func() { _ = recover() }()
			_ = s.View(t.Context(), func(store.View) error { panic("in the middle") })
		}()
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := store.Read(ctx, s, func(v store.View) ([]store.Project, error) {
			cancel()
			return v.ListProjects(ctx, storetest.Anybody)
		}); !errors.Is(err, context.Canceled) {
			t.Fatalf("nobody asks any more: %v", err)
		}
	}
	if list, err := store.Read(t.Context(), s,
		func(v store.View) ([]store.Project, error) { return v.ListProjects(t.Context(), storetest.Anybody) }); err != nil ||
		len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// A store has ten connections at least, however few processors the machine has: so many views do not wait for each
// other.
func TestConnections(t *testing.T) {
	s, _ := open(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const views = 10
	var began atomic.Int32
	var ended sync.WaitGroup
	all := make(chan struct{})
	for range views {
		ended.Go(func() {
			err := s.View(ctx, func(store.View) error {
				if began.Add(1) == views {
					close(all)
				}
				select {
				case <-all:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			})
			if err != nil {
				t.Errorf("%d of %d views have begun: %v", began.Load(), views, err)
			}
		})
	}
	ended.Wait()
}

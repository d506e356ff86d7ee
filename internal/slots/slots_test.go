package slots

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// take enters and fails the test where that has to wait.
func take(t *testing.T, s *Slots, h Holder) (leave func()) {
	t.Helper()
	leave, waits := try(t, s, h)
	if waits {
		t.Fatalf("%+v waits", h)
	}
	return leave
}

// try enters, or reports that the holder would have to wait.
func try(t *testing.T, s *Slots, h Holder) (leave func(), waits bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	entered := make(chan struct{})
	go func() {
		defer close(entered)
		var err error
		if leave, err = s.Enter(ctx, h); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}()
	synctest.Wait()
	cancel()
	<-entered
	return leave, leave == nil
}

// Each limit holds at its value and no further, and what is given back is free again.
func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Limits{All: 6, Project: 4, Account: 3})
		one := Holder{ProjectID: 1, Account: "token 1"}
		var held []func()
		for range 3 {
			held = append(held, take(t, s, one))
		}
		if _, waits := try(t, s, one); !waits {
			t.Error("an account holds 4 of 3")
		}
		two := Holder{ProjectID: 1, Account: "token 2"}
		held = append(held, take(t, s, two))
		if _, waits := try(t, s, two); !waits {
			t.Error("a project holds 5 of 4")
		}
		user := Holder{Account: "user 1"}
		held = append(held, take(t, s, user), take(t, s, Holder{}))
		if _, waits := try(t, s, user); !waits {
			t.Error("7 of 6 are held")
		}
		held[0]()
		held[0]() // once more gives nothing back
		held[0] = take(t, s, one)
		if _, waits := try(t, s, user); !waits {
			t.Error("a slot was given back twice")
		}
		for _, leave := range held {
			leave()
		}
		if s.held != 0 || len(s.projects) != 0 || len(s.accounts) != 0 || len(s.waiting) != 0 {
			t.Errorf("all have left: %+v", s)
		}
	})
}

// Only the number of all slots bounds somebody unknown.
func TestUnknownHolders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Limits{All: 3, Project: 1, Account: 1})
		for range 3 {
			take(t, s, Holder{})
		}
		if _, waits := try(t, s, Holder{}); !waits {
			t.Error("4 of 3 are held")
		}
	})
}

// Somebody waits because all slots are taken, or because of the own limit: only the first makes a crowd.
func TestCrowded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Limits{All: 2, Project: 2, Account: 1})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		wait := func(account string) {
			go func() { _, _ = s.Enter(ctx, Holder{Account: account}) }()
			synctest.Wait()
		}
		for _, step := range []struct {
			account string
			crowded bool
		}{{"a", false}, {"a", false}, {"b", false}, {"b", false}, {"c", true}} {
			if wait(step.account); s.Crowded() != step.crowded {
				t.Errorf("after %s: %t", step.account, !step.crowded)
			}
		}
		cancel()
		synctest.Wait()
		if s.Crowded() || len(s.waiting) != 0 {
			t.Errorf("after all have gone: %+v", s)
		}
	})
}

// A free slot goes to whose project, then to whose account holds the fewest, and then by arrival.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Limits{All: 8, Project: 8, Account: 8})
		first := take(t, s, Holder{1, "token 1"})
		for _, h := range []Holder{{1, "token 1"}, {1, "token 1"}, {1, "token 2"}, {0, "user 1"}, {0, "user 1"}, {3, "token 5"}, {}} {
			take(t, s, h)
		}
		var order []string
		for _, h := range []Holder{{1, "token 1"}, {1, "token 2"}, {0, "user 1"}, {0, "user 2"}, {2, "token 3"}, {2, "token 4"},
			{3, "token 5"}} {
			go func() {
				leave, err := s.Enter(t.Context(), h)
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, h.Account)
				leave()
			}()
			synctest.Wait()
		}
		first()
		synctest.Wait()
		want := []string{"user 2", "token 3", "token 4", "token 5", "user 1", "token 2", "token 1"}
		for i := range want {
			if i >= len(order) || order[i] != want[i] {
				t.Fatalf("%q, want %q", order, want)
			}
		}
	})
}

// A waiter that goes as its slot comes gives it to the next one.
func TestGoneWhenGranted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Limits{All: 1, Project: 1, Account: 1})
		take(t, s, Holder{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			if _, err := s.Enter(ctx, Holder{}); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}()
		synctest.Wait()
		s.mu.Lock()
		cancel() // the waiter goes on, as far as the lock
		s.release(Holder{})
		s.mu.Unlock()
		synctest.Wait()
		if s.held != 0 || len(s.waiting) != 0 {
			t.Errorf("%+v", s)
		}
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("shut down")
	cancel(cause)
	if _, err := New(Limits{1, 1, 1}).Enter(ctx, Holder{}); !errors.Is(err, cause) {
		t.Errorf("a context that had ended: %v", err)
	}
}

// However much one account queues, another one gets the next slot that comes free: the law behind the package, over
// random arrivals.
func TestNobodyWaitsForAQueue(t *testing.T) {
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			all := 2 + random.IntN(6)
			s := New(Limits{All: all, Project: all, Account: all})
			var held []func()
			for range all {
				held = append(held, take(t, s, Holder{1, "greedy"}))
			}
			for range random.IntN(100) {
				go func() { _, _ = s.Enter(t.Context(), Holder{1, "greedy"}) }()
			}
			synctest.Wait()
			others := 1 + random.IntN(all)
			var got atomic.Int32
			for range others {
				go func() {
					if _, err := s.Enter(t.Context(), Holder{2, "other"}); err == nil {
						got.Add(1)
					}
				}()
			}
			synctest.Wait()
			for range min(others, all/2) {
				before := got.Load()
				random.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
				held[0]()
				held = held[1:]
				synctest.Wait()
				if got.Load() != before+1 {
					t.Fatalf("seed %d: %d of %d slots are the other's after one came free", seed, got.Load(), all)
				}
			}
			for len(s.waiting) > 0 { // ends the waiters, which the bubble waits for
				for _, leave := range held {
					leave()
				}
				s.mu.Lock()
				s.limits.All, s.limits.Project, s.limits.Account = 1000, 1000, 1000
				s.grant()
				s.mu.Unlock()
				synctest.Wait()
			}
		})
	}
}

// Package slots shares a limited number of places among accounts. A request or a task takes a slot while it uses what
// the server has little of, such as memory or processes. No account waits for all that another one has queued.
package slots

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// A Holder is who takes a slot. The zero value is somebody unknown, whom only the number of all slots bounds.
type Holder struct {
	ProjectID int64  // of a token; 0 for a holder that belongs to no single project
	Account   string // a token, a user or an address
}

// Limits are how many slots there are, and how many of them one account and one project may hold. All three are at
// least 1.
type Limits struct{ All, Project, Account int }

// Slots are slots that holders enter and leave. New makes them.
type Slots struct {
	limits Limits

	mu       sync.Mutex
	held     int
	projects map[int64]int  // slots held, without projects that hold none
	accounts map[string]int // as projects
	waiting  []*waiter      // in the order of arrival
}

type waiter struct {
	holder  Holder
	granted chan struct{} // closed when the slot is the waiter's
}

// New makes slots, all of them free.
func New(limits Limits) *Slots {
	return &Slots{limits: limits, projects: map[int64]int{}, accounts: map[string]int{}}
}

// Enter waits for a slot and returns how to give it back. Its error is the cause of a context that ended before.
//
// A free slot goes to the project that holds the fewest, then to the account that holds the fewest, then to the one
// that has waited longest. An account without a project counts as one. An account or project at its limit is passed
// over.
func (s *Slots) Enter(ctx context.Context, h Holder) (leave func(), err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx) //nolint:wrapcheck // the caller's own
	}
	w := &waiter{holder: h, granted: make(chan struct{})}
	s.mu.Lock()
	s.waiting = append(s.waiting, w)
	s.grant()
	s.mu.Unlock()
	select {
	case <-w.granted:
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		if at := slices.Index(s.waiting, w); at >= 0 {
			s.waiting = slices.Delete(s.waiting, at, at+1)
		} else { // granted in the meantime
			s.release(h)
		}
		return nil, context.Cause(ctx) //nolint:wrapcheck // the caller's own
	}
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.release(h)
	}), nil
}

// Crowded reports whether somebody waits because all slots are taken. Holders that use theirs little should leave then.
func (s *Slots) Crowded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.waiting, s.within) // with a free slot it would not wait
}

// grant gives free slots to those who wait.
func (s *Slots) grant() {
	for s.held < s.limits.All {
		best := -1
		for i, w := range s.waiting {
			if s.within(w) && (best < 0 || s.before(w.holder, s.waiting[best].holder)) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		w := s.waiting[best]
		s.waiting = slices.Delete(s.waiting, best, best+1)
		s.held++
		count(s.projects, w.holder.ProjectID, 1)
		count(s.accounts, w.holder.Account, 1)
		close(w.granted)
	}
}

// release takes a slot from its holder and gives it to the next one.
func (s *Slots) release(h Holder) {
	s.held--
	count(s.projects, h.ProjectID, -1)
	count(s.accounts, h.Account, -1)
	s.grant()
}

// within reports whether a waiter may hold one more slot than now.
func (s *Slots) within(w *waiter) bool {
	return s.projects[w.holder.ProjectID] < s.limits.Project && s.accounts[w.holder.Account] < s.limits.Account
}

// before reports whether a free slot goes to a rather than to b, who has waited longer.
func (s *Slots) before(a, b Holder) bool {
	return cmp.Or(cmp.Compare(s.share(a), s.share(b)), cmp.Compare(s.accounts[a.Account], s.accounts[b.Account])) < 0
}

// share is how many slots the project of a holder has, or the account of one without a project.
func (s *Slots) share(h Holder) int {
	if h.ProjectID != 0 {
		return s.projects[h.ProjectID]
	}
	return s.accounts[h.Account]
}

// count adds to the slots of a project or account. The zero value stands for nobody and is not counted.
func count[K comparable](slots map[K]int, of K, by int) {
	var nobody K
	if of == nobody {
		return
	}
	if slots[of] += by; slots[of] == 0 {
		delete(slots, of)
	}
}

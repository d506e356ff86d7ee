package api

import (
	"context"
	"sync"
)

// maxSlots is how many of the slots one client may take, so that others get in however many requests it opens.
const maxSlots = maxReceiving / 4

// shares are the slots that each client holds. The zero value is ready for use.
type shares struct {
	mu    sync.Mutex
	slots map[string]*share
}

type share struct {
	slots chan struct{}
	users int // requests that hold or wait for one
}

// enter waits for one of the client's slots; leave gives it back.
func (s *shares) enter(ctx context.Context, client string) (leaveShare func(), err error) {
	s.mu.Lock()
	if s.slots == nil {
		s.slots = map[string]*share{}
	}
	own := s.slots[client]
	if own == nil {
		own = &share{slots: make(chan struct{}, maxSlots)}
		s.slots[client] = own
	}
	own.users++
	s.mu.Unlock()
	gone := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(s.slots, client)
		}
	}
	if err := enter(ctx, own.slots); err != nil {
		gone()
		return nil, err
	}
	return func() {
		leave(own.slots)
		gone()
	}, nil
}

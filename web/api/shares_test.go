package api

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A client that opens more connections than its share waits; another client gets in.
func TestShares(t *testing.T) {
	var s shares
	var held []func()
	for range maxSlots {
		release, err := s.enter(t.Context(), "slow")
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, release)
	}
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := s.enter(soon, "slow"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one more than the share: %v", err)
	}
	other, err := s.enter(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	held[0]()
	again, err := s.enter(t.Context(), "slow")
	if err != nil {
		t.Fatal(err)
	}
	for _, release := range append(held[1:], other, again) {
		release()
	}
	if len(s.slots) > 0 {
		t.Errorf("%d clients are left", len(s.slots))
	}
	if clients := maxReceiving / maxSlots; clients < 4 {
		t.Errorf("%d clients keep all others out", clients)
	}
}

// The limit counts the time that the server waits for the client, and the bytes that arrive in that time.
func TestSlowBodies(t *testing.T) {
	b := &body{idle: 30 * time.Second}
	for i, step := range []struct {
		bytes  int
		waited time.Duration
		slow   bool
	}{{1, 10 * time.Second, false}, {1, 10 * time.Second, false}, {30 << 10, 10 * time.Second, false},
		{30<<10 - 1, 30 * time.Second, true}} {
		if err := b.fastEnough(step.bytes, step.waited); (err != nil) != step.slow {
			t.Errorf("step %d: %v", i, err)
		}
	}
}

package api

import (
	"errors"
	"testing"
	"time"
)

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

// A body has to come faster while others wait for its slot.
func TestSlowBodiesInACrowd(t *testing.T) {
	const idle = 30 * time.Second
	for _, c := range []struct {
		crowded bool
		bytes   int
		rate    int64 // that the error names; 0 for no error
	}{
		{false, 30 << 10, 0},
		{true, 30 << 10, 16 << 10},
		{true, 30*16<<10 - 1, 16 << 10},
		{true, 30 * 16 << 10, 0},
	} {
		b := &body{idle: idle, crowded: func() bool { return c.crowded }}
		var slow *tooSlowError
		rate := int64(0)
		if errors.As(b.fastEnough(c.bytes, idle), &slow) {
			rate = slow.rate
		}
		if rate != c.rate {
			t.Errorf("%+v: %d", c, rate)
		}
	}
}

package api

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"heapdrift/internal/store/uploadstore"
)

// When a client breaks off and comes back at once, its next request waits until the first one is done.
func TestClaimsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := claims{held: map[string]chan struct{}{}, patience: 3 * time.Second}
		first, err := c.take(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		other, err := c.take(t.Context(), "b")
		if err != nil {
			t.Fatalf("another upload: %v", err)
		}
		other()
		time.AfterFunc(2*time.Second, first)
		begun := time.Now()
		second, err := c.take(t.Context(), "a")
		if err != nil || time.Since(begun) != 2*time.Second {
			t.Fatalf("after %v: %v", time.Since(begun), err)
		}
		if _, err := c.take(t.Context(), "a"); !errors.Is(err, uploadstore.ErrBusy) || time.Since(begun) != 5*time.Second {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		second()
		if len(c.held) > 0 {
			t.Errorf("still held: %v", c.held)
		}
	})
}

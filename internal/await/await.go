// Package await lets tests wait for a condition instead of sleeping for as long as it usually takes.
package await

import (
	"context"
	"testing"
	"time"
)

// Patience is how long Until waits at most: enough for a busy machine, since only a failing test waits that long.
const Patience = 2 * time.Minute

// The condition is asked again after a pause, which doubles from the shortest to the longest.
const shortest, longest = time.Millisecond, 50 * time.Millisecond

// Until waits until the condition is true, and fails the test if it is not after Patience. what completes the sentence
// "waited in vain for …".
func Until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	if !Poll(ctx, condition) {
		t.Fatalf("waited in vain for %s", what)
	}
}

// Poll waits until the condition is true, and reports false where the context ends before. It asks at least once.
func Poll(ctx context.Context, condition func() bool) bool {
	for pause := shortest; !condition(); pause = min(2*pause, longest) {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(pause):
		}
	}
	return true
}

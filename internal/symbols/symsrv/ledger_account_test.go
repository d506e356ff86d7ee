package symsrv

import (
	"testing"
	"time"
)

// Bytes that a server sends reduce the time that is charged to it.
func TestLedgerCounts(t *testing.T) {
	for name, c := range map[string]struct {
		took     time.Duration
		bytes    int
		answered bool
		over     bool
	}{
		"nothing for long":            {10 * time.Second, 0, false, true},
		"a late answer":               {10 * time.Second, 0, true, true},
		"an answer within a moment":   {patience / 2, 0, true, false},
		"much, that takes its time":   {10 * time.Second, 20 * pace, true, false},
		"little, that takes its time": {10 * time.Second, pace, true, true},
		"a connection that is cut":    {patience / 2, 0, false, false},
	} {
		l := &ledger{spent: map[string]time.Duration{}}
		const limit = 2 * time.Second
		q := &timedRequest{ledger: l, server: "a", since: time.Now().Add(-c.took), limit: limit,
			timer: time.NewTimer(time.Hour)}
		q.received(c.bytes)
		if q.done(c.answered) || l.isOver("a", limit) != c.over || l.isOver("b", limit) {
			t.Errorf("%s: %v", name, l.spent)
		}
	}
	var none *ledger
	none.spend("a", time.Hour)
	if none.isOver("a", time.Second) {
		t.Error("without a run there are bounds")
	}
}

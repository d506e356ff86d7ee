package symsrv

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// A ledger keeps how long one run has waited for each server. Time is counted in which a server gives too little for
// it: see patience and pace.
type ledger struct {
	mu    sync.Mutex
	spent map[string]time.Duration // by host and port
}

const (
	patience = time.Second // of every question that is answered: a server that is far away is not slow
	pace     = 256 << 10   // bytes that are worth a second
)

type ledgerKey struct{}

// WithRunLimit returns a context in which no server is waited for longer than Limits.Wait, over all files together. If
// ctx has such a limit already, that one stays.
func WithRunLimit(ctx context.Context) context.Context {
	if ledgerOf(ctx) != nil {
		return ctx
	}
	return context.WithValue(ctx, ledgerKey{}, &ledger{spent: map[string]time.Duration{}})
}

// ledgerOf is the ledger of a context's run; nil for none.
func ledgerOf(ctx context.Context) *ledger {
	l, _ := ctx.Value(ledgerKey{}).(*ledger)
	return l
}

// isOver tells whether a server has had all the time that the run has for it.
func (l *ledger) isOver(server string, limit time.Duration) bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.spent[server] >= limit
}

// spend counts a time that a server has taken.
func (l *ledger) spend(server string, d time.Duration) {
	if l == nil || d <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spent[server] += d
}

// errWaited ends a question for which a run has no more time.
var errWaited = errors.New("the run's time for the server is used up")

// waitedFor is the answer to a question that is not asked, or not to its end.
func (p *SymbolPath) waitedFor() reply {
	return reply{result: ResultOutOfTime, giveUp: true,
		detail: fmt.Sprintf("a run waits %v for a server (HEAPDRIFT_SYMBOL_WAIT), and this one has had them",
			p.opt.Limits.Wait)}
}

// A timedRequest is one request that takes a run's time.
type timedRequest struct {
	ledger *ledger
	server string
	since  time.Time
	left   time.Duration // until it ends, if nothing comes
	limit  time.Duration
	bytes  atomic.Int64
	timer  *time.Timer
	ended  atomic.Bool
}

// wait begins to count the time of a request; end is called with errWaited when there is no more.
func (p *SymbolPath) wait(ctx context.Context, server string, end context.CancelCauseFunc) *timedRequest {
	q := &timedRequest{ledger: ledgerOf(ctx), server: server, since: time.Now(), limit: p.opt.Limits.Wait}
	if q.ledger == nil {
		return q
	}
	q.ledger.mu.Lock()
	q.left = q.limit - q.ledger.spent[server] + patience // which is given before it is known whether there will be an answer
	q.ledger.mu.Unlock()
	armed := make(chan struct{})
	q.timer = time.AfterFunc(max(q.left, 0), func() {
		<-armed
		if more := q.left + q.earned() - time.Since(q.since); more > 0 {
			q.timer.Reset(more)
			return
		}
		q.ended.Store(true)
		end(errWaited)
	})
	close(armed)
	return q
}

// received counts bytes that came.
func (q *timedRequest) received(n int) { q.bytes.Add(int64(n)) }

// earned is the time that a server's bytes are worth.
func (q *timedRequest) earned() time.Duration {
	return time.Duration(float64(q.bytes.Load()) / pace * float64(time.Second))
}

// done ends the counting and tells whether the time was used up.
func (q *timedRequest) done(answered bool) bool {
	if q.ledger == nil {
		return false
	}
	q.timer.Stop()
	if q.ended.Load() {
		q.ledger.spend(q.server, q.limit)
		return true
	}
	took := time.Since(q.since) - q.earned()
	if answered {
		took -= patience
	}
	q.ledger.spend(q.server, took)
	return false
}

package livesnapshot

import (
	"sync"
	"time"
)

// A pause is the time for which a process is suspended. Reads enter it and leave it, so that none of them meets the
// process while it goes on unnoticed.
type pause struct {
	limit           time.Duration
	suspend, resume func() error
	after           func(time.Duration, func()) (stop func() bool)

	mu         sync.RWMutex
	suspended  bool
	began      time.Time
	took       time.Duration
	stop       func() bool
	hit        bool // the limit ended it
	cut        bool // heaps are not read any more
	hasBeenCut bool
	hasWalked  bool
}

func afterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

// begin suspends the process until end, or until the limit.
func (p *pause) begin() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.began = time.Now()
	if err := p.suspend(); err != nil {
		return err
	}
	p.suspended = true
	p.stop = p.after(p.limit, p.expire)
	return nil
}

// expire ends the pause at its limit. Heaps that change while they are walked would give blocks that never were.
func (p *pause) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.suspended {
		p.hit, p.cut, p.hasBeenCut = true, !p.hasWalked, !p.hasWalked
		p.goOn()
	}
}

// walked says that no heap is read any more: stacks stay where they are while the process runs.
func (p *pause) walked() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hasWalked, p.cut = true, false
}

// cloned says that nothing is read of the process any more.
func (p *pause) cloned() {
	p.walked()
	p.end()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hasBeenCut = false
}

// end lets the process go on, if it is still suspended.
func (p *pause) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil {
		p.stop()
	}
	p.goOn()
}

// goOn resumes the process. A process that cannot be resumed has ended.
func (p *pause) goOn() {
	if p.suspended {
		_ = p.resume()
		p.suspended, p.took = false, time.Since(p.began)
	}
}

// enter holds the pause as it is until leave; it refuses heaps that may change.
func (p *pause) enter() bool {
	p.mu.RLock()
	if p.cut {
		p.mu.RUnlock()
		return false
	}
	return true
}

func (p *pause) leave() { p.mu.RUnlock() }

func (p *pause) isHit() bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.hit
}

// wasCut reports whether the limit ended the reading of heaps.
func (p *pause) wasCut() bool {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.hasBeenCut
}

// isSuspended is asked for between enter and leave.
func (p *pause) isSuspended() bool { return p.suspended }

func (p *pause) length() time.Duration {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.took
}

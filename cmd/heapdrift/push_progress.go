package main

import (
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"heapdrift/ingest/quantity"
	"heapdrift/internal/push"
	"heapdrift/internal/push/ci"
)

// A pushProgress shows how far a push is: on a terminal a line that is rewritten, with speed and time left, elsewhere a
// line for each file.
type pushProgress struct {
	w        io.Writer
	terminal bool
	quiet    bool

	mu      sync.Mutex
	total   int64 // bytes of all files
	begun   time.Time
	at      map[*push.File]int64 // how far each file is that is under way or has ended, in bytes
	sent    int64                // bytes that went over the line, those of retries included
	next    time.Time            // when the line is drawn again
	drawn   bool
	pending int // jobs that were reported last
}

// drawEvery is how often the line is drawn.
const drawEvery = 200 * time.Millisecond

func newPushProgress(w io.Writer, total int64, quiet bool) *pushProgress {
	return &pushProgress{w: w, terminal: isTerminal(w), quiet: quiet, total: total, begun: time.Now(),
		at: map[*push.File]int64{}, pending: -1}
}

// Moved draws the line.
func (p *pushProgress) Moved(f *push.File, at int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent += max(at-p.at[f], 0)
	p.at[f] = at
	now := time.Now()
	if !p.terminal || p.quiet || now.Before(p.next) {
		return
	}
	p.next, p.drawn = now.Add(drawEvery), true
	var done int64
	for _, n := range p.at {
		done += n
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", pushLine(filepath.Base(f.Path), done, p.total, p.sent, now.Sub(p.begun)))
}

// pushLine says how far all files are, how fast it goes, and how long it will take.
func pushLine(name string, done, total, sent int64, since time.Duration) string {
	line := fmt.Sprintf("sending %s: %d %% of %s", ci.Plain(name), 100*done/max(total, 1), quantity.Bytes(total))
	speed := float64(sent) / max(since.Seconds(), 0.001)
	if since < time.Second || speed < 1 {
		return line
	}
	left := time.Duration(float64(total-done) / speed * float64(time.Second))
	return fmt.Sprintf("%s, %s/s, %s left", line, quantity.Bytes(int64(speed)), left.Round(time.Second))
}

// Ended says what became of a file.
func (p *pushProgress) Ended(f *push.File, o push.Outcome, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at[f] = f.Bytes
	text := fmt.Sprintf("%-8s %s  %s", o, f.Path, quantity.Bytes(f.Bytes))
	if err != nil {
		text = fmt.Sprintf("%-8s %s  %v", o, f.Path, err)
	}
	p.printLine(text, err != nil)
}

// note says why something is tried again.
func (p *pushProgress) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.printLine(text, false)
}

// waiting says how many jobs are left.
func (p *pushProgress) waiting(pending int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.terminal && !p.quiet:
		p.drawn = true
		fmt.Fprintf(p.w, "\r\x1b[Kwaiting for the verdict: %s left", quantity.Plural(pending, "job"))
	case pending != p.pending:
		p.printLine("waiting  "+quantity.Plural(pending, "job")+" left", false)
	}
	p.pending = pending
}

// printLine writes a line of its own; only what is wrong where quiet is asked for.
func (p *pushProgress) printLine(text string, wrong bool) {
	if p.quiet && !wrong {
		return
	}
	p.clear()
	fmt.Fprintln(p.w, ci.Plain(text))
}

// end takes the line away.
func (p *pushProgress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *pushProgress) clear() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

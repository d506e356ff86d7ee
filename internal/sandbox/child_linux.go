package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"heapdrift/internal/memory"
)

// childEnv marks a process as a child; its descriptor 3 is the socket.
const childEnv = "HEAPDRIFT_APART"

// prepared says that Main was called. Without the call, a child would run the whole program again.
var prepared atomic.Bool

// Main does the task of a parent if this process was started as its child, and ends the process then. Call it first in
// main; it does nothing in any other process.
func Main(tasks map[string]Task) {
	prepared.Store(true)
	if os.Getenv(childEnv) == "" {
		return
	}
	if err := serve(tasks); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A Parent is the child's connection to the process that started it. It is safe for concurrent use.
type Parent struct {
	wire *wire

	mu      sync.Mutex
	last    uint64
	waiting map[uint64]chan message
}

func serve(tasks map[string]Task) error {
	w, err := newWire(os.NewFile(3, "parent"))
	if err != nil {
		return err
	}
	packet := make([]byte, maxPacket)
	m, err := w.receive(packet)
	if err != nil {
		return err
	}
	task := tasks[m.Name]
	if task == nil {
		return fmt.Errorf("sandbox: no task %q", m.Name)
	}
	if err := confine(m.Limit); err != nil {
		return err
	}
	p := &Parent{wire: w, waiting: map[uint64]chan message{}}
	go p.listen(packet)
	outcome, err := within(m.Limit, func(ctx context.Context) (any, error) { return task(ctx, p, m.Body) })
	return w.send(message{Kind: kindEnd, Fault: faultOf(err), content: outcome})
}

// within does the task within its budget of memory.
func within(limit int64, task func(context.Context) (any, error)) (outcome any, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	budget := memory.NewBudget(memory.Size(limit))
	budget.LargePages(budget.Limit())
	go budget.Enforce(ctx)
	err = budget.Do(ctx, func(ctx context.Context) (err error) {
		outcome, err = task(ctx)
		return err
	})
	return outcome, err
}

// listen passes answers on. Without a parent there is nothing left to do.
func (p *Parent) listen(packet []byte) {
	for {
		m, err := p.wire.receive(packet)
		if err != nil {
			os.Exit(1)
		}
		p.mu.Lock()
		answer := p.waiting[m.ID]
		delete(p.waiting, m.ID)
		p.mu.Unlock()
		if answer != nil {
			answer <- m
		}
	}
}

// Ask asks the parent and waits for its answer. The file that comes with the answer may be nil; the caller closes it.
func (p *Parent) Ask(ctx context.Context, q Question) (*os.File, error) {
	answer := make(chan message, 1)
	p.mu.Lock()
	p.last++
	id := p.last
	p.waiting[id] = answer
	p.mu.Unlock()
	if err := p.wire.send(message{Kind: kindAsk, ID: id, Name: q.Name, content: q.Input, file: q.File}); err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx) //nolint:wrapcheck // the caller's own
	case m := <-answer:
		if m.Fault != nil {
			return nil, m.Fault.err()
		}
		if q.Output == nil || len(m.Body) == 0 {
			return m.file, nil
		}
		if err := json.Unmarshal(m.Body, q.Output); err != nil {
			err = fmt.Errorf("sandbox: answer to %s: %w", q.Name, err)
			if m.file != nil {
				err = errors.Join(err, m.file.Close())
			}
			return nil, err
		}
		return m.file, nil
	}
}

// Progress tells the parent how far the task is.
func (p *Parent) Progress(percent int, stage string) {
	_ = p.wire.send(message{Kind: kindProgress, Percent: percent, Name: stage}) // listen notices a parent that is gone
}

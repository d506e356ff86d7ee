package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"heapdrift/internal/memory"
)

// Supported says that this system can run child processes.
const Supported = true

// self is this program even where its file has been replaced by a newer version.
const self = "/proc/self/exe"

// Run does the work in a process of its own. Its error is the task's, with an *evidence.Error or *memory.LimitError as
// what it was; a *ProcessError where the process ended before its task did; or the cause of ctx, which ends the process
// at once.
func (r *Runner) Run(ctx context.Context, work Work) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx) //nolint:wrapcheck // the caller's own
	}
	if !prepared.Load() {
		return errors.New("sandbox: the program does not call Main")
	}
	limit, release := r.ChildMemory, func() {}
	if limit == 0 {
		limit, release = memory.ReservePart(ctx, max(r.BudgetParts, 1))
	}
	defer release()
	c, err := r.start(ctx, work, limit)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, c.kill)
	defer stop()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		r.watch(c)
	}()
	err = c.serve(ctx)
	c.kill() // after its last message it has nothing left to do
	state := c.wait()
	close(c.over)
	<-watched
	c.answering.Wait()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx) //nolint:wrapcheck // the caller's own
	case !errors.Is(err, errGone):
		return err
	}
	return r.ended(c, state)
}

// errGone says that the child is gone without a last message.
var errGone = errors.New("sandbox: the process is gone")

// ended says why a child is gone.
func (r *Runner) ended(c *child, state *os.ProcessState) error {
	if e := c.stopped.Load(); e != nil {
		return e
	}
	if killed(state) && kills() > c.kills {
		return &memory.ShortageError{}
	}
	said := c.stderr.String()
	if r.Log != nil {
		r.Log.Error("sandbox: a process ended before its task did", "task", c.work.Task, "state", state.String(), "said", said)
	}
	if strings.Contains(said, "out of memory") || strings.Contains(said, "cannot allocate memory") {
		return &memory.LimitError{Limit: c.limit}
	}
	return &ProcessError{Code: CodeCrashed, Again: true, Said: strings.TrimSpace(state.String() + "\n" + said),
		Message: fmt.Sprintf("the process that %s %s", c.work.does(), endOf(state, said))}
}

// does is what a process was to do, as a clause without its subject.
func (w *Work) does() string { return cmp.Or(w.Does, "did the work") }

// endOf says how a process ended before its task did, as a clause without its subject.
func endOf(state *os.ProcessState, said string) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return fmt.Sprintf("was ended by signal %d (%s)", int(status.Signal()), status.Signal())
	}
	if why, where := panicOf(said); why != "" {
		if where != "" {
			where = ", in " + where
		}
		return "panicked: " + why + where
	}
	return "ended before it was through (" + state.String() + ")"
}

// kills counts the processes that the system has ended for lack of memory; tests have their own.
var kills = memory.SystemKills

// killed reports whether a process was ended without being asked.
func killed(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// A child is a process as its parent sees it.
type child struct {
	kills     int64 // of the system, before it began
	work      Work
	limit     memory.Size
	cmd       *exec.Cmd
	wire      *wire
	stderr    *tail
	over      chan struct{} // closed when it has ended
	answering sync.WaitGroup
	asked     atomic.Int64                 // questions that have no answer yet
	handed    atomic.Int64                 // bytes of files that it was given
	stopped   atomic.Pointer[ProcessError] // why the watch ended it
	failed    atomic.Pointer[error]        // the first answer that failed for reasons of this machine
}

// start starts a child and gives it its task.
func (r *Runner) start(ctx context.Context, work Work, limit memory.Size) (*child, error) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("sandbox: sockets: %w", err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "child")
	defer func() { _ = theirs.Close() }()
	w, err := newWire(os.NewFile(uintptr(pair[0]), "socket"))
	if err != nil {
		return nil, err
	}
	c := &child{kills: kills(), work: work, limit: limit, wire: w, stderr: &tail{}, over: make(chan struct{})}
	c.cmd = exec.CommandContext(context.WithoutCancel(ctx), self)
	c.cmd.Args = []string{os.Args[0], work.Task}
	c.cmd.Env = []string{childEnv + "=1", "TMPDIR=" + os.TempDir(), "GOTRACEBACK=single"}
	c.cmd.Dir = "/"
	c.cmd.Stderr = c.stderr
	c.cmd.ExtraFiles = []*os.File{theirs}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what stops the parent from a terminal does not stop it
	if err := c.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("sandbox: start a process: %w", err), w.conn.Close())
	}
	if err := w.send(message{Kind: kindTask, Name: work.Task, Limit: int64(limit), content: work.Input}); err != nil {
		c.kill()
		_ = c.wait()
		return nil, err
	}
	return c, nil
}

func (c *child) kill() { _ = c.cmd.Process.Kill() } // it may be gone already

func (c *child) wait() *os.ProcessState {
	_ = c.cmd.Wait() // how it ended is in its state
	_ = c.wire.conn.Close()
	return c.cmd.ProcessState
}

// serve serves the child until its last message, whose error it returns.
func (c *child) serve(ctx context.Context) error {
	packet := make([]byte, maxPacket)
	for {
		m, err := c.wire.receive(packet)
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) && ctx.Err() == nil {
				return err
			}
			return errGone
		}
		switch m.Kind {
		case kindProgress:
			if c.work.Progress != nil {
				c.work.Progress(m.Percent, m.Name)
			}
		case kindAsk:
			c.asked.Add(1)
			c.answering.Go(func() { c.answer(ctx, m) })
		case kindEnd:
			return c.end(m)
		}
		if m.file != nil && m.Kind != kindAsk {
			_ = m.file.Close()
		}
	}
}

// end takes the outcome of the task.
func (c *child) end(m message) error {
	if m.Fault != nil {
		if failed := c.failed.Load(); failed != nil && m.Fault.Refused == nil && m.Fault.Exceeded == 0 {
			return *failed // with what is behind it
		}
		return m.Fault.err()
	}
	if c.work.Outcome == nil || len(m.Body) == 0 {
		return nil
	}
	if err := json.Unmarshal(m.Body, c.work.Outcome); err != nil {
		return fmt.Errorf("sandbox: outcome of %s: %w", c.work.Task, err)
	}
	return nil
}

// answer answers a question.
func (c *child) answer(ctx context.Context, m message) {
	defer c.asked.Add(-1)
	output, give, err := c.reply(ctx, m)
	if err != nil {
		if f := faultOf(err); f.Refused == nil && f.Exceeded == 0 {
			c.failed.CompareAndSwap(nil, &err)
		}
	}
	var file *os.File
	if give != nil {
		file = give.File
		if info, err := file.Stat(); err == nil {
			c.handed.Add(info.Size())
		}
	}
	_ = c.wire.send(message{Kind: kindAnswer, ID: m.ID, Fault: faultOf(err), content: output, file: file}) // a child that is gone needs none
	_ = give.close()                                                                                       // read only
}

func (c *child) reply(ctx context.Context, m message) (output any, give *File, err error) {
	if m.file != nil {
		defer func() { _ = m.file.Close() }()
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("sandbox: answer to %s: panic: %v", m.Name, p)
		}
	}()
	answer := c.work.Answers[m.Name]
	if answer == nil {
		return nil, nil, fmt.Errorf("sandbox: nobody answers %q", m.Name)
	}
	return answer(ctx, m.Body, m.file)
}

// look is how often the watch looks at a child.
const look = 100 * time.Millisecond

// watch ends a child that takes more than it may.
func (r *Runner) watch(c *child) {
	limit, perMegabyte, still := or(r.TaskTime, DefaultTime), or(r.TimePerMegabyte, DefaultPerMegabyte),
		or(r.MaxStill, DefaultStill)
	tick := time.NewTicker(look)
	defer tick.Stop()
	var last time.Duration
	moved := time.Now()
	for {
		select {
		case <-c.over:
			return
		case <-tick.C:
		}
		used, err := processorTime(c.cmd.Process.Pid)
		if err != nil {
			continue // it ends
		}
		if used != last || c.asked.Load() > 0 {
			last, moved = used, time.Now()
		}
		may := limit + time.Duration(float64(perMegabyte)*float64(c.handed.Load())/(1<<20))
		switch {
		case used > may:
			c.stop(r.Log, &ProcessError{Code: CodeExpensive,
				Message: fmt.Sprintf("the process that %s took more than %s of processor time, far more than files of this size need; it was ended",
					c.work.does(), may.Round(time.Second))})
		case time.Since(moved) > still:
			c.stop(r.Log, &ProcessError{Code: CodeStuck, Again: true,
				Message: fmt.Sprintf("the process that %s stood still for %s; it was ended", c.work.does(), still)})
		}
	}
}

func (c *child) stop(log *slog.Logger, e *ProcessError) {
	if c.stopped.CompareAndSwap(nil, e) {
		if log != nil {
			log.Warn("sandbox: ended a process", "task", c.work.Task, "code", e.Code, "why", e.Message)
		}
		c.kill()
	}
}

func or(d, fallback time.Duration) time.Duration {
	if d <= 0 {
		return fallback
	}
	return d
}

package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// shutdownTimeout is how long the server may take for its last checkpoint before it is stopped without one. Tests are
// less patient.
var shutdownTimeout = 30 * time.Second

const (
	// immediateTimeout is how long the server may take to end without a checkpoint. It waits 5 s for its children before
	// it kills them.
	immediateTimeout = 10 * time.Second
	// killTimeout is how long a process may take to die.
	killTimeout = 5 * time.Second
)

// command prepares one of PostgreSQL's programs: it runs as the server's account, dies with us, and gets of the
// environment only what programs need to run, none of our secrets and no PG variables.
func (p *Postgres) command(ctx context.Context, onDeath syscall.Signal, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = workDir
	cmd.WaitDelay = killTimeout // initdb's own children hold its output
	cmd.Env = []string{"LC_ALL=C"}
	for _, name := range []string{"PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TZDIR", "SYSTEMROOT", "TEMP", "TMP"} {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	tie(cmd, p.account, onDeath)
	return cmd
}

// run runs a command to its end and returns what it says.
func run(cmd *exec.Cmd) (string, error) {
	runtime.LockOSThread() // the signal of tie comes when the thread ends that started the process
	defer runtime.UnlockOSThread()
	output, err := cmd.CombinedOutput()
	text := strings.TrimSpace(string(output))
	if err != nil && text != "" {
		err = fmt.Errorf("%w: %s", err, lastLines(text))
	}
	return text, err
}

// A process is the server.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	end  func() string // what its log says at the end

	mu       sync.Mutex
	stopping bool
	err      error
}

// startProcess starts the server and watches it.
func startProcess(cmd *exec.Cmd, end func() string) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{}), end: end}
	started := make(chan error)
	go func() {
		// Kept for the server's life and given up with it: see run.
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.ended(cmd.Wait())
		}
	}()
	return p, <-started
}

func (p *process) ended(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopping {
		if err == nil {
			err = errors.New("somebody shut it down")
		}
		p.err = fmt.Errorf("the server ended by itself: %w; %s", err, p.end())
	}
	close(p.done)
}

func (p *process) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// stop ends the server: with a checkpoint, and if that takes too long without, which its next start makes up for.
func (p *process) stop() error {
	p.mu.Lock()
	p.stopping = true
	p.mu.Unlock()
	for _, step := range []struct {
		signal os.Signal
		wait   time.Duration
	}{{fastShutdown, shutdownTimeout}, {immediateShutdown, immediateTimeout}, {os.Kill, killTimeout}} {
		if err := p.cmd.Process.Signal(step.signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("stop the server: %w", err)
		}
		select {
		case <-p.done:
			return p.failure()
		case <-time.After(step.wait):
		}
	}
	return fmt.Errorf("the server, process %d, does not end", p.cmd.Process.Pid)
}

// lastLines makes one line of the end of a text.
func lastLines(text string) string {
	const most = 5
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.Join(lines[max(0, len(lines)-most):], " | ")
}

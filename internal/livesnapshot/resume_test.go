package livesnapshot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"heapdrift/ingest/minidump"
)

// The process goes on when the context ends, wherever that is, and the error is the context's.
func TestContextEnds(t *testing.T) {
	s, _ := taken(t, victim(t))
	reads := s.cost().Reads
	for n := int64(1); n <= reads; n += max(1, reads/20) {
		target, ctx := victim(t), t.Context()
		ctx, end := context.WithCancelCause(ctx)
		cause := errors.New("Ctrl C")
		var done atomic.Int64
		target.read = func(p []byte, addr uint64) (int, error) {
			if done.Add(1) == n {
				end(cause)
			}
			return target.dump.Memory().ReadMemory(p, addr)
		}
		_, err := newSession(target, 42, &Options{}).take(ctx)
		if target.resumed.Load() != 1 || err != nil && !errors.Is(err, cause) || err == nil && n < reads*9/10 {
			t.Errorf("at read %d of %d: resumed %d times, %v", n, reads, target.resumed.Load(), err)
		}
		end(nil)
	}
}

// Without a resumer the process is read, and the cost says so.
func TestUnguarded(t *testing.T) {
	target := victim(t)
	target.unguarded = errors.New("no memory for a process")
	s := newSession(target, 42, &Options{})
	if _, err := s.take(t.Context()); err != nil || !errors.Is(s.cost().Unguarded, target.unguarded) || target.resumed.Load() != 1 {
		t.Errorf("%v: %+v", err, s.cost())
	}
}

// The process goes on before a panic in this goroutine leaves Take.
func TestPanicResumes(t *testing.T) {
	target := victim(t)
	target.query = func(uint64) (minidump.Region, error) { panic("a bug") }
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_, _ = newSession(target, 42, &Options{}).take(t.Context())
	}()
	if target.resumed.Load() != 1 {
		t.Errorf("resumed %d times", target.resumed.Load())
	}
}

// A panic in a goroutine that walks heaps ends the program, and the process goes on before.
func TestPanicOfAWalkerResumes(t *testing.T) {
	const child = "LIVESNAPSHOT_PANIC"
	if os.Getenv(child) != "" {
		target := victim(t)
		s, _ := taken(t, target)
		last := s.cost().Reads / 2
		var reads atomic.Int64
		target.read = func(p []byte, addr uint64) (int, error) {
			if reads.Add(1) == last {
				panic("a bug")
			}
			return target.dump.Memory().ReadMemory(p, addr)
		}
		target.onResume = func() { fmt.Println("resumed") }
		_, _ = newSession(target, 42, &Options{}).take(t.Context())
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPanicOfAWalkerResumes$")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "resumed\n") || !strings.Contains(string(out), "panic: a bug") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A refusing is a target that refuses.
type refusing struct{ *dumpTarget }

func (r refusing) Suspend() error { return errors.New("access denied") }

// A process that cannot be suspended is not read, and not resumed either: somebody else may have suspended it.
func TestSuspendRefused(t *testing.T) {
	target := victim(t)
	_, err := newSession(refusing{target}, 42, &Options{}).take(t.Context())
	var refused *Error
	if !errors.As(err, &refused) || refused.Code != CodeSuspend || refused.Do == "" || target.resumed.Load() != 0 {
		t.Errorf("resumed %d times, %v", target.resumed.Load(), err)
	}
}

// A cloning is a target with a clone, whose own memory is not read after it goes on.
type cloning struct {
	*dumpTarget
	t *testing.T
}

func (c cloning) Clone() (space, error) { return c.dumpTarget, nil }

func (c cloning) ReadMemory([]byte, uint64) (int, error) {
	c.t.Error("the process was read although there is a clone")
	return 0, nil
}

// With a clone the process goes on before anything is read.
func TestClone(t *testing.T) {
	target := victim(t)
	_, want := taken(t, victim(t))
	var early atomic.Int64
	target.read = func(p []byte, addr uint64) (int, error) {
		if target.resumed.Load() == 0 {
			early.Add(1)
		}
		return target.dump.Memory().ReadMemory(p, addr)
	}
	s, got := taken(t, cloning{target, t})
	sameBlocks(t, got, want)
	if cost := s.cost(); !cost.Cloned || early.Load() > 0 || target.resumed.Load() != 1 ||
		cost.Pause <= 0 || cost.BytesRead == 0 ||
		!strings.Contains(cost.String(), "from a clone") {
		t.Errorf("%d reads while it was suspended, resumed %d times, %#v", early.Load(), target.resumed.Load(), cost)
	}
}

// A pause that ends in the middle of cloning costs nothing: the clone is whole.
func TestLimitWhileCloning(t *testing.T) {
	target := cloning{victim(t), t}
	s := newSession(target, 42, &Options{PauseLimit: time.Hour})
	s.pause.after = func(_ time.Duration, f func()) func() bool {
		go f()
		return func() bool { return true }
	}
	c, err := s.take(t.Context())
	if err != nil || c.Snapshots[0].LowerBound || target.resumed.Load() != 1 {
		t.Errorf("resumed %d times, %v", target.resumed.Load(), err)
	}
}

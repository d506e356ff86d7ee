//go:build linux

package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	seccomp "github.com/elastic/go-seccomp-bpf"

	"heapdrift/ingest/evidence"
	"heapdrift/internal/await"
	"heapdrift/internal/memory"
	"heapdrift/internal/sandbox"
	"heapdrift/internal/tempfile"
)

func TestMain(m *testing.M) {
	sandbox.Main(tasks)
	os.Exit(m.Run())
}

var tasks = map[string]sandbox.Task{
	"double": func(ctx context.Context, p *sandbox.Parent, input json.RawMessage) (any, error) {
		var n int
		if err := json.Unmarshal(input, &n); err != nil {
			return nil, err
		}
		p.Progress(50, "doubling")
		return 2 * n, nil
	},
	"ask": func(ctx context.Context, p *sandbox.Parent, input json.RawMessage) (any, error) {
		var all sync.WaitGroup
		answers := make([]string, 20)
		errs := make([]error, 20)
		for i := range answers {
			all.Go(func() {
				var f *os.File
				if f, errs[i] = p.Ask(ctx, sandbox.Question{Name: "file", Input: i}); errs[i] == nil {
					var b []byte
					b, errs[i] = io.ReadAll(f)
					answers[i] = string(b)
				}
			})
		}
		all.Wait()
		return answers, errors.Join(errs...)
	},
	"give": func(ctx context.Context, p *sandbox.Parent, input json.RawMessage) (any, error) {
		f, err := tempfile.New("heapdrift-test-")
		if err != nil {
			return nil, err
		}
		if _, err := f.WriteString("made in a child"); err != nil {
			return nil, err
		}
		_, err = p.Ask(ctx, sandbox.Question{Name: "take", Input: strings.Repeat("long ", 100_000), File: f})
		return nil, err
	},
	"refuse": func(context.Context, *sandbox.Parent, json.RawMessage) (any, error) {
		return nil, fmt.Errorf("reading: %w", &evidence.Error{Code: "bad", File: "a.etl", Message: "it is bad", Do: "mend it",
			Line: 3, Err: errors.New("the cause")})
	},
	"full": func(context.Context, *sandbox.Parent, json.RawMessage) (any, error) {
		return nil, fmt.Errorf("reading: %w", &fs.PathError{Op: "write", Path: "/tmp/heapdrift-x", Err: syscall.ENOSPC})
	},
	"refuse for a broken disk": func(context.Context, *sandbox.Parent, json.RawMessage) (any, error) {
		return nil, &evidence.Error{Code: "bad", Message: "it is bad", Err: syscall.EIO}
	},
	"open too many files": func(context.Context, *sandbox.Parent, json.RawMessage) (any, error) {
		return nil, fmt.Errorf("reading: %w", syscall.EMFILE)
	},
	"fail": func(ctx context.Context, p *sandbox.Parent, _ json.RawMessage) (any, error) {
		_, err := p.Ask(ctx, sandbox.Question{Name: "broken"})
		return nil, fmt.Errorf("child: %w", err)
	},
	"panic": func(context.Context, *sandbox.Parent, json.RawMessage) (any, error) {
		var all sync.WaitGroup
		all.Go(func() { panic("in a goroutine") })
		all.Wait()
		return nil, nil
	},
	"spin": func(ctx context.Context, p *sandbox.Parent, _ json.RawMessage) (any, error) {
		for n := 0; ; n++ {
		}
	},
	"still": func(context.Context, *sandbox.Parent, json.RawMessage) (any, error) { select {} },
	"eat": func(ctx context.Context, _ *sandbox.Parent, _ json.RawMessage) (any, error) {
		var kept [][]byte
		for ctx.Err() == nil {
			b := make([]byte, 1<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			kept = append(kept, b)
		}
		return len(kept), context.Cause(ctx)
	},
	"gulp": func(context.Context, *sandbox.Parent, json.RawMessage) (any, error) { // in one step, before anybody looks
		b := make([]byte, 64<<30)
		return len(b), nil
	},
	"look around": func(context.Context, *sandbox.Parent, json.RawMessage) (any, error) {
		_, dialed := net.Dial("udp", "127.0.0.1:9")
		ran := exec.Command("/bin/true").Run()
		return map[string]string{"dial": fmt.Sprint(dialed), "run": fmt.Sprint(ran),
			"env": strings.Join(os.Environ(), " ")}, nil
	},
}

func run(t *testing.T, r *sandbox.Runner, w sandbox.Work) error {
	t.Helper()
	return r.Run(t.Context(), w)
}

func TestOutcomeAndProgress(t *testing.T) {
	var got int
	var heard []string
	err := run(t, &sandbox.Runner{},
		sandbox.Work{Task: "double", Input: 21, Outcome: &got,
			Progress: func(p int, s string) { heard = append(heard, fmt.Sprint(p, s)) }})
	if err != nil || got != 42 || len(heard) != 1 || heard[0] != "50doubling" {
		t.Errorf("%d, %v, %v", got, heard, err)
	}
}

func TestFilesGoBothWays(t *testing.T) {
	var got []string
	err := run(t, &sandbox.Runner{},
		sandbox.Work{Task: "ask", Outcome: &got,
			Answers: map[string]sandbox.Answer{"file": func(_ context.Context, in json.RawMessage, _ *os.File) (any,
				*sandbox.File, error) {
				f, err := tempfile.New("heapdrift-test-")
				if err != nil {
					return nil, nil, err
				}
				_, err = f.WriteString("file " + string(in))
				if err == nil {
					_, err = f.Seek(0, io.SeekStart)
				}
				return nil, &sandbox.File{File: f}, err
			}}})
	if err != nil || len(got) != 20 || got[7] != "file 7" {
		t.Errorf("%q, %v", got, err)
	}
	var content string
	var long string
	err = run(t, &sandbox.Runner{},
		sandbox.Work{Task: "give",
			Answers: map[string]sandbox.Answer{"take": func(_ context.Context, in json.RawMessage, f *os.File) (any,
				*sandbox.File, error) {
				b, err := io.ReadAll(io.NewSectionReader(f, 0, 100))
				content = string(b)
				return nil, nil, errors.Join(err, json.Unmarshal(in, &long))
			}}})
	if err != nil || content != "made in a child" || len(long) != 500_000 {
		t.Errorf("%q, %d bytes, %v", content, len(long), err)
	}
}

func TestErrorsStayWhatTheyAre(t *testing.T) {
	err := run(t, &sandbox.Runner{}, sandbox.Work{Task: "refuse"})
	var refused *evidence.Error
	if !errors.As(err, &refused) || refused.Error() != "a.etl: it is bad (line 3): the cause; mend it" ||
		refused.Code != "bad" {
		t.Errorf("%v", err)
	}
	away := errors.New("the database is away")
	err = run(t, &sandbox.Runner{},
		sandbox.Work{Task: "fail",
			Answers: map[string]sandbox.Answer{"broken": func(context.Context, json.RawMessage, *os.File) (any, *sandbox.File,
				error) {
				return nil, nil, away
			}}})
	if !errors.Is(err, away) {
		t.Errorf("%v", err)
	}
	if err := run(t, &sandbox.Runner{}, sandbox.Work{Task: "nothing"}); err == nil {
		t.Error("a task that nobody knows")
	}
}

func TestWhatEndsAProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for task, test := range map[string]struct {
		runner *sandbox.Runner
		want   string
	}{
		"panic": {&sandbox.Runner{TaskTime: time.Hour}, sandbox.CodeCrashed},
		"spin":  {&sandbox.Runner{TaskTime: 3 * time.Second}, sandbox.CodeExpensive},
		"still": {&sandbox.Runner{TaskTime: time.Hour, MaxStill: 3 * time.Second}, sandbox.CodeStuck},
	} {
		var ended *sandbox.ProcessError
		if err := run(t, test.runner, sandbox.Work{Task: task}); !errors.As(err, &ended) || ended.Code != test.want {
			t.Errorf("%s: %v, want %s", task, err, test.want)
		}
	}
	err := run(t, &sandbox.Runner{}, sandbox.Work{Task: "panic", Does: "made the report"})
	if want := "the process that made the report panicked: in a goroutine"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	for _, task := range []string{"eat", "gulp"} {
		if task == "gulp" && underRace {
			continue
		}
		var exceeded *memory.LimitError
		if err := run(t, &sandbox.Runner{ChildMemory: 64 << 20, TaskTime: time.Hour}, sandbox.Work{Task: task}); !errors.As(err,
			&exceeded) || exceeded.Limit != 64<<20 {
			t.Errorf("%s: %v", task, err)
		}
	}
}

func TestContextEndsTheProcess(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	left := errors.New("the client left")
	time.AfterFunc(200*time.Millisecond, func() { cancel(left) })
	if err := (&sandbox.Runner{}).Run(ctx, sandbox.Work{Task: "spin"}); !errors.Is(err, left) {
		t.Errorf("%v", err)
	}
}

func TestConfined(t *testing.T) {
	if !seccomp.Supported() {
		t.Skip("this kernel has no filters of system calls")
	}
	t.Setenv("HEAPDRIFT_DATABASE_URL", "postgres://somebody")
	var got map[string]string
	if err := run(t, &sandbox.Runner{}, sandbox.Work{Task: "look around", Outcome: &got}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got["dial"], "operation not permitted") ||
		!strings.Contains(got["run"], "operation not permitted") || strings.Contains(got["env"], "postgres") {
		t.Errorf("%v", got)
	}
}

// An error of the machine is one behind the process, too, with its text and its file. The limits of a child are its own.
func TestErrorsOfTheMachine(t *testing.T) {
	for task, want := range map[string]syscall.Errno{
		"full": syscall.ENOSPC, "refuse for a broken disk": syscall.EIO, "open too many files": 0,
	} {
		err := new(sandbox.Runner).Run(t.Context(), sandbox.Work{Task: task})
		var number syscall.Errno
		if errors.As(err, &number); err == nil || number != want {
			t.Errorf("%s: %v with %d, want %d", task, err, number, want)
		}
		var failed *fs.PathError
		if errors.As(err, &failed); task == "full" && (failed == nil || failed.Path != "/tmp/heapdrift-x" ||
			err.Error() != "reading: write /tmp/heapdrift-x: no space left on device") {
			t.Errorf("%v of %v", err, failed)
		}
	}
}

// A process that the system ends for lack of memory is not the file's fault. One that is killed otherwise may be.
func TestKilledForLackOfMemory(t *testing.T) {
	for _, ended := range []int64{0, 1} {
		sandbox.SetKills(t, func(asked int64) int64 { return ended * asked })
		ctx, work := t.Context(), sandbox.Work{Task: "still"}
		killed := make(chan struct{})
		go func() {
			defer close(killed)
			await.Until(t, "the child", func() bool { return sandbox.KillChildren(t) > 0 })
		}()
		err := new(sandbox.Runner).Run(ctx, work)
		<-killed
		var short *memory.ShortageError
		var crashed *sandbox.ProcessError
		if errors.As(err, &short) != (ended > 0) || errors.As(err, &crashed) != (ended == 0) {
			t.Errorf("%d processes ended for lack of memory: %T %v", ended, err, err)
		}
		if crashed != nil && (!strings.Contains(crashed.Said, "signal: killed") ||
			crashed.Message != "the process that did the work was ended by signal 9 (killed)") {
			t.Errorf("operators read %q, users %q", crashed.Said, crashed.Message)
		}
	}
}

package record_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"heapdrift/internal/record"
	"heapdrift/internal/record/collect"
	"heapdrift/internal/record/flags/flagstest"
	"heapdrift/internal/record/target"
	"heapdrift/internal/record/target/targettest"
)

// A fake is a machine in memory that notes what happens to it, in order.
type fake struct {
	registry flagstest.Registry
	system   targettest.System
	dir      string
	fail     map[string]error // of a snapshot or a tool, by its name
	taken    func(n int)      // after the n-th snapshot; nil for nobody

	mu     sync.Mutex
	events []string
	shots  int
	out    strings.Builder
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{dir: t.TempDir(), fail: map[string]error{}}
	f.registry.Changed = func(what string) {
		if undos, _ := filepath.Glob(filepath.Join(f.undoFolder(), "*.json")); len(undos) == 0 {
			what += " without an undo file"
		}
		f.note("%s", what)
	}
	f.system.Starting = func(image string) error {
		f.note("start %s", image)
		return f.fail["start"]
	}
	// The recorder is a process of the machine as well.
	f.system.Add(target.Info{PID: uint32(os.Getpid()), Image: "heapdrift.exe", Started: time.Unix(1, 0)})
	if err := os.WriteFile(f.program(), []byte("program"), 0o600); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fake) undoFolder() string { return filepath.Join(f.dir, "undo") }
func (f *fake) program() string    { return filepath.Join(f.dir, "heapdrift.exe") }
func (f *fake) folder() string     { return filepath.Join(f.dir, "recording") }

func (f *fake) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, fmt.Sprintf(format, args...))
}

// history is what happened so far.
func (f *fake) history() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.events)
}

// Write takes what the recorder says.
func (f *fake) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out.Write(b)
}

func (f *fake) said() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out.String()
}

// snapshot is the program's own reader of heaps.
func (f *fake) snapshot(ctx context.Context, p target.Info, path string, work *float64) (collect.Cost, error) {
	if err := f.fail["snapshot"]; err != nil {
		return collect.Cost{}, err
	}
	f.mu.Lock()
	f.shots++
	n := f.shots
	f.mu.Unlock()
	text := fmt.Sprintf("snapshot %d", n)
	if work != nil {
		text += fmt.Sprintf(" work %g", *work)
	}
	f.note("%s", text)
	if f.taken != nil {
		f.taken(n)
	}
	return collect.Cost{Pause: 5 * time.Millisecond, Bytes: 8}, errors.Join(ctx.Err(), os.WriteFile(path, []byte("snapshot"), 0o600))
}

// run runs a tool.
func (f *fake) run(_ context.Context, program string, args ...string) (string, error) {
	name := filepath.Base(program) + " " + args[0]
	f.note("%s", name)
	if err := f.fail[name]; err != nil {
		return "the tool says why", err
	}
	if args[0] == "-stop" {
		return "", os.WriteFile(args[1], []byte("trace"), 0o600)
	}
	if path, isLog := strings.CutPrefix(args[len(args)-1], "-f:"); isLog {
		return "", os.WriteFile(path, []byte("log"), 0o600)
	}
	return "", nil
}

// recorder records on the machine.
func (f *fake) recorder(o record.Options) *record.Recorder {
	if o.Dir == "" {
		o.Dir = f.folder()
	}
	if o.Evidence == "" {
		o.Evidence = collect.Heap
	}
	if o.Every == 0 {
		o.Every = time.Minute
	}
	o.UndoAfter, o.DatabaseMB = 24*time.Hour, 256
	return &record.Recorder{Options: o, Version: "1.2.3", Out: f, Machine: record.Machine{
		Processes: &f.system, Registry: &f.registry, UndoFolder: f.undoFolder(), Program: f.program(),
		MakeFolder: func(dir string) error { return os.MkdirAll(dir, 0o700) },
		Tools: collect.Tools{Run: f.run, HeapReader: f.snapshot,
			Find: func(name string, _ int) (string, error) { return name, nil }},
	}}
}

// record plans and records.
func (f *fake) record(ctx context.Context, o record.Options) (*record.Recording, error) {
	r := f.recorder(o)
	plan, err := r.Plan()
	if err != nil {
		return nil, err
	}
	return r.Run(ctx, plan)
}

// app is the program that most tests start.
func app() record.Target { return record.Target{Command: []string{"app.exe", "x"}} }

// expect compares what happened with what should have.
func (f *fake) expect(t *testing.T, want ...string) {
	t.Helper()
	if got := f.history(); !slices.Equal(got, want) {
		t.Errorf("happened:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// untouched checks that the machine is as before.
func (f *fake) untouched(t *testing.T) {
	t.Helper()
	if got := f.registry.String(); got != "" {
		t.Errorf("settings left:\n%s", got)
	}
	if left, _ := filepath.Glob(filepath.Join(f.undoFolder(), "*")); len(left) > 0 {
		t.Errorf("files left: %q", left)
	}
}

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heapdrift/ingest/umdh/umdhtest"
	"heapdrift/internal/memory"
	"heapdrift/internal/queue"
)

// A command that needs more memory than its budget ends with a sentence and the exit code for input that cannot be
// read; nothing is written.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	dir := t.TempDir()
	log, output := filepath.Join(dir, "large.txt"), filepath.Join(dir, "report.json")
	writeStacks(t, log, 30_000)
	args := []string{"analyze", "--format", "json", "-o", output, log}
	_, errOut, code := cli(t, append([]string{args[0], "--memory", "24M"}, args[1:]...)...)
	if code != exitInput || !strings.Contains(errOut, "24M") || !strings.Contains(errOut, "HEAPDRIFT_MEMORY") {
		t.Errorf("exit %d, %s", code, errOut)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%v is left", left)
	}
	t.Setenv(memoryEnv, "24M")
	if _, errOut, code = cli(t, args...); code != exitInput || !strings.Contains(errOut, "24M") {
		t.Errorf("by the environment: exit %d, %s", code, errOut)
	}
	if _, errOut, code = cli(t, append([]string{args[0], "--memory", "2G"}, args[1:]...)...); code != exitInconclusive {
		t.Errorf("with enough: exit %d, %s", code, errOut)
	}
	t.Setenv(memoryEnv, "little")
	if _, errOut, code = cli(t, args...); code != exitUsage || !strings.Contains(errOut, memoryEnv) {
		t.Errorf("no size: exit %d, %s", code, errOut)
	}
	if out, _, code := cli(t, "help", "env"); code != exitOK || !strings.Contains(out, memoryEnv) {
		t.Errorf("help: exit %d, %s", code, out)
	}
	if _, errOut, code = cli(t, "analyze", "--memory", "1M", log); code != exitUsage || !strings.Contains(errOut, "16M") {
		t.Errorf("too little: exit %d, %s", code, errOut)
	}
}

// writeStacks writes a log of so many stacks, each with frames and a block of its own.
func writeStacks(t *testing.T, path string, n int) {
	t.Helper()
	p, snapshot := &umdhtest.Process{PID: 7, UMDHVersion: "10.0.19041.1"}, &umdhtest.Snapshot{}
	heap := umdhtest.Heap{Handle: 0x10000}
	for i := range n {
		stack := umdhtest.Stack{ID: uint64(0x1000 + i)}
		for k := range 8 {
			stack.Frames = append(stack.Frames, umdhtest.Frame{Address: 0x7FF6_0000_0000 + uint64(8*i+k)*16})
		}
		p.Stacks = append(p.Stacks, stack)
		heap.Blocks = append(heap.Blocks, umdhtest.Block{Address: 0x20000 + uint64(i)*64, Requested: 32, Stack: int32(i)})
	}
	snapshot.Heaps = append(snapshot.Heaps, heap)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.WriteSnapshot(f, snapshot); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// A job that needs more than the budget by itself fails for good, with a code; a job that needs less is not affected.
func TestJobsWithinBudget(t *testing.T) {
	budget := memory.NewBudget(1 << 40)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		budget.Enforce(ctx)
	}()
	defer func() {
		stop()
		<-ended
	}()
	handlers := withinBudget(budget, map[string]queue.Handler{
		"small": func(ctx context.Context, _ *queue.Job) error { return ctx.Err() },
		"large": func(ctx context.Context, _ *queue.Job) error {
			budget.SetLimit(1) // the program always holds more than this
			<-ctx.Done()
			return ctx.Err()
		},
	})
	if err := handlers["small"](ctx, nil); err != nil {
		t.Error(err)
	}
	var failed *queue.Error
	if err := handlers["large"](ctx, nil); !errors.As(err, &failed) || failed.Code != memory.Code || !failed.Final ||
		strings.Contains(failed.Message, "again") {
		t.Errorf("%+v", failed)
	}
}

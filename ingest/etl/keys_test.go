package etl_test

import (
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"heapdrift/ingest/etl"
	"heapdrift/ingest/etl/etltest"
)

// byteCounter counts the bytes that are read.
type byteCounter struct {
	io.ReaderAt
	bytes atomic.Int64
}

func (c *byteCounter) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(b, at)
	c.bytes.Add(int64(n))
	return n, err
}

// TestPassesOverKeys reads a trace once where keys are defined at its end, and twice where they are given out again.
func TestPassesOverKeys(t *testing.T) {
	const stacks = 60
	for name, c := range map[string]struct{ room, passes int }{"all defined at the end": {1000, 1},
		"given out again": {8, 2}} {
		t.Run(name, func(t *testing.T) {
			file, err := os.Create(filepath.Join(t.TempDir(), "keys.etl"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = file.Close() }()
			if _, err := etltest.Large(file, 1, etltest.Format{Keys: c.room},
				etltest.LargeSize{Allocs: 20_000, Stacks: stacks, Live: 100}); err != nil {
				t.Fatal(err)
			}
			info, err := file.Stat()
			if err != nil {
				t.Fatal(err)
			}
			source := &byteCounter{ReaderAt: file}
			trace, err := etl.Open(t.Context(), []etl.Source{{Name: name, ReaderAt: source, Size: info.Size()}}, etl.Options{})
			if err != nil {
				t.Fatal(err)
			}
			source.bytes.Store(0)
			ids := map[etl.StackID]bool{}
			joined, err := trace.Operations(t.Context(), etl.JoinOptions{}, func(o *etl.Operation) error {
				if o.Kind == etl.KindHeapAlloc {
					ids[o.Stack] = true
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(ids) != stacks || joined.KeysLost != 0 {
				t.Errorf("%d stacks have %d ids, and %d keys are lost", stacks, len(ids), joined.KeysLost)
			}
			for id := range ids {
				if joined.Stacks.Canonical(id) != id {
					t.Errorf("stack %d is another, too", id)
				}
			}
			if passes := float64(source.bytes.Load()) / float64(info.Size()); passes < float64(c.passes)-0.1 ||
				passes > float64(c.passes)+0.1 {
				t.Errorf("the file is read %.2f times, want %d", passes, c.passes)
			}
		})
	}
}

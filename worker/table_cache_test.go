package worker

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

// countedBlob is a blob that must be closed once, and not while it is used.
type countedBlob struct {
	users  atomic.Int32
	closed atomic.Int32
	t      *testing.T
}

func (c *countedBlob) Close() error {
	if c.closed.Add(1) > 1 || c.users.Load() > 0 {
		c.t.Errorf("closed %d times, %d users", c.closed.Load(), c.users.Load())
	}
	return nil
}

// Many users ask for more tables than stay open: each table is open at most once at a time, and is closed once, and
// never while it is used.
func TestTablesStayOpenWhileTheyAreUsed(t *testing.T) {
	w := &WindowAnswers{}
	var mu sync.Mutex
	var blobs []*countedBlob
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			for range 300 {
				key := tableKey{run: rng.Int64N(7)}
				table, err := w.tables.enter(t.Context(), key, func() (*openTable, error) {
					if rng.IntN(10) == 0 {
						return nil, errors.ErrUnsupported
					}
					blob := &countedBlob{t: t}
					mu.Lock()
					defer mu.Unlock()
					blobs = append(blobs, blob)
					return &openTable{key: key, blob: blob}, nil
				})
				if errors.Is(err, errors.ErrUnsupported) {
					continue
				}
				if err != nil || table.key != key {
					t.Error(table, err)
					return
				}
				blob := table.blob.(*countedBlob)
				blob.users.Add(1)
				if blob.closed.Load() > 0 {
					t.Error("a closed table is used")
				}
				blob.users.Add(-1)
				w.tables.leave(table)
			}
		})
	}
	wait.Wait()
	if n := len(w.tables.tables); n > maxOpenTables {
		t.Errorf("%d tables are open", n)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	for _, blob := range blobs {
		if blob.closed.Load() != 1 {
			t.Errorf("a table was closed %d times", blob.closed.Load())
		}
	}
}

func TestWaitingForATableEndsWithTheContext(t *testing.T) {
	var c tableCache
	opening, leave := make(chan struct{}), make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		_, err := c.enter(t.Context(), tableKey{}, func() (*openTable, error) {
			close(opening)
			<-leave
			return &openTable{blob: &countedBlob{t: t}}, nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-opening
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.enter(ctx, tableKey{}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(leave)
	wait.Wait()
	if _, err := c.enter(ctx, tableKey{}, nil); err != nil { // the table is open now
		t.Error(err)
	}
}

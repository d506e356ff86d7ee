package testdb

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
)

// An admin runs statements outside of all tests' databases, one at a time: logging in costs as much as most statements
// do. Their context is not that of a test, which is over when its database is dropped.
type admin struct {
	server *server
	mutex  sync.Mutex
	conn   *pgx.Conn // nil before the first statement and after one that failed
}

func (a *admin) run(statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.conn == nil {
		conn, err := pgx.Connect(ctx, a.server.url("postgres"))
		if err != nil {
			return fmt.Errorf("testdb: %w", err)
		}
		a.conn = conn
	}
	if _, err := a.conn.Exec(ctx, statement); err != nil {
		_ = a.conn.Close(ctx)
		a.conn = nil
		return fmt.Errorf("testdb: %s: %w", statement, err)
	}
	return nil
}

func (a *admin) close() {
	if a.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	_ = a.conn.Close(ctx) // the server goes anyway
}

// A dropper drops databases beside the next tests. PostgreSQL waits 100 ms where a connection that a test has closed is
// not gone yet.
type dropper struct {
	admin
	once    sync.Once
	waiting chan string
	failed  chan error // one, when all are dropped
}

// most is how many databases may wait: each takes 8 MB of memory.
const most = 8

// drop drops a database that is of no more use to a test. A test that forgot a connection shall not spoil the next.
func (d *dropper) drop(database, test string) {
	d.once.Do(func() {
		d.waiting, d.failed = make(chan string, most), make(chan error, 1)
		go d.work()
	})
	d.waiting <- "drop database " + database + " with (force) -- of " + test
}

func (d *dropper) work() {
	var failed error
	for statement := range d.waiting {
		failed = errors.Join(failed, d.run(statement))
	}
	d.failed <- failed
}

// wait waits until all databases are dropped.
func (d *dropper) wait() error {
	if d.waiting == nil {
		return nil
	}
	close(d.waiting)
	defer d.close()
	return <-d.failed
}

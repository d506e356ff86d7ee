package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"heapdrift/internal/await"
	"heapdrift/internal/embedded"
	"heapdrift/internal/testdb"
)

var (
	errAway  = errors.New("away")
	errWrong = errors.New("wrong password")
)

func isAway(err error) bool { return errors.Is(err, errAway) }

// A log is written by a command and read by its test.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A service is asked every second; the log says every five seconds that it is waited for, and then that it answers.
func TestWait(t *testing.T) {
	for what, test := range map[string]struct {
		fails      int
		err        error
		said, took int // sentences and seconds
	}{
		"it answers at once":             {0, nil, 0, 0},
		"after a second":                 {1, errAway, 1, 1},
		"before the second sentence":     {5, errAway, 1, 5},
		"after the second sentence":      {6, errAway, 2, 6},
		"after a quarter of an hour":     {900, errAway, 180, 900},
		"waiting does not mend an error": {1, errWrong, 0, 0},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log logBuffer
				began, asked := time.Now(), 0
				s := service{"PostgreSQL", func(context.Context) error {
					if asked++; asked <= test.fails {
						return test.err
					}
					return nil
				}, isAway}
				err := s.wait(t.Context(), slog.New(slog.NewTextHandler(&log, nil)))
				if want := errors.Is(test.err, errWrong); errors.Is(err, errWrong) != want || err != nil && !want {
					t.Error(err)
				}
				if n := strings.Count(log.String(), "waiting for a service"); n != test.said {
					t.Errorf("%d sentences, want %d", n, test.said)
				}
				if answers := strings.Contains(log.String(), "the service answers"); answers != (test.said > 0) {
					t.Errorf("says that it answers: %t", answers)
				}
				if took := time.Since(began); took != time.Duration(test.took)*time.Second {
					t.Errorf("%v", took)
				}
			})
		})
	}
}

// An outage may pass; a certificate that nobody trusts, or a password that is wrong, does not.
func TestMayCome(t *testing.T) {
	for want, list := range map[bool][]error{
		true:  {&pgconn.ConnectError{}, &net.OpError{Op: "dial", Err: errAway}, &pgconn.PgError{Code: "57P03"}},
		false: {&tls.CertificateVerificationError{Err: errAway}, &pgconn.PgError{Code: "28P01"}, &pgconn.PgError{Code: "3D000"}},
	} {
		for _, err := range list {
			if got := mayCome(fmt.Errorf("store: open: %w", err)); got != want {
				t.Errorf("%T %v: %t", err, err, got)
			}
		}
	}
}

// A command that is told to stop while it waits ends without an error.
func TestStopWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		s := service{"Redis", func(context.Context) error { return errAway }, isAway}
		if err := stopped(ctx, waitFor(ctx, []service{s}, slog.New(slog.DiscardHandler))); err != nil {
			t.Error(err)
		}
	})
}

// A door forwards connections to an address once it is opened. Before, its port refuses them.
type door struct {
	address, network, to string
}

func newDoor(t *testing.T, network, to string) door {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return door{listener.Addr().String(), network, to}
}

func (d door) open(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", d.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial(d.network, d.to)
			if err != nil {
				_ = in.Close()
				continue
			}
			go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
			go func() { _, _ = io.Copy(in, out); _ = in.Close() }()
		}
	}()
}

// A worker starts before PostgreSQL and Redis do, and goes on when both are there. It does not wait for a database that
// the server does not have.
func TestServicesThatComeLater(t *testing.T) {
	redis, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(redis.Stop)
	at, err := url.Parse(testdb.New(t))
	if err != nil {
		t.Fatal(err)
	}
	query := at.Query() // the server of tests listens on a Unix socket
	socket := filepath.Join(query.Get("host"), ".s.PGSQL."+query.Get("port"))
	query.Del("host")
	query.Del("port")
	broker, database := newDoor(t, "tcp", redis.Addr()), newDoor(t, "unix", socket)
	at.Host, at.RawQuery = database.address, query.Encode()
	c := config{DatabaseURL: at.String(), RedisURL: "redis://" + broker.address}
	var log logBuffer
	ended := make(chan error, 1)
	go func() {
		ended <- waitFor(t.Context(), neededServices(c, role{work: true}), slog.New(slog.NewTextHandler(&log, nil)))
	}()
	for _, s := range []struct {
		name string
		door door
	}{{"PostgreSQL", database}, {"Redis", broker}} {
		await.Until(t, "the sentence about "+s.name, func() bool { return strings.Contains(log.String(), `"waiting for a service" service=`+s.name) })
		s.door.open(t)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if password, _ := at.User.Password(); password == "" || strings.Contains(log.String(), password) {
		t.Errorf("the log tells the password: %s", log.String())
	}
	at.Path = "/nonesuch"
	c.DatabaseURL = at.String()
	if err := waitFor(t.Context(), neededServices(c, role{}), slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a database that is not there answers")
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"heapdrift/internal/blob/blobtest"
	"heapdrift/internal/embedded"
)

// A house is everything that an installation is made of.
type house struct {
	dir      string
	postgres *embedded.Postgres
	door     *door // to PostgreSQL: it has another port after it was killed
	s3       *s3
	redis    *process
	nodes    []*process // two servers and two workers
	web      []string   // addresses
}

// startHouse starts it and migrates the database, with the older version where there is one.
func startHouse(ctx context.Context, dir string, o options) (*house, error) {
	h := &house{dir: dir}
	var err error
	if h.postgres, err = embedded.StartPostgres(ctx,
		embedded.PostgresOptions{Dir: filepath.Join(dir, "postgres")}); err != nil {
		return nil, err
	}
	if h.door, err = openDoor(hostOf(h.postgres.URL())); err != nil {
		return nil, err
	}
	if h.s3, err = startS3(); err != nil {
		return nil, err
	}
	redisPort, err := freePort()
	if err != nil {
		return nil, err
	}
	h.redis = &process{name: "redis", log: filepath.Join(dir, "redis.log"), path: "redis-server",
		args: []string{"--port", redisPort, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", dir}}
	h.redis.start()
	env := append(os.Environ(), "HEAPDRIFT_DATABASE_URL="+through(h.postgres.URL(), h.door.address),
		"HEAPDRIFT_REDIS_URL=redis://127.0.0.1:"+redisPort,
		"HEAPDRIFT_BLOB_URL=s3://chaos/prefix?insecure=1&region=us-east-1&endpoint="+h.s3.address, "AWS_ACCESS_KEY_ID=key",
		"AWS_SECRET_ACCESS_KEY=secret",
		"HEAPDRIFT_OPEN=1", "TMPDIR="+dir)
	first := o.binary
	if o.old != "" {
		first = o.old
	}
	for _, binary := range []string{first, o.binary} {
		migrate := exec.CommandContext(ctx, binary, "migrate")
		migrate.Env = env
		if out, err := migrate.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("migrate: %w\n%s", err, out)
		}
	}
	for i := range 2 {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		binary := o.binary
		if i == 1 {
			binary = first
		}
		h.web = append(h.web, "http://127.0.0.1:"+port)
		listen := slices.Concat(env, []string{"HEAPDRIFT_LISTEN=127.0.0.1:" + port})
		h.nodes = append(h.nodes,
			&process{name: fmt.Sprint("serve-", i), log: filepath.Join(dir, fmt.Sprintf("serve-%d.log", i)), path: binary,
				args: []string{"serve"}, env: listen},
			&process{name: fmt.Sprint("work-", i), log: filepath.Join(dir, fmt.Sprintf("work-%d.log", i)), path: binary,
				args: []string{"work"}, env: env})
	}
	for _, n := range h.nodes {
		n.start()
	}
	return h, h.awaitReady(ctx)
}

func (h *house) servers() []string { return h.web }

// awaitReady waits until both servers say that they are.
func (h *house) awaitReady(ctx context.Context) error {
	for _, server := range h.web {
		until := time.Now().Add(time.Minute)
		for {
			c := &client{servers: []string{server}}
			if status, _ := c.do(ctx, http.MethodGet, "/readyz", nil); status == http.StatusOK {
				break
			}
			if time.Now().After(until) || ctx.Err() != nil {
				return fmt.Errorf("%s is not ready within a minute; its log is in %s", server, h.dir)
			}
			rest(ctx, tryAgain)
		}
	}
	return nil
}

// An event is something that goes wrong.
type event struct {
	name string
	do   func(rng *rand.Rand)
}

func (h *house) events() []event {
	events := []event{
		{"redis is killed", func(*rand.Rand) { h.redis.kill() }},
		{"redis forgets everything", func(*rand.Rand) { flush(h.redis.args[1]) }},
		{"PostgreSQL is killed", func(*rand.Rand) { h.killPostgres() }},
		{"connections to PostgreSQL break", func(*rand.Rand) { h.door.cut() }},
		{"S3 is slow", func(rng *rand.Rand) { h.s3.slow(time.Duration(rng.IntN(1500))*time.Millisecond, 5*time.Second) }},
		{"S3 is full", func(*rand.Rand) { h.s3.fill(4 * time.Second) }},
		{"S3 does not answer", func(*rand.Rand) { h.s3.fail(3 * time.Second) }},
	}
	for _, n := range h.nodes {
		events = append(events,
			event{n.name + " is killed", func(*rand.Rand) { n.kill() }},
			event{n.name + " freezes", func(rng *rand.Rand) { n.freeze(time.Duration(1+rng.IntN(12)) * time.Second) }})
	}
	return events
}

// storm has one thing after the other go wrong until ctx is done.
func (h *house) storm(ctx context.Context, rng *rand.Rand) {
	events := h.events()
	begin := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(500+rng.IntN(2500)) * time.Millisecond):
		}
		e := events[rng.IntN(len(events))]
		fmt.Printf("%7.1f s  %s\n", time.Since(begin).Seconds(), e.name)
		e.do(rng)
	}
}

// calmDown waits until what the storm froze or slowed goes on.
func (h *house) calmDown() {
	h.s3.mend()
	for _, n := range h.nodes {
		n.thaw()
	}
	fmt.Println("calm")
}

func (h *house) replaceOld(binary string) {
	for _, n := range h.nodes {
		n.replace(binary)
	}
}

func (h *house) stop() error {
	for _, n := range h.nodes {
		n.stop()
	}
	h.redis.stop()
	h.door.close()
	h.s3.close()
	return h.postgres.Stop()
}

// killPostgres kills the server with all its backends, and starts it again on the same data.
func (h *house) killPostgres() {
	text, err := os.ReadFile(filepath.Join(h.dir, "postgres", "data", "postmaster.pid"))
	if err != nil {
		fmt.Println("  no PostgreSQL:", err)
		return
	}
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		fmt.Println("  no PostgreSQL:", err)
		return
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	<-h.postgres.Done()
	_ = h.postgres.Stop() // it is dead
	for range 20 {
		p, err := embedded.StartPostgres(context.Background(),
			embedded.PostgresOptions{Dir: filepath.Join(h.dir, "postgres")})
		if err == nil {
			h.postgres = p
			h.door.lead(hostOf(p.URL()))
			return
		}
		fmt.Println("  PostgreSQL:", err)
		rest(context.Background(), time.Second)
	}
}

// A process is started again whenever it ends, until stop.
type process struct {
	name, log, path string
	args, env       []string

	mu      sync.Mutex
	cmd     *exec.Cmd
	frozen  bool
	stopped atomic.Bool
	ended   chan struct{}
}

func (p *process) start() {
	p.ended = make(chan struct{})
	started := make(chan struct{})
	go func() {
		defer close(p.ended)
		for first := true; !p.stopped.Load(); first = false {
			log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
			if err != nil {
				fmt.Println(p.name, err)
				return
			}
			p.mu.Lock()
			p.cmd = exec.Command(p.path, p.args...) //nolint:noctx // what is to be tested
			p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr, p.frozen = p.env, log, log, false
			err = p.cmd.Start()
			cmd := p.cmd
			p.mu.Unlock()
			if first {
				close(started)
			}
			if err == nil {
				err = cmd.Wait()
			}
			fmt.Fprintf(log, "--- ended: %v\n", err)
			_ = log.Close()
			rest(context.Background(), 200*time.Millisecond) // or one that ends at once takes a core
		}
	}()
	<-started
}

func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil && p.cmd.Process != nil {
		_ = p.cmd.Process.Signal(s) // it may be gone already
	}
}

func (p *process) kill() { p.signal(syscall.SIGKILL) }

func (p *process) freeze(d time.Duration) {
	p.signal(syscall.SIGSTOP)
	time.AfterFunc(d, p.thaw)
}

func (p *process) thaw() { p.signal(syscall.SIGCONT) }

func (p *process) replace(path string) {
	p.mu.Lock()
	old := p.path
	p.path = path
	p.mu.Unlock()
	if old != path {
		p.signal(syscall.SIGTERM)
	}
}

func (p *process) stop() {
	p.stopped.Store(true)
	p.thaw()
	p.signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(40 * time.Second):
		p.kill()
		<-p.ended
	}
}

// An s3 is an S3 server that can be slow, full and away.
type s3 struct {
	address       string
	server        *http.Server
	delay         atomic.Int64
	full, failing atomic.Bool
}

func startS3() (*s3, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // lives as long as the house
	if err != nil {
		return nil, err
	}
	inner := blobtest.NewS3()
	s := &s3{address: l.Addr().String()}
	inner.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
		rest(r.Context(), time.Duration(s.delay.Load()))
		switch {
		case s.failing.Load():
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, "<Error><Code>ServiceUnavailable</Code><Message>away</Message></Error>")
		case s.full.Load() && r.Method == http.MethodPut:
			w.WriteHeader(http.StatusInsufficientStorage)
			fmt.Fprint(w, "<Error><Code>XMinioStorageFull</Code><Message>full</Message></Error>")
		default:
			return false
		}
		return true
	}
	s.server = &http.Server{Handler: inner, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.server.Serve(l) }() // until close
	return s, nil
}

func (s *s3) slow(by, lasts time.Duration) {
	s.delay.Store(int64(by))
	time.AfterFunc(lasts, func() { s.delay.Store(0) })
}

func (s *s3) fill(lasts time.Duration) {
	s.full.Store(true)
	time.AfterFunc(lasts, func() { s.full.Store(false) })
}

func (s *s3) fail(lasts time.Duration) {
	s.failing.Store(true)
	time.AfterFunc(lasts, func() { s.failing.Store(false) })
}

func (s *s3) mend() {
	s.delay.Store(0)
	s.full.Store(false)
	s.failing.Store(false)
}

func (s *s3) close() { _ = s.server.Close() }

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed at once
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

// flush has Redis forget everything, in the protocol's inline form.
func flush(port string) {
	if _, err := strconv.Atoi(port); err != nil {
		return
	}
	c, err := net.Dial("tcp", "127.0.0.1:"+port) //nolint:noctx // local
	if err != nil {
		return
	}
	defer func() { _ = c.Close() }()
	_, _ = c.Write([]byte("FLUSHALL\r\n")) // it may be away
	_ = c.SetReadDeadline(time.Now().Add(time.Second))
	_, _ = c.Read(make([]byte, 16))
}

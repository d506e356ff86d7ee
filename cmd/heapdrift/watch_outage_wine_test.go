package main

import (
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"heapdrift/internal/await"
	"heapdrift/internal/record"
)

// A network passes connections on to a server, until it goes down.
type network struct {
	t       testing.TB
	server  string // host and port
	address string

	mu       sync.Mutex
	listener net.Listener
	open     map[net.Conn]bool
}

func newNetwork(t testing.TB, server string) *network {
	t.Helper()
	n := &network{t: t, server: server, address: "127.0.0.1:0", open: map[net.Conn]bool{}}
	n.up()
	t.Cleanup(n.down)
	return n
}

// up listens, at the same address each time.
func (n *network) up() {
	n.t.Helper()
	listener, err := net.Listen("tcp", n.address)
	if err != nil {
		n.t.Fatal(err)
	}
	n.mu.Lock()
	n.listener, n.address = listener, listener.Addr().String()
	n.mu.Unlock()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", n.server)
			if err != nil {
				_ = client.Close()
				continue
			}
			n.mu.Lock()
			n.open[client], n.open[server] = true, true
			n.mu.Unlock()
			for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
				go func() {
					_, _ = io.Copy(way[0], way[1]) // ends with either connection
					_ = way[0].Close()
				}()
			}
		}
	}()
}

// down refuses connections and cuts those that there are.
func (n *network) down() {
	n.mu.Lock()
	defer n.mu.Unlock()
	_ = n.listener.Close() // it may be closed
	for conn := range n.open {
		_ = conn.Close()
	}
	clear(n.open)
}

// A server that goes away in the middle of a run costs nothing: the snapshots go on, and it gets all of them, and the
// end of the run, when it is back.
func watchThroughOutage(c *recordingClient) {
	url := startServer(c.T)
	n := newNetwork(c, strings.TrimPrefix(url, "http://"))
	cmd, said := c.start("watch", "--evidence", "umdh", "--every", "300ms", "-o", "outage", "--push", "http://"+n.address, "--project", "shop",
		"--build", "9", "--quiet", "--image", "app.exe")
	wait := func(what string, is func() bool) {
		c.Helper()
		await.Until(c, what, is)
	}
	c.Cleanup(func() {
		if c.Failed() {
			c.Log(said())
		}
	})
	ran := make(chan int, 2)
	start := func(milliseconds string) {
		app := c.wine.Command(c.Context(), c.dir, filepath.Join(c.dir, "app.exe"), milliseconds, "0")
		go func() {
			_ = app.Run() // the code says how it ended
			ran <- app.ProcessState.ExitCode()
		}()
	}
	wait("the watch", func() bool { return strings.Contains(said(), "waiting    for app.exe") })
	start("25000")
	wait("a push", func() bool { return strings.Contains(said(), "/runs/") })
	n.down()
	wait("a push that fails", func() bool { return strings.Contains(said(), "the snapshots are kept, and pushed later") })
	taken := strings.Count(said(), "snapshot   ")
	wait("snapshots without the server", func() bool { return strings.Count(said(), "snapshot   ") >= taken+2 })
	if code := <-ran; code != 0 {
		c.Fatalf("app.exe: %d", code)
	}
	wait("the end of the run", func() bool { return strings.Count(said(), "waiting    for app.exe") == 2 })
	n.up()
	start("8000")
	if code := <-ran; code != 0 {
		c.Fatalf("app.exe: %d", code)
	}
	wait("the end of the second run", func() bool { return strings.Count(said(), "waiting    for app.exe") == 3 })
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		c.Fatal(err)
	}
	if code := c.code(cmd); code != exitOK || strings.Contains(said(), "that the server does not have") ||
		strings.Contains(said(), "the server was not told") {
		c.Errorf("exit code %d:\n%s", code, said())
	}
	c.untouched("app.exe", "")
	folders, err := filepath.Glob(filepath.Join(c.dir, "outage", "*"))
	if err != nil || len(folders) < 2 { // the third waited for a start
		c.Fatalf("%q, %v", folders, err)
	}
	var runs []string // their numbers on the server
	for line := range strings.Lines(said()) {
		if _, number, ok := strings.Cut(strings.TrimSpace(line), n.address+"/runs/"); ok && !slices.Contains(runs, number) {
			runs = append(runs, number)
		}
	}
	if len(runs) != 2 {
		c.Fatalf("runs %q", runs)
	}
	for i, folder := range folders[:2] {
		s, err := record.ReadSidecar(folder)
		if err != nil {
			c.Fatal(err)
		}
		status, text := call(c.T, "GET", url+"/api/v1/runs/"+runs[i], "")
		if files := strings.Count(text, `"sha256"`); status != 200 || files != len(s.Snapshots) {
			c.Errorf("run %s: the server has %d files of %d: %d %s", runs[i], files, len(s.Snapshots), status, text)
		}
	}
}

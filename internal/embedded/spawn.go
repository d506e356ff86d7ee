package embedded

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
)

func randomText() string { return strings.ToLower(rand.Text()) }

// spawn starts the server as a child. Its goroutine keeps its thread for the child's life, because the death signal
// is sent when the thread that forked dies, not the process.
func (p *Postgres) spawn(account *account, port int) error {
	log, err := os.OpenFile(p.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("embedded: %w", err)
	}
	args := []string{"-D", p.data(), "-p", strconv.Itoa(port)}
	for _, setting := range append([]string{
		"listen_addresses=127.0.0.1",
		"unix_socket_directories=", // socket paths are at most 107 bytes, and our account is another one
		"max_connections=100", "shared_buffers=128MB", "max_wal_size=2GB", "log_destination=stderr", "logging_collector=off",
	}, p.opt.Settings...) {
		args = append(args, "-c", setting)
	}
	p.cmd = account.command(context.Background(), p.tool("postgres"), args...) // outlives the context of its start
	p.cmd.Stdout, p.cmd.Stderr = log, log
	dieWithParent(p.cmd)
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer func() { _ = log.Close() }()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("embedded: start PostgreSQL: %w", err)
	}
	return nil
}

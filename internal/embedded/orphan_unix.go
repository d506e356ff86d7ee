//go:build unix

package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stopOrphan ends a server that outlived its parent, and removes the pid file of one that did not: PostgreSQL looks
// only whether the number is alive, and after a restart of the machine it may be somebody else's.
func stopOrphan(data string, log *slog.Logger) error {
	file := filepath.Join(data, "postmaster.pid")
	text, err := os.ReadFile(file) //nolint:gosec // below the state directory
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("embedded: %w", err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 1 || !isServerOf(pid, data) {
		log.Info("removing the pid file of a PostgreSQL that is gone", "pid", first)
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("embedded: %w", err)
		}
		return nil
	}
	log.Warn("stopping a PostgreSQL whose parent is gone", "pid", pid)
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("embedded: stop PostgreSQL %d: %w", pid, err)
	}
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if syscall.Kill(pid, 0) != nil || !isServerOf(pid, data) {
			return nil
		}
	}
	return fmt.Errorf("embedded: PostgreSQL %d of a former heapdrift does not stop; end it by hand", pid)
}

// isServerOf reports whether a process is the PostgreSQL of a data directory. Where there is no /proc, a process that
// is alive is taken for it: to stop it is what the pid file is for.
func isServerOf(pid int, data string) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		_, noProc := os.Stat("/proc/self")
		return noProc != nil && syscall.Kill(pid, 0) == nil
	}
	return strings.Contains(string(text), "postgres") && strings.Contains(string(text), data)
}

//go:build !linux

package embedded

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// heapdrift up is made for Linux. Elsewhere it is for trying out: an account of its own, its end together with ours
// and the lock are missing. PostgreSQL itself refuses root, and a directory whose server still runs.

// The signals that every system has; system_linux.go has them for Linux. Windows knows only one.
var fastShutdown, immediateShutdown = interruptOrKill(), os.Kill

func interruptOrKill() os.Signal {
	if runtime.GOOS == "windows" {
		return os.Kill
	}
	return os.Interrupt
}

// canClear says that endOrphans knows who works on a cluster.
const canClear = false

// workDir is where programs run; empty for our own working directory.
const workDir = ""

func tie(*exec.Cmd, *account, syscall.Signal) {}

func serverAccount() (*account, error) { return nil, nil }

func lockDir(file string) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("state directory: %w; was it made by another account?", err)
	}
	return f, nil
}

func barrier(string, *account) string { return "" }

func endOrphans(context.Context, string) (int, error) { return 0, nil }

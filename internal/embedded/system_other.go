//go:build !linux

package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// heapdrift up is made for Linux. Elsewhere it is for developing: what is missing here (another account for the
// server, its end with ours, the lock) PostgreSQL partly does by itself. It refuses root, and a directory whose
// server still runs.

const immediateShutdown = shutdownSignal(0)

// fastShutdown is the one signal that also Windows has a name for; see shutdownSignal.
var fastShutdown = os.Interrupt

// workDir is where programs run; empty for our own working directory.
const workDir = ""

type deathSignal = os.Signal

func tie(*exec.Cmd, *account, deathSignal) {}

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

package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// What PostgreSQL understands: end sessions and write a checkpoint; end at once and recover at the next start.
// SIGTERM would wait for clients to go.
const (
	fastShutdown      = syscall.SIGINT
	immediateShutdown = syscall.SIGQUIT
)

// canClear says that endOrphans knows who works on a cluster.
const canClear = true

// workDir is where programs run: our own working directory may be closed to the server's account.
const workDir = "/"

// tie makes cmd run as the account, get the signal when we die, and not get a terminal's ctrl-C: we end first, the
// server last.
func tie(cmd *exec.Cmd, a *account, onDeath syscall.Signal) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: onDeath, Setpgid: true}
	if a != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
}

// serverAccount says whom the server runs as: PostgreSQL refuses root, and initdb wants the account to have a name.
func serverAccount() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	names := []string{"postgres", "nobody"}
	if name := os.Getenv("HEAPDRIFT_PG_USER"); name != "" {
		names = []string{name}
	}
	for _, name := range names {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(u.Uid)
		gid, gidErr := strconv.Atoi(u.Gid)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, fmt.Errorf("account %s: %w", name, err)
		}
		if uid == 0 {
			return nil, fmt.Errorf("account %s is root, which PostgreSQL refuses; set HEAPDRIFT_PG_USER to another", name)
		}
		return &account{name, uid, gid}, nil
	}
	return nil, fmt.Errorf("PostgreSQL refuses to run as root, and there is no account %s; set HEAPDRIFT_PG_USER to one that exists",
		strings.Join(names, " or "))
}

// lockDir keeps other processes out of the state directory until the file is closed.
func lockDir(file string) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("state directory: %w; was it made by another account?", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(file)
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s is in use by process %s; stop that, or choose another state directory",
				filepath.Dir(file), bytes.TrimSpace(holder))
		}
		return nil, fmt.Errorf("lock %s: %w", file, err)
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = fmt.Fprintln(f, os.Getpid())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", file, err), f.Close())
	}
	return f, nil
}

// barrier names the first directory on the way to dir that the account cannot enter, by its permissions.
func barrier(dir string, a *account) string {
	found := ""
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil {
			s := info.Sys().(*syscall.Stat_t)
			enter := os.FileMode(0o001)
			if int(s.Uid) == a.uid {
				enter = 0o100
			} else if int(s.Gid) == a.gid {
				enter = 0o010
			}
			if info.Mode()&enter == 0 {
				found = dir
			}
		}
		if dir == filepath.Dir(dir) {
			return found
		}
	}
}

// processesIn returns the PostgreSQL processes that work on a cluster: its directory is their working directory.
func processesIn(cluster string) ([]int, error) {
	place, err := filepath.EvalSymlinks(cluster)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err //nolint:wrapcheck // says where
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err //nolint:wrapcheck // says where
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		// Neither can be read of a process that has ended meanwhile.
		if dir, err := os.Readlink(filepath.Join("/proc", e.Name(), "cwd")); err != nil || dir != place {
			continue
		}
		if name, err := os.ReadFile(filepath.Join("/proc", e.Name(), "comm")); err == nil &&
			string(bytes.TrimSpace(name)) == "postgres" {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// endOrphans ends the processes that an earlier server left on a cluster: a postmaster that is still shutting down,
// or its children, which outlive it while they are busy. It returns how many there were.
func endOrphans(ctx context.Context, cluster string) (int, error) {
	pids, err := processesIn(cluster)
	if err != nil || len(pids) == 0 {
		return 0, err
	}
	found, targets := len(pids), pids
	signals := []syscall.Signal{immediateShutdown, syscall.SIGKILL} // without a postmaster it has crashed already
	if pid, err := postmasterPID(cluster); err == nil && slices.Contains(pids, pid) {
		signals, targets = []syscall.Signal{fastShutdown, immediateShutdown, syscall.SIGKILL}, []int{pid}
	}
	next := time.NewTicker(10 * time.Millisecond)
	defer next.Stop()
	for _, signal := range signals {
		for _, pid := range targets {
			if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
				return found, fmt.Errorf("end process %d of an earlier server: %w", pid, err)
			}
		}
		patience := map[syscall.Signal]time.Duration{fastShutdown: shutdownTimeout, immediateShutdown: immediateTimeout,
			syscall.SIGKILL: killTimeout}[signal]
		for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
			if targets, err = processesIn(cluster); err != nil || len(targets) == 0 {
				return found, err
			}
			select {
			case <-ctx.Done():
				return found, errors.New("wait for the end of an earlier server")
			case <-next.C:
			}
		}
	}
	return found, fmt.Errorf("processes %v of an earlier server do not end", targets)
}

//go:build unix

package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// An account is whom the server runs as when the caller is root; nil is the caller.
type account struct{ uid, gid uint32 }

// unprivileged finds an account for the server: PostgreSQL refuses root, and initdb wants the account to have a name.
func unprivileged() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // the caller's own account
	}
	for _, name := range []string{os.Getenv("HEAPDRIFT_PG_USER"), "postgres", "nobody"} {
		u, err := user.Lookup(name)
		if name == "" || err != nil || u.Uid == "0" {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			continue
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			continue
		}
		return &account{uint32(uid), uint32(gid)}, nil
	}
	return nil, errors.New("embedded: PostgreSQL does not run as root and there is no account postgres or nobody; set HEAPDRIFT_PG_USER to one")
}

// assume makes a command run as the account.
func (a *account) assume(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// own gives paths to the account.
func (a *account) own(paths ...string) error {
	if a == nil {
		return nil
	}
	for _, path := range paths {
		if err := os.Chown(path, int(a.uid), int(a.gid)); err != nil {
			return fmt.Errorf("embedded: %w", err)
		}
	}
	return nil
}

// reaches checks that the account can enter a directory: it cannot where a parent is private.
func (a *account) reaches(dir string) error {
	if a == nil {
		return nil
	}
	out, err := a.command(context.Background(), "/bin/sh", "-c", `cd "$1"`, "sh", dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("embedded: account %d, which the database runs as, cannot enter %s (%s); choose a state directory below directories that everybody may pass: HEAPDRIFT_STATE_DIR", a.uid, dir, strings.TrimSpace(string(out)))
	}
	return nil
}

// lockFile takes a directory for this process until the file is closed.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // below the state directory
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("embedded: %s is in use by another heapdrift; stop it or set HEAPDRIFT_STATE_DIR", path), f.Close())
	}
	return f, nil
}

// interrupt asks for a fast shutdown.
func interrupt(p *os.Process) { _ = p.Signal(syscall.SIGINT) }

package embedded

import (
	"fmt"
	"log/slog"
	"os"
	"os/exec"
)

// An account is always the caller's own on Windows.
type account struct{}

func unprivileged() (*account, error) { return nil, nil } //nolint:nilnil // the caller's own account

func (a *account) assume(*exec.Cmd)         {}
func (a *account) own(...string) error      { return nil }
func (a *account) reaches(string) error     { return nil }
func dieWithParent(*exec.Cmd)               {}
func interrupt(p *os.Process)               { _ = p.Kill() }
func stopOrphan(string, *slog.Logger) error { return nil }

// lockFile takes a directory for this process until the file is closed: Windows does not open a file twice for writing
// when it is opened for that alone.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	return f, nil
}

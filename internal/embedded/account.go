package embedded

import (
	"context"
	"os"
	"os/exec"
	"runtime"
)

// exeSuffix ends the names of programs.
var exeSuffix = map[bool]string{true: ".exe"}[runtime.GOOS == "windows"]

// command prepares a command that the account runs. The working directory of the caller may be closed to it.
func (a *account) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = rootDir
	if a != nil {
		cmd.Env = append(os.Environ(), "HOME="+rootDir)
		a.assume(cmd)
	}
	return cmd
}

var rootDir = map[bool]string{true: `C:\`, false: "/"}[runtime.GOOS == "windows"]

// DefaultStateDir is where a server keeps its state unless told otherwise.
func DefaultStateDir() string {
	if os.Geteuid() == 0 {
		return "/var/lib/heapdrift" // below /root the database's account could not enter
	}
	if dir := os.Getenv("XDG_STATE_HOME"); dir != "" {
		return dir + "/heapdrift"
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = os.TempDir()
	}
	return home + "/.local/state/heapdrift"
}

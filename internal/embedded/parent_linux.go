package embedded

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes the server shut down fast when this process is killed, and keeps a terminal's ctrl-C away from it:
// the server must be the last to end.
func dieWithParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGINT
	cmd.SysProcAttr.Setpgid = true
}

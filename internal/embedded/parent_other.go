//go:build unix && !linux

package embedded

import (
	"os/exec"
	"syscall"
)

// dieWithParent keeps a terminal's ctrl-C away from the server. A server whose parent was killed is stopped at the
// next start.
func dieWithParent(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}

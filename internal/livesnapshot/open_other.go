//go:build !windows

package livesnapshot

import "runtime"

// open refuses: only Windows has heaps of Windows.
func open(pid uint32) (target, error) {
	return nil, &Error{Code: CodeSystem, PID: pid, Message: "snapshots are taken on Windows; this is " + runtime.GOOS,
		Do: "run heapdrift.exe on the machine of the process"}
}

package sandbox

import (
	"fmt"
	"os"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"

	"heapdrift/internal/memory"
)

const (
	// A process may map more than its budget: the budget ends the work with a sentence, the limit of the system is for
	// what grows faster than anybody looks. The runtime maps 64 MiB at a time.
	memoryFactor = 2
	memoryRoom   = 1 << 30  // bytes
	fileLimit    = 64 << 30 // bytes of a temporary file
	filesLimit   = 4096     // descriptors
)

// confine takes from this process all rights that reading a file does not need. It may still open files, because
// unpacked content goes to temporary ones.
func confine(limit int64) error {
	if limit == 0 {
		limit = int64(memory.Default())
	}
	for _, l := range []struct {
		resource int
		most     uint64
	}{
		{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_FSIZE, fileLimit}, {unix.RLIMIT_NOFILE, filesLimit},
		{unix.RLIMIT_DATA, uint64(limit)*memoryFactor + memoryRoom},
	} {
		var have unix.Rlimit
		if err := unix.Getrlimit(l.resource, &have); err != nil {
			return fmt.Errorf("sandbox: limit %d: %w", l.resource, err)
		}
		most := min(l.most, have.Max)
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("sandbox: limit %d: %w", l.resource, err)
		}
	}
	if !seccomp.Supported() {
		return nil // the limits above and the parent's watch remain
	}
	err := seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: seccomp.Policy{
		DefaultAction: seccomp.ActionAllow,
		Syscalls:      []seccomp.SyscallGroup{{Action: seccomp.ActionErrno, Names: forbidden}},
	}})
	if err != nil { // a container may forbid it; the limits and the parent's watch remain
		fmt.Fprintln(os.Stderr, "sandbox: no filter of system calls:", err)
	}
	return nil
}

// forbidden are calls that reach the network, other programs and processes, or the system itself.
var forbidden = []string{
	"socket", "socketpair", "connect", "bind", "listen", "accept", "accept4",
	"execve", "execveat", "ptrace", "process_vm_readv", "process_vm_writev", "kill",
	"mount", "umount2", "pivot_root", "chroot", "setns", "unshare",
	"bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "keyctl", "add_key", "request_key",
	"init_module", "finit_module", "delete_module", "kexec_load", "reboot", "swapon", "swapoff",
}

package tmpfs

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// wanted is the memory in bytes that has to be free for a server; a fresh cluster has 46 MB, each database 8.
const wanted = 1 << 30

// parent is where directories go.
func parent() string {
	const memory = "/dev/shm"
	var s syscall.Statfs_t
	if err := syscall.Statfs(memory, &s); err != nil || s.Bavail*uint64(s.Bsize) < wanted {
		return os.TempDir()
	}
	return memory
}

// Sweep deletes the directories of test processes that were killed or timed out: they would fill the memory. It ignores
// failures.
func Sweep() {
	dirs, _ := filepath.Glob("/dev/shm/" + prefix + "*")
	onDisk, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	dirs = append(dirs, onDisk...)
	for _, dir := range dirs {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), prefix), "-")
		if _, err := strconv.Atoi(pid); err != nil {
			continue
		}
		if _, err := os.Stat("/proc/" + pid); err == nil {
			continue
		}
		// In another container that shares the memory the process may have another number; its lock is seen.
		if f, err := os.Open(filepath.Join(dir, "postgres", "lock")); err == nil {
			err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
			_ = f.Close()
			if err != nil {
				continue
			}
		}
		_ = os.RemoveAll(dir)
	}
}

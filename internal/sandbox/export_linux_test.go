package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// SetKills counts kills for lack of memory by a function of how often it was asked before.
func SetKills(t *testing.T, count func(asked int64) int64) {
	t.Helper()
	before, asked := kills, int64(0)
	t.Cleanup(func() { kills = before })
	kills = func() int64 {
		asked++
		return count(asked - 1)
	}
}

// KillChildren kills the children of this process, and says how many.
func KillChildren(t *testing.T) (n int) {
	t.Helper()
	threads, err := filepath.Glob("/proc/self/task/*/children") // of the thread that started them
	if err != nil {
		t.Error(err)
	}
	for _, file := range threads {
		list, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		for child := range strings.FieldsSeq(string(list)) {
			if pid, err := strconv.Atoi(child); err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil {
				n++
			}
		}
	}
	return n
}

package memory

import (
	"bufio"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// available is the memory of the machine, or of the control group that the program is in.
func available() int64 {
	return min(ofMachine("/proc/meminfo"), ofGroup("/proc/self/cgroup", "/sys/fs/cgroup"))
}

// ofMachine is the memory of the machine, or the largest number where it is not known.
func ofMachine(meminfo string) int64 {
	f, err := os.Open(meminfo)
	if err != nil {
		return math.MaxInt64
	}
	defer func() { _ = f.Close() }() // read only
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) >= 2 && fields[0] == "MemTotal:" {
			if kb, err := strconv.ParseInt(fields[1], 10, 64); err == nil && kb > 0 && kb < math.MaxInt64>>10 {
				return kb << 10
			}
		}
	}
	return math.MaxInt64
}

// ofGroup is the least limit of the control groups that the program is in, of either version.
func ofGroup(self, root string) int64 {
	limit := int64(math.MaxInt64)
	text, err := os.ReadFile(self)
	if err != nil {
		return limit
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		if len(parts) < 3 {
			continue
		}
		dir, file := root, "memory.max"
		if strings.Contains(parts[1], "memory") {
			dir, file = path.Join(root, "memory"), "memory.limit_in_bytes"
		} else if parts[1] != "" {
			continue
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) { // a group is bound by those above it
			if text, err := os.ReadFile(path.Join(dir, group, file)); err == nil {
				if v, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && v > 0 {
					limit = min(limit, v)
				}
			}
			if group == "/" {
				break
			}
		}
	}
	return limit
}

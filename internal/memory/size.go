package memory

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Size is a number of bytes.
type Size int64

// units are the letters behind a size, each 1,024 times the one before.
const units = "KMGT"

// least is the smallest budget that is taken: the program itself needs some.
const least = 16 << 20

// UnmarshalText reads a size such as 512M, 4GiB, 1.5g or 1073741824.
func (s *Size) UnmarshalText(text []byte) error {
	upper := strings.ToUpper(strings.TrimSpace(string(text)))
	number := strings.TrimSuffix(strings.TrimSuffix(upper, "B"), "I")
	scale := 1.0
	if i := strings.IndexByte(units, append([]byte(number), ' ')[max(0, len(number)-1)]); i >= 0 && number != "" {
		number, scale = number[:len(number)-1], math.Pow(1024, float64(i+1))
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(v*scale >= least && v*scale < math.MaxInt64) {
		return fmt.Errorf("memory: %q is no size of at least 16M; write it as 512M or 4G", text)
	}
	*s = Size(v * scale)
	return nil
}

// Set is UnmarshalText, for flags.
func (s *Size) Set(text string) error { return s.UnmarshalText([]byte(text)) }

// String prints the size as UnmarshalText reads it.
func (s Size) String() string {
	v, unit := float64(s), ""
	for i := range len(units) {
		if v < 1024 {
			break
		}
		v, unit = v/1024, units[i:i+1]
	}
	return strconv.FormatFloat(v, 'f', -1, 64) + unit
}

// most is how much the default is at most.
const most = 4 << 30

// Default is three quarters of what the machine or the program's control group gives, at most 4 GiB.
func Default() Size {
	have := min(ofMachine("/proc/meminfo"), ofGroup("/proc/self/cgroup", "/sys/fs/cgroup"))
	return Size(max(least, min(most, have/4*3)))
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
			dir, file = filepath.Join(root, "memory"), "memory.limit_in_bytes"
		} else if parts[1] != "" {
			continue
		}
		for path := filepath.Clean("/" + parts[2]); ; path = filepath.Dir(path) { // a group is bound by those above it
			if text, err := os.ReadFile(filepath.Join(dir, path, file)); err == nil {
				if v, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && v > 0 {
					limit = min(limit, v)
				}
			}
			if path == "/" {
				break
			}
		}
	}
	return limit
}

package memory

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestAvailable(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if got := ofMachine(file("meminfo", "MemFree: 1 kB\nMemTotal:       1000 kB\n")); got != 1000<<10 {
		t.Errorf("machine: %d", got)
	}
	if got := ofMachine(filepath.Join(dir, "none")); got != math.MaxInt64 {
		t.Errorf("nobody knows: %d", got)
	}
	file("two/a/memory.max", "2000\n")
	file("two/a/b/memory.max", "max\n")
	file("one/memory/x/memory.limit_in_bytes", "3000\n")
	for name, test := range map[string]struct {
		self, root string
		want       int64
	}{
		"version 2, by the group above": {"0::/a/b\n", "two", 2000},
		"version 2, no limit":           {"0::/c\n", "two", math.MaxInt64},
		"version 1":                     {"4:cpu,cpuacct:/x\n5:memory:/x\n", "one", 3000},
		"nothing readable":              {"what\n", "one", math.MaxInt64},
	} {
		if got := ofGroup(file("self", test.self), filepath.Join(dir, test.root)); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

package memory

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// SystemKills is how many processes the system has ended for lack of memory since its start, those of all control
// groups included; 0 where that is not known.
func SystemKills() int64 { return killsIn("/proc/vmstat") }

func killsIn(vmstat string) int64 {
	f, err := os.Open(vmstat)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }() // read only
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if count, ok := strings.CutPrefix(lines.Text(), "oom_kill "); ok {
			n, err := strconv.ParseInt(count, 10, 64)
			if err != nil {
				return 0
			}
			return n
		}
	}
	return 0
}

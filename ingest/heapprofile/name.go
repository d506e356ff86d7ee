package heapprofile

import (
	"strconv"
	"strings"

	"heapdrift/ingest/capture"
)

// processOfName is the process that the name of a file tells, packed or not, and whether its profile was written at the
// exit of the process. Names are those of
//   - jemalloc: prefix.pid.seq.vN.heap (prof_sys.c). v is i for an interval, u for a new peak, m for a call, and f,
//     without a number, for the exit.
//   - the heap checker of gperftools: program.pid.check-end.heap, of the blocks that nothing points to at the end of a
//     check.
func processOfName(name string) (pid string, atExit bool, reach capture.Reach) {
	name, packed := strings.CutSuffix(name, ".gz")
	if !packed {
		name = strings.TrimSuffix(name, ".zst")
	}
	name, isHeap := strings.CutSuffix(name, ".heap")
	parts := strings.Split(name, ".")
	n := len(parts)
	if !isHeap || n < 3 {
		return "", false, capture.ReachUnsearched
	}
	last := parts[n-1]
	if n >= 4 && isDigits(parts[n-3], 10) && isDigits(parts[n-2], len(name)) &&
		(last == "f" || last != "" && strings.Contains("imu", last[:1]) && isDigits(last[1:], len(name))) {
		return parts[n-3], last == "f", capture.ReachUnsearched
	}
	check, ended := strings.CutSuffix(last, "-end")
	if ended && check != "" && !strings.ContainsAny(check, `/\`) && isDigits(parts[n-2], 10) {
		return parts[n-2], true, capture.ReachNone
	}
	return "", false, capture.ReachUnsearched
}

// isDigits reports whether a text is digits, at least one and at most most.
func isDigits(s string, most int) bool {
	return s != "" && len(s) <= most && strings.Trim(s, "0123456789") == ""
}

// nameProcess tells the process by the name of the file. A profile that was written at the exit of the process lists
// what was never freed.
func nameProcess(c *capture.Capture, name string) {
	number, atExit, reach := processOfName(name)
	if number == "" {
		return
	}
	if pid, err := strconv.ParseUint(number, 10, 32); err == nil {
		c.Process.PID = uint32(pid)
	}
	if !atExit {
		return
	}
	c.Shape = capture.ShapeExit
	for i := range c.Sites {
		c.Sites[i].Reach = reach
	}
}

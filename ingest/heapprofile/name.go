package heapprofile

import (
	"regexp"
	"strconv"

	"heapdrift/ingest/capture"
)

// The names of the files that profilers write, packed or not.
var (
	// jemallocName is prefix.pid.seq.vN.heap (prof_sys.c): v is i for an interval, u for a new peak, m for a call, and f,
	// without a number, for the exit.
	jemallocName = regexp.MustCompile(`\.(\d{1,10})\.\d+\.(?:[imu]\d+|(f))\.heap(?:\.gz|\.zst)?$`)
	// checkerName is program.pid.check-end.heap, which the heap checker of gperftools writes of the blocks that nothing
	// points to at the end of a check.
	checkerName = regexp.MustCompile(`\.(\d{1,10})\.[^./\\]+-end\.heap(?:\.gz|\.zst)?$`)
)

// nameProcess tells the process by the name of the file. A profile that was written at the exit of the process lists
// what was never freed.
func nameProcess(c *capture.Capture, name string) {
	reach := capture.ReachUnsearched
	match := jemallocName.FindStringSubmatch(name)
	atExit := len(match) > 2 && match[2] != ""
	if match == nil {
		match = checkerName.FindStringSubmatch(name)
		atExit, reach = match != nil, capture.ReachNone
	}
	if match == nil {
		return
	}
	if pid, err := strconv.ParseUint(match[1], 10, 32); err == nil {
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

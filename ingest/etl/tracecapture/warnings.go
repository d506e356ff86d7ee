package tracecapture

import (
	"cmp"
	"fmt"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/capture/allocations"
	"heapdrift/ingest/etl/lifetimes"
	"heapdrift/ingest/quantity"
	"heapdrift/ingest/sorting"
)

// warnings says what does not fit together in the events of a process.
func (b *builder) warnings(c *capture.Capture, own *lifetimes.Anomalies, hidden int64) (list []capture.Warning) {
	warn := func(code capture.Code, count int64, format string, args ...any) {
		if count > 0 {
			list = append(list, capture.Warning{Code: code, Count: count, Message: fmt.Sprintf(format, args...)})
		}
	}
	var unknown int64
	var atExit allocations.Usage
	for i := range c.Sites {
		classes := &c.Sites[i].Life.Usage
		unknown += classes.UnknownFrees
		if c.Sites[i].Kind != capture.KindHeapVirtual {
			atExit = atExit.Add(classes.AtExit)
		}
	}
	if len(c.Heaps) == 0 {
		warn(capture.PartialHeap, 1,
			"no heap event of this process is in the trace, which shows only what it committed with VirtualAlloc: leaks inside its heaps are not seen; record it with heap tracing (wpr -start Heap, or xperf -start HeapSession -heap -Pids %d)", c.Process.PID)
	}
	all := &b.all
	warn(capture.LostFree, own.LostFrees,
		"%d allocations onto a live address: the frees of the blocks that were there are missing, so each is taken as ended at the latest possible time; other blocks may look leaked that were freed", own.LostFrees)
	warn(capture.UnknownFree, unknown,
		"%d frees of blocks that were allocated before the trace began, or whose allocation is missing: their sizes are unknown and they are in no other number", unknown)
	warn(capture.Inconsistent, own.LostAllocations,
		"%d frees of blocks in heaps or processes that began inside the trace: allocations are missing from it",
		own.LostAllocations)
	warn(capture.UnknownFree, own.UnknownVirtualFrees,
		"%d decommits and releases of virtual memory that was reserved or committed before the trace began: how much that was is not known, and it is in no number", own.UnknownVirtualFrees)
	warn(capture.Malformed, all.Malformed,
		"%d events of the trace have an address or a size that cannot be; they are in no number", all.Malformed)
	warn(capture.ClockDisorder, all.Disordered, "%d events of the trace come before one that precedes them",
		all.Disordered)
	warn(capture.Inconsistent, own.LostReleases,
		"%d regions of virtual memory were reserved again without a release in the trace: releases are missing from it",
		own.LostReleases)
	warn(capture.Inconsistent, own.RundownMismatches,
		"%d regions of virtual memory hold other bytes at the end of the trace than its events add up to: events are missing from it", own.RundownMismatches)
	warn(capture.ModuleMoved, hidden,
		"%d return addresses lie where one module was unloaded and another loaded; modules came and went too often to tell which of them, so they are counted to the one that was there longest", hidden)
	from, to := b.gap()
	warn(capture.Truncated, min(1, to-from),
		"no file of the trace was being recorded from %s to %s: what was freed in between looks like a leak, and what was allocated is missing", traceTime(from), traceTime(to))
	if at := c.Trace.Exited; at != allocations.Never {
		warn(capture.ProcessExited, max(1, atExit.Count),
			"the process ended at %s with %s of %s: they count as freed at exit, and the verdict is as of the instant before",
			traceTime(at), quantity.Plural(atExit.Count, "allocation"), quantity.Bytes(atExit.Bytes))
	}
	return list
}

// heapFrom is when the first session that traced heaps began.
func (b *builder) heapFrom() int64 {
	from := b.window.To
	info := &b.info
	for i, x := range b.files {
		if x.heap {
			from = min(from, x.from, info.Files[i].LogFile.Start.Sub(info.Start).Nanoseconds())
		}
	}
	return from
}

// gap is the longest time that no file with memory events covers, where there are several; else both ends are equal.
// Sessions run from the start to the end that their files' headers say, and their events may lie behind that.
func (b *builder) gap() (from, to int64) {
	var sessions []extent
	info := &b.info
	for i, x := range b.files {
		if !x.any {
			continue
		}
		l := &info.Files[i].LogFile
		x.from = min(x.from, l.Start.Sub(info.Start).Nanoseconds())
		if !l.End.IsZero() {
			x.to = max(x.to, l.End.Sub(info.Start).Nanoseconds())
		}
		sessions = append(sessions, x)
	}
	sorting.Stable(sessions, func(x, y extent) int { return cmp.Compare(x.from, y.from) })
	var covered int64
	for i, x := range sessions {
		if i > 0 && x.from-covered > to-from {
			from, to = covered, x.from
		}
		covered = max(covered, x.to)
	}
	return from, to
}

// traceTime prints a time of the trace.
func traceTime(ns int64) string { return time.Duration(ns).Round(time.Millisecond).String() }

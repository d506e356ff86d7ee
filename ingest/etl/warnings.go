package etl

import (
	"fmt"
	"slices"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/quantity"
)

// Parts of warnings about lost events: the effect on the report, and what to do.
const (
	upper  = "A lost free looks like a leak, so held bytes are an upper bound."
	larger = "Record with more or larger buffers (xperf -BufferSize 1024 -MinBuffers 128)"
)

// Warnings lists the losses of the files of a trace that the latest pass has found.
func (t *Trace) Warnings() (list []capture.Warning) {
	info := t.Info()
	for i := range info.Files {
		f := &info.Files[i]
		l := &f.Losses
		warn := func(code capture.Code, count, at int64, format string, args ...any) {
			w := capture.Warning{Code: code, Count: count, Message: f.Name + ": " + fmt.Sprintf(format, args...)}
			if at >= 0 {
				w.Place = fmt.Sprintf("%s, offset %#x", f.Name, at)
			}
			list = append(list, w)
		}
		if n := l.EventsLost; n > 0 {
			warn(capture.EventsLost, n, -1, "%s: %s lost. %s", larger, counted(n, "event was", "events were"), upper)
		} else if n := l.FlaggedEvents; n > 0 {
			warn(capture.EventsLost, n, -1, "%s: %s that an unknown number of events was lost. %s", larger,
				counted(n, "buffer says", "buffers say"), upper)
		}
		if n := max(l.BuffersLost, l.MissingBuffers); n > 0 {
			warn(capture.BuffersLost, n, -1,
				"Record to a faster disk or with more buffers: %s lost. A buffer holds all events of one processor for some time. %s",
				counted(n, "buffer was", "buffers were"), upper)
		} else if n := l.FlaggedBuffers; n > 0 {
			warn(capture.BuffersLost, n, -1, "%s: %s a lost buffer. %s", larger,
				counted(n, "buffer follows", "buffers follow"), upper)
		}
		if n := l.Overwritten; n > 0 {
			warn(capture.CircularWrapped, n, -1,
				"Let the file grow (xperf without -FileMode Circular), or raise its maximum: the trace wrapped, and %s overwritten%s. "+
					"Blocks allocated in that time and never freed are missing. Their frees have no size.",
				counted(n, "buffer was", "buffers were"), t.covered())
		}
		switch {
		case l.CutBuffers > 0:
			warn(capture.Truncated, l.CutBuffers, t.sources[i].Size,
				"Copy the file again: %s missing at its end%s. %s", counted(l.CutBuffers, "buffer is", "buffers are"), t.covered(), upper)
		case l.Truncated:
			warn(capture.Truncated, 1, t.sources[i].Size,
				"Stop the session, then copy the file again: it ends in the middle of a buffer%s. %s", t.covered(), upper)
		case l.Unfinished:
			warn(capture.Truncated, 1, -1,
				"Stop the session (xperf -stop, wpr -stop), then copy the file again: its last events are missing%s. %s", t.covered(), upper)
		}
		if l.BadBuffers > 0 || l.SkippedBytes > 0 {
			warn(capture.Malformed, l.BadBuffers+min(1, l.SkippedBytes), l.FirstDamage,
				"Copy the file again, and compare the copies: %s damaged, %s lie between buffers, and %s of events are not counted. %s",
				counted(l.BadBuffers, "buffer is", "buffers are"),
				quantity.Bytes(l.SkippedBytes), quantity.Bytes(l.BadBytes), upper)
		}
		if n := l.Disordered; n > 0 {
			warn(capture.ClockDisorder, n, -1,
				"Record with the default clock (xperf -ClockType PerfCounter): %s out of order and counted at the later time. "+
					"A block may seem freed before it was allocated.", counted(n, "event is", "events are"))
		}
	}
	return list
}

// counted puts a count before the noun and verb for one, or for more.
func counted(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return quantity.Count(n) + " " + more
}

// covered says which time the trace covers; "" before a pass has found it.
func (t *Trace) covered() string {
	from, to := t.Covered()
	if from == to {
		return ""
	}
	return fmt.Sprintf(" (covered: %s to %s of the recording)", time.Duration(from).Round(time.Millisecond),
		time.Duration(to).Round(time.Millisecond))
}

// allocating are the kinds of operations that a report counts under their stacks.
var allocating = [...]struct {
	kind Kind
	noun string
}{{KindHeapAlloc, "heap allocations"}, {KindHeapReAlloc, "heap reallocations"},
	{KindVirtualAlloc, "virtual allocations"}}

// WarningsOf lists the stacks and images that joining could not find for one process. Losses of other processes do not
// affect its report.
func (j *JoinResult) WarningsOf(process uint32) []capture.Warning {
	var uses stackUses
	if stacked := j.Processes[process].stacked; stacked != nil {
		uses = *stacked
	}
	return j.warnings(uses, j.Processes[process:process+1])
}

func (j *JoinResult) warnings(uses stackUses, processes []Process) (list []capture.Warning) {
	warn := func(code capture.Code, count int64, format string, args ...any) {
		list = append(list, capture.Warning{Code: code, Count: count, Message: fmt.Sprintf(format, args...)})
	}
	for i, use := range uses {
		noun := allocating[i].noun
		switch missing := use.Operations - use.WithStack; {
		case missing == 0:
		case use.WithStack == 0 && allocating[i].kind != KindHeapReAlloc:
			warn(capture.NoStacks, missing,
				"Record with -stackwalk HeapAlloc+HeapRealloc+VirtualAlloc: none of %d %s has a call stack. Leaks can be measured, but not located.", missing, noun)
		default:
			warn(capture.StackMissing, missing,
				"%d of %d %s have no call stack. Their bytes are in the totals, but belong to no function. "+
					"Record with more buffers: full buffers lose stacks, and threads that run when the session stops keep theirs.", missing, use.Operations, noun)
		}
	}
	if j.KeysLost > 0 {
		warn(capture.StackKeyLost, j.KeysLost,
			"Stop the session before you copy the file, and record with more buffers: %s a key that the trace never explains. Their bytes belong to no function.",
			counted(j.KeysLost, "stack has", "stacks have"))
	}
	if j.KeysDoubtful > 0 {
		warn(capture.StackKeyLost, j.KeysDoubtful,
			"%s: %s recorded by a key, and the lost events may explain keys. A few of these stacks may belong to other code.",
			larger, counted(j.KeysDoubtful, "stack is", "stacks are"))
	}
	if j.Malformed > 0 {
		warn(capture.Malformed, j.Malformed,
			"Report this with the output of \"heapdrift etl census\": %s shorter than their layout and not counted.",
			counted(j.Malformed, "event is", "events are"))
	}
	if j.HeapSnapshots > 0 {
		warn(capture.HeapSnapshot, j.HeapSnapshots,
			"Record with heap tracing (wpr -start Heap): the trace has heap snapshots (wpr -snapshotconfig) in %s. Their layout is not public, so they are not counted.",
			quantity.Plural(j.HeapSnapshots, "event"))
	}
	warnImages(processes, warn)
	return list
}

// warnImages warns of processes with memory events that are unknown, or have images without identity.
func warnImages(processes []Process, warn func(code capture.Code, count int64, format string, args ...any)) {
	var unknown, unidentified int64
	var pid uint32
	for i := range processes {
		p := &processes[i]
		switch {
		case p.HeapPointerBytes == 0:
		case len(p.Images) == 0:
			if unknown++; unknown == 1 {
				pid = p.PID
			}
		case !slices.ContainsFunc(p.Images, func(m Image) bool { return m.identified }):
			unidentified++
		}
	}
	if unknown > 0 {
		warn(capture.NoImageInfo, unknown,
			"Analyse the kernel session's file with this one, or merge both (xperf -merge kernel.etl heap.etl out.etl): no image information for PID %d%s. "+
				"The totals are right, but addresses cannot be resolved.", pid, others(unknown-1))
	}
	if unidentified > 0 {
		warn(capture.UnmergedSession, unidentified,
			"Merge the trace on the machine it was recorded on (xperf -merge): it lacks the PDB ids of the images of %s. PDBs are searched by time stamp and size.",
			counted(unidentified, "process", "processes"))
	}
}

// others is how many more there are, in words.
func others(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

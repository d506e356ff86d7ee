package etl

import (
	"fmt"
	"slices"
	"time"

	"heapdrift/ingest/capture"
	"heapdrift/ingest/figures"
)

// These sentences say what a lost event does to the numbers, and what helps, for the readers of a report.
const (
	upper  = "a lost free looks like a leak, so what is outstanding is an upper bound"
	larger = "record again with more or larger buffers (xperf -BufferSize 1024 -MinBuffers 128)"
)

// Warnings says what is missing from the files of a trace, as far as the latest pass has shown it.
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
			warn(capture.EventsLost, n, -1, "events lost: %d: %s; %s", n, upper, larger)
		} else if n := l.FlaggedEvents; n > 0 {
			warn(capture.EventsLost, n, -1, "%d buffers say that events were lost, the session does not say how many: %s; %s", n,
				upper, larger)
		}
		if n := max(l.BuffersLost, l.MissingBuffers); n > 0 {
			warn(capture.BuffersLost, n, -1,
				"buffers lost: %d, each with all events of one processor for a while: %s; record to a faster disk or with more buffers", n, upper)
		} else if n := l.FlaggedBuffers; n > 0 {
			warn(capture.BuffersLost, n, -1, "%d buffers say that one before them was lost: %s; %s", n, upper, larger)
		}
		if n := l.Overwritten; n > 0 {
			warn(capture.CircularWrapped, n, -1,
				"circular trace wrapped: the beginning is missing, %d buffers were written over; frees of blocks from that time are of unknown size, and what was allocated then and never freed is not seen%s; let the file grow instead (xperf without -FileMode Circular), or give it a larger maximum", n, t.covered())
		}
		switch {
		case l.CutBuffers > 0:
			warn(capture.Truncated, l.CutBuffers, t.sources[i].Size,
				"the file is cut: its header counts %d buffers more than there are; what was recorded after that is missing, and %s%s; copy it again", l.CutBuffers, upper, t.covered())
		case l.Truncated:
			warn(capture.Truncated, 1, t.sources[i].Size,
				"the file ends in the middle of a buffer: what was recorded after that is missing, and %s%s; copy it again after the session was stopped", upper, t.covered())
		case l.Unfinished:
			warn(capture.Truncated, 1, -1,
				"the session was not stopped before the file was copied: the events of its last moments are missing, and %s%s; stop it (xperf -stop, wpr -stop) and copy the file then", upper, t.covered())
		}
		if l.BadBuffers > 0 || l.SkippedBytes > 0 {
			warn(capture.Malformed, l.BadBuffers+min(1, l.SkippedBytes), l.FirstDamage,
				"the file is damaged: %d buffers could not be read to their end and %s lie between buffers; %s of events are not in the numbers: %s; copy the file again, and compare the copies",
				l.BadBuffers, figures.Bytes(l.SkippedBytes), figures.Bytes(l.BadBytes), upper)
		}
		if n := l.Disordered; n > 0 {
			warn(capture.ClockDisorder, n, -1,
				"%d events have time stamps before those of events that precede them by a buffer and more; they are counted at the later time, so a block may seem freed before it was allocated; record with the default clock (xperf -ClockType PerfCounter)", n)
		}
	}
	return list
}

// covered says which time the trace covers, where a pass has shown it.
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

// WarningsOf says what joining could not find that matters to one process: what other processes lack is no reason to
// doubt it.
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
				"no stack was recorded for any of %d %s: how much leaks is known, but not from where; record with -stackwalk HeapAlloc+HeapRealloc+VirtualAlloc", missing, noun)
		default:
			warn(capture.StackMissing, missing,
				"%d of %d %s have no stack: their bytes are in the totals, but under no code; stacks get lost where buffers are short, and threads that run on when the session stops keep theirs", missing, use.Operations, noun)
		}
	}
	if j.KeysLost > 0 {
		warn(capture.StackKeyLost, j.KeysLost,
			"%d stacks of the trace were recorded by a key that it never explains, so their bytes are under no code: keys are explained when a session stops; stop it before the file is copied, and record with more buffers", j.KeysLost)
	}
	if j.KeysDoubtful > 0 {
		warn(capture.StackKeyLost, j.KeysDoubtful,
			"%d stacks of the trace were recorded by a key, and it has lost events, perhaps some that explain keys: a few of the stacks may be of other code than what they stand under; %s", j.KeysDoubtful, larger)
	}
	if j.Malformed > 0 {
		warn(capture.Malformed, j.Malformed,
			"%d events are shorter than their layout and not in the numbers; please report it with the output of: heapdrift etl census", j.Malformed)
	}
	if j.HeapSnapshots > 0 {
		warn(capture.HeapSnapshot, j.HeapSnapshots,
			"the trace holds heap snapshots (wpr -snapshotconfig) in %d events, whose layout is not public: they are not in the numbers; record with heap tracing (wpr -start Heap)", j.HeapSnapshots)
	}
	warnImages(processes, warn)
	return list
}

// warnImages says which processes with memory events are unknown, or have images without identity.
func warnImages(processes []Process, warn func(code capture.Code, count int64, format string, args ...any)) {
	var unknown, unidentified int64
	var pid uint32
	for i := range processes {
		p := &processes[i]
		switch {
		case p.HeapPointer == 0:
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
			"no process or image information for PID %d%s: its totals are right, but addresses cannot be resolved; analyse the kernel session's file together with this one, or merge them (xperf -merge kernel.etl heap.etl out.etl)", pid, others(unknown-1))
	}
	if unidentified > 0 {
		warn(capture.UnmergedSession, unidentified,
			"the trace was not merged by xperf or wpr: it does not say which PDBs belong to the images of %d processes; they are looked up by time stamp and size; merge it on the machine it was recorded on (xperf -merge) to be sure of them", unidentified)
	}
}

// others is how many more there are, in words.
func others(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}
